"""Places of a DOCX and a PDF file in which a value can be: templates with NAME for a value.

DOCX: parts and elements of ECMA-376, parts 1 (WordprocessingML, DrawingML, relationships) and 2 (packages), and the
namespaces that Word adds. Each place is a part and XML in it; "" is the package itself. PDF: ISO 32000-1.
"""
# ruff: noqa: E501

from docx_files import BODY

_RUN = "<w:r><w:t>{}</w:t></w:r>"
_BY = 'w:id="7" w:author="NAME" w:date="2031-03-04T09:00:00Z"'

_IN_BODY = {
    "text": "<w:p><w:r><w:t>Seen: NAME, today</w:t></w:r></w:p>",
    "cell": "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>NAME</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
    "hidden": "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>NAME</w:t></w:r></w:p>",
    "deleted": f"<w:p><w:del {_BY.replace('NAME', 'x')}><w:r><w:delText>NAME</w:delText></w:r></w:del></w:p>",
    "author of a deletion": f"<w:p><w:del {_BY}><w:r><w:delText>x</w:delText></w:r></w:del></w:p>",
    "inserted": f"<w:p><w:ins {_BY.replace('NAME', 'x')}><w:r><w:t>NAME</w:t></w:r></w:ins></w:p>",
    "author of an insertion": f"<w:p><w:ins {_BY}><w:r><w:t>x</w:t></w:r></w:ins></w:p>",
    "moved from": f"<w:p><w:moveFrom {_BY.replace('NAME', 'x')}><w:r><w:t>NAME</w:t></w:r></w:moveFrom></w:p>",
    "author of a move": f"<w:p><w:moveTo {_BY}><w:r><w:t>x</w:t></w:r></w:moveTo></w:p>",
    "author of a format": f"<w:p><w:pPr><w:pPrChange {_BY}><w:pPr/></w:pPrChange></w:pPr></w:p>",
    "author of a mark": f"<w:p><w:pPr><w:rPr><w:ins {_BY}/></w:rPr></w:pPr></w:p>",
    "field": '<w:p><w:r><w:instrText xml:space="preserve"> HYPERLINK "mailto:NAME@example.org" </w:instrText></w:r></w:p>',
    "simple field": '<w:p><w:fldSimple w:instr=" AUTHOR NAME "><w:r><w:t>x</w:t></w:r></w:fldSimple></w:p>',
    "deleted field": f"<w:p><w:del {_BY}><w:r><w:delInstrText>NAME</w:delInstrText></w:r></w:del></w:p>",
    "form field": '<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:textInput><w:default w:val="NAME"/></w:textInput>'
    "</w:ffData></w:fldChar></w:r></w:p>",
    "name of a form field": '<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="NAME"/></w:ffData>'
    "</w:fldChar></w:r></w:p>",
    "help": '<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:helpText w:type="text" w:val="NAME"/></w:ffData>'
    "</w:fldChar></w:r></w:p>",
    "entry of a list": '<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:listEntry w:val="NAME"/></w:ddList>'
    "</w:ffData></w:fldChar></w:r></w:p>",
    "link text": '<w:p><w:hyperlink w:anchor="a"><w:r><w:t>NAME</w:t></w:r></w:hyperlink></w:p>',
    "tip of a link": '<w:p><w:hyperlink w:anchor="a" w:tooltip="NAME"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>',
    "anchor": '<w:p><w:hyperlink w:anchor="NAME"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>',
    "bookmark": '<w:p><w:bookmarkStart w:id="0" w:name="NAME"/><w:bookmarkEnd w:id="0"/></w:p>',
    "text box": "<w:p><w:r><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>NAME</w:t></w:r></w:p></w:txbxContent>"
    "</v:textbox></w:pict></w:r></w:p>",
    "word art": '<w:p><w:r><w:pict><v:textpath on="t" string="NAME"/></w:pict></w:r></w:p>',
    "title of a shape": '<w:p><w:r><w:pict><v:shape alt="NAME"/></w:pict></w:r></w:p>',
    "alt text": '<w:p><w:r><w:drawing><wp:docPr id="1" name="Picture 1" descr="NAME"/></w:drawing></w:r></w:p>',
    "title of a picture": '<w:p><w:r><w:drawing><wp:docPr id="1" name="Picture 1" title="NAME"/></w:drawing></w:r></w:p>',
    "name of a picture": '<w:p><w:r><w:drawing><pic:cNvPr id="0" name="NAME.png"/></w:drawing></w:r></w:p>',
    "text of a drawing": "<w:p><w:r><w:drawing><a:p><a:r><a:t>NAME</a:t></a:r></a:p></w:drawing></w:r></w:p>",
    "equation": "<w:p><m:oMath><m:r><m:t>NAME</m:t></m:r></m:oMath></w:p>",
    "title of a control": '<w:sdt><w:sdtPr><w:alias w:val="NAME"/></w:sdtPr><w:sdtContent><w:p/></w:sdtContent></w:sdt>',
    "tag of a control": '<w:sdt><w:sdtPr><w:tag w:val="NAME"/></w:sdtPr><w:sdtContent><w:p/></w:sdtContent></w:sdt>',
    "choice of a control": '<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText="NAME" w:value="1"/></w:dropDownList>'
    "</w:sdtPr><w:sdtContent><w:p/></w:sdtContent></w:sdt>",
    "value of a control": '<w:sdt><w:sdtPr><w:dropDownList w:lastValue="NAME"/></w:sdtPr><w:sdtContent><w:p/></w:sdtContent></w:sdt>',
    "binding of a control": '<w:sdt><w:sdtPr><w:dataBinding w:xpath="/NAME[1]"/></w:sdtPr><w:sdtContent><w:p/></w:sdtContent></w:sdt>',
    "custom element": '<w:customXml w:element="NAME"><w:p/></w:customXml>',
    "custom attribute": '<w:customXml w:element="x"><w:customXmlPr><w:attr w:name="a" w:val="NAME"/></w:customXmlPr><w:p/></w:customXml>',
    "smart tag": '<w:p><w:smartTag w:element="PersonName"><w:r><w:t>NAME</w:t></w:r></w:smartTag></w:p>',
    "ruby": "<w:p><w:r><w:ruby><w:rt><w:r><w:t>NAME</w:t></w:r></w:rt></w:ruby></w:r></w:p>",
    "caption of a table": '<w:tbl><w:tblPr><w:tblCaption w:val="NAME"/></w:tblPr></w:tbl>',
    "description of a table": '<w:tbl><w:tblPr><w:tblDescription w:val="NAME"/></w:tblPr></w:tbl>',
    "style of a paragraph": '<w:p><w:pPr><w:pStyle w:val="NAME"/></w:pPr></w:p>',
    "font of a run": '<w:p><w:r><w:rPr><w:rFonts w:ascii="NAME"/></w:rPr><w:t>x</w:t></w:r></w:p>',
    "editor of a range": '<w:p><w:permStart w:id="1" w:ed="NAME"/></w:p>',
    "comment of XML": "<!-- NAME -->",
    "processing instruction": "<?note NAME?>",
    "alternative": "<w:p><mc:AlternateContent><mc:Fallback><w:r><w:t>NAME</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>",
    "unknown element": "<w:p><x:ward xmlns:x='urn:x' name='NAME'>NAME</x:ward></w:p>",
    "unit in vml": '<w:p><w:r><w:pict><v:imagedata o:title="NAME"/></w:pict></w:r></w:p>',
    "embedded object": '<w:p><w:r><w:object><o:OLEObject ProgID="NAME" ShapeID="1"/></w:object></w:r></w:p>',
    "footer of a number": '<w:p><w:r><w:sym w:font="NAME" w:char="F020"/></w:r></w:p>',
}
_PARAGRAPH = "<w:p><w:r><w:t>NAME</w:t></w:r></w:p>"
_IN_PARTS = {
    "header": ("word/header1.xml", f"<w:hdr>{_PARAGRAPH}</w:hdr>"),
    "footer": ("word/footer1.xml", f"<w:ftr>{_PARAGRAPH}</w:ftr>"),
    "footnote": ("word/footnotes.xml", f'<w:footnotes><w:footnote w:id="1">{_PARAGRAPH}</w:footnote></w:footnotes>'),
    "endnote": ("word/endnotes.xml", f'<w:endnotes><w:endnote w:id="1">{_PARAGRAPH}</w:endnote></w:endnotes>'),
    "comment": (
        "word/comments.xml",
        f'<w:comments><w:comment w:id="1" w:author="x" w:initials="x">{_PARAGRAPH}</w:comment></w:comments>',
    ),
    "author of a comment": (
        "word/comments.xml",
        f'<w:comments><w:comment {_BY} w:initials="NQ"><w:p/></w:comment></w:comments>',
    ),
    "initials": (
        "word/comments.xml",
        '<w:comments><w:comment w:id="1" w:author="x" w:initials="NAME"><w:p/></w:comment></w:comments>',
    ),
    "reviewer": ("word/people.xml", '<w15:people><w15:person w15:author="NAME"/></w15:people>'),
    "account of a reviewer": (
        "word/people.xml",
        '<w15:people><w15:person w15:author="x"><w15:presenceInfo w15:providerId="AD" w15:userId="S::NAME@example.org::1"/>'
        "</w15:person></w15:people>",
    ),
    "glossary": ("word/glossary/document.xml", f"<w:glossaryDocument>{_PARAGRAPH}</w:glossaryDocument>"),
    "variable": (
        "word/settings.xml",
        '<w:settings><w:docVars><w:docVar w:name="x" w:val="NAME"/></w:docVars></w:settings>',
    ),
    "name of a variable": (
        "word/settings.xml",
        '<w:settings><w:docVars><w:docVar w:name="NAME" w:val="1"/></w:docVars></w:settings>',
    ),
    "query of a merge": (
        "word/settings.xml",
        '<w:settings><w:mailMerge><w:query w:val="SELECT NAME"/></w:mailMerge></w:settings>',
    ),
    "style": ("word/styles.xml", '<w:styles><w:style w:styleId="s1"><w:name w:val="NAME"/></w:style></w:styles>'),
    "id of a style": (
        "word/styles.xml",
        '<w:styles><w:style w:styleId="NAME"><w:name w:val="x"/></w:style></w:styles>',
    ),
    "alias of a style": (
        "word/styles.xml",
        '<w:styles><w:style w:styleId="s1"><w:aliases w:val="NAME"/></w:style></w:styles>',
    ),
    "font": ("word/fontTable.xml", '<w:fonts><w:font w:name="NAME"/></w:fonts>'),
    "text of a level": ("word/numbering.xml", '<w:numbering><w:lvl><w:lvlText w:val="NAME %1"/></w:lvl></w:numbering>'),
    "name of a list": (
        "word/numbering.xml",
        '<w:numbering><w:abstractNum><w:name w:val="NAME"/></w:abstractNum></w:numbering>',
    ),
    "theme": ("word/theme/theme1.xml", '<a:theme name="NAME"/>'),
    "diagram": ("word/diagrams/data1.xml", "<dgm:dataModel><a:p><a:r><a:t>NAME</a:t></a:r></a:p></dgm:dataModel>"),
    "chart": ("word/charts/chart1.xml", "<c:chart><c:strCache><c:pt><c:v>NAME</c:v></c:pt></c:strCache></c:chart>"),
    "custom data": ("customXml/item1.xml", '<data xmlns="urn:x" ward="NAME"><name>NAME</name></data>'),
    "id of custom data": ("customXml/item1.xml", '<data id="NAME" type="NAME" link="NAME"/>'),
    "schema of custom data": ("customXml/itemProps1.xml", '<ds:x xmlns:ds="urn:y" uri="urn:NAME"/>'),
    "title": ("docProps/core.xml", "<cp:coreProperties><dc:title>NAME</dc:title></cp:coreProperties>"),
    "subject": ("docProps/core.xml", "<cp:coreProperties><dc:subject>NAME</dc:subject></cp:coreProperties>"),
    "creator": ("docProps/core.xml", "<cp:coreProperties><dc:creator>NAME</dc:creator></cp:coreProperties>"),
    "last editor": (
        "docProps/core.xml",
        "<cp:coreProperties><cp:lastModifiedBy>NAME</cp:lastModifiedBy></cp:coreProperties>",
    ),
    "keywords": ("docProps/core.xml", "<cp:coreProperties><cp:keywords>NAME</cp:keywords></cp:coreProperties>"),
    "remark": ("docProps/core.xml", "<cp:coreProperties><dc:description>NAME</dc:description></cp:coreProperties>"),
    "category": ("docProps/core.xml", "<cp:coreProperties><cp:category>NAME</cp:category></cp:coreProperties>"),
    "identifier": ("docProps/core.xml", "<cp:coreProperties><dc:identifier>NAME</dc:identifier></cp:coreProperties>"),
    "manager": ("docProps/app.xml", "<Properties><Manager>NAME</Manager></Properties>"),
    "company": ("docProps/app.xml", "<Properties><Company>NAME</Company></Properties>"),
    "template": ("docProps/app.xml", "<Properties><Template>NAME.dotm</Template></Properties>"),
    "titles of parts": (
        "docProps/app.xml",
        "<Properties><TitlesOfParts><vt:lpstr>NAME</vt:lpstr></TitlesOfParts></Properties>",
    ),
    "base of links": ("docProps/app.xml", "<Properties><HyperlinkBase>NAME</HyperlinkBase></Properties>"),
    "property": (
        "docProps/custom.xml",
        '<Properties><property pid="2" name="Patient"><vt:lpwstr>NAME</vt:lpwstr></property></Properties>',
    ),
    "name of a property": (
        "docProps/custom.xml",
        '<Properties><property pid="2" name="NAME"><vt:lpwstr>1</vt:lpwstr></property></Properties>',
    ),
    "target of a link": (
        "word/_rels/document.xml.rels",
        '<Relationships><Relationship Id="rId9" Type="http://x/hyperlink" Target="mailto:NAME@example.org" '
        'TargetMode="External"/></Relationships>',
    ),
    "template's path": (
        "word/_rels/settings.xml.rels",
        '<Relationships><Relationship Id="rId1" Type="http://x/attachedTemplate" Target="file:///C:\\Users\\NAME\\a.dotm" '
        'TargetMode="External"/></Relationships>',
    ),
    "id of a relationship": (
        "word/_rels/document.xml.rels",
        '<Relationships><Relationship Id="NAME" Type="http://x/styles" Target="styles.xml"/></Relationships>',
    ),
    "image": ("word/media/image1.png", "NAME"),
    "object": ("word/embeddings/oleObject1.bin", "NAME"),
    "workbook": ("word/embeddings/Microsoft_Excel_Worksheet1.xlsx", "NAME"),
    "printer": ("word/printerSettings/printerSettings1.bin", "NAME"),
    "macro": ("word/vbaProject.bin", "NAME"),
    "thumbnail": ("docProps/thumbnail.jpeg", "NAME"),
    "document inside": ("word/afchunk1.htm", "<p>NAME</p>"),
    "font's file": ("word/fonts/font1.odttf", "NAME"),
    "name of a part": ("word/media/NAME.png", "x"),
    "unknown part": ("word/NAME.xml", "<x/>"),
    "signature": ("_xmlsignatures/sig1.xml", "<Signature><Object>NAME</Object></Signature>"),
}
DOCX = {place: (BODY, text) for place, text in _IN_BODY.items()} | _IN_PARTS
DOCX_PACKAGE = ("comment of the file", "comment of a part", "extra field of a part", "bytes before", "bytes after")
"""Places of a zip file outside its parts."""

PDF_TEXT = ("text", "second page", "form", "hidden text", "rotated text")
"""Places that a page shows; all others are in no result."""
PDF_OTHER = (
    *("author", "title", "subject", "keywords", "own key of the information", "metadata stream", "annotation"),
    *(
        "value of a form field",
        "outline",
        "attached file",
        "name of an attached file",
        "action",
        "comment",
        "after the end",
    ),
)
