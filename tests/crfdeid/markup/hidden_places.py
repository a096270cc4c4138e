"""Places of a document that are no text of a note, and what is done with them in every format alike.

Results lack deleted text and the names of reviewers. A note with an author or an own property is refused, unless
``--structured`` says otherwise. NAME is the value. Places of DOCX are parts, or elements of the body.
"""

from docx_files import BODY

LACKED = {
    "rtf": {
        "deleted text": r"{\deleted\revauthdel1 NAME}\par ",
        "text moved from here": r"{\mvf\mvauth1\mvdate1 NAME}\par ",
        "reviewer": r"{\*\revtbl{Unknown;}{NAME;}}",
        "author of a comment": r"{\*\atnid NAME}{\*\atnauthor NAME}\chatn{\*\annotation x}",
    },
    "html": {
        "deleted text": "<p>x <del>NAME</del></p>",
        "deleted paragraph": "<DEL class=x><p>NAME <b>NAME</b><!-- NAME --></p></DEL >",
        "reviewer": '<ins cite="mailto:NAME" datetime=2031-03-04T09:00>x</ins>',
        "reviewer without quotes": "<del cite=NAME>x</del>",
    },
    "docx": {
        "deleted text": (BODY, "<w:p><w:del><w:r><w:delText>NAME</w:delText></w:r></w:del></w:p>"),
        "text moved from here": (BODY, "<w:p><w:moveFrom><w:r><w:t>NAME</w:t></w:r></w:moveFrom></w:p>"),
        "reviewer": (BODY, '<w:p><w:ins w:author="NAME"><w:r><w:t>x</w:t></w:r></w:ins></w:p>'),
        "author of a comment": ("word/comments.xml", '<w:comments><w:comment w:author="NAME"/></w:comments>'),
    },
    "cda": {"deleted text": '<content>x <content revised="delete">NAME<content ID="NAME"/></content> y</content>'},
}
REFUSED = {
    "rtf": {
        "author": r"{\info{\author NAME}}",
        "last author": r"{\info{\operator {\b NAME}}}",
        "manager": r"{\info{\*\manager NAME}}",
        "company": r"{\info{\*\company NAME}}",
        "own property": r"{\*\userprops{\propname Ward}\proptype30{\staticval NAME}}",
        "name of a property": r"{\*\userprops{\propname NAME}\proptype30{\staticval 1}{\linkval NAME}}",
        "truncated": r"{\*\userprops{\propname Ward}\proptype30{\staticval NAME",
    },
    "html": {
        "author": '<meta name="Author" content="NAME">',
        "author without quotes": "<META content=NAME name=author>",
        "last author": "<meta name='changedby' content='NAME'/>",
        "author of Word": "<!--[if gte mso 9]><xml><o:Author>NAME</o:Author></xml><![endif]-->",
        "company of Word": "<xml><o:Company>NAME</o:Company></xml>",
    },
    "docx": {
        "author": ("docProps/core.xml", "<cp:coreProperties><dc:creator>NAME</dc:creator></cp:coreProperties>"),
        "company": ("docProps/app.xml", "<Properties><Company>NAME</Company></Properties>"),
        "own property": (
            "docProps/custom.xml",
            '<Properties><property pid="2" name="Ward"><vt:lpwstr>NAME</vt:lpwstr></property></Properties>',
        ),
    },
}
REPLACED = {
    "rtf": (
        r"by Dr. {\deleted Qu\'69ll}{\revised Marsh}, ",
        r"by Dr. \deleted Quill\deleted0 Marsh, ",
        r"by Dr. \deleted Qu\u105?ll\plain Marsh, ",
        r"by Dr. Ma{\deleted xy{\i z}}rsh, ",
    ),
    "html": (
        "by Dr. <del>Quill</del><ins>Marsh</ins>, ",
        "by Dr. Ma<del><b>ia</b></del>rsh, ",
        "by Dr. <del/>Marsh, ",
    ),
    "docx": (
        (
            BODY,
            "<w:p><w:r><w:t>by Dr. </w:t></w:r><w:del><w:r><w:delText>Quill</w:delText></w:r></w:del>"
            "<w:ins><w:r><w:t>Marsh, </w:t></w:r></w:ins></w:p>",
        ),
    ),
    "cda": ('by Dr. <content revised="delete">Quill</content><content revised="insert">Marsh</content>, ',),
}
"""A deleted name and the one in its place."""
