"""Tokens of an XML document with their offsets. Expat checks the document; document types are refused.

Without a document type there are no entities to expand, in a bomb or from a file. A tokenizer of ours gives offsets of
attributes, which expat has not.

Reference: Extensible Markup Language (XML) 1.0, fifth edition, sections 2 and 3.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

from crfdeid.errors import MarkupError
from crfdeid.markup.blocks import BlockBuilder, Piece

_TOKEN = re.compile(
    r"<!--(?P<comment>.*?)-->|<!\[CDATA\[(?P<cdata>.*?)\]\]>|<\?(?P<instruction>.*?)\?>"
    r"|<(?P<slash>/)?(?P<name>[^\s/>]++)(?P<attributes>(?:[^>/\"']|\"[^\"]*+\"|'[^']*+'|/(?!>))*+)(?P<empty>/)?>"
    r"|(?P<text>[^<]++)",
    re.DOTALL,
)
# It begins where white space does, which is therefore read once.
_ATTRIBUTE = re.compile(r"(?<!\s)\s*+([^\s=]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
_ENCODING = re.compile(r"<\?xml[^>]*?\bencoding\s*=\s*[\"']([^\"']*)")
_DECLARATION = re.compile(
    r"<\?xml(?:\s[^?]*|-stylesheet(?:\s+type=\"text/xsl\"|\s+href=\"(?:C-?)?CDA\.xsl\")*\s*)\?>", re.IGNORECASE
)
_INSTRUCTIONS = ("mso-application", "xml-stylesheet")


class Attribute(NamedTuple):
    """Attribute of a tag.

    Attributes:
        name: its name with the prefix.
        value: its value.
        start: offset of the value, after the quote.
        end: the offset after the value.
        before: offset of the white space before the name.
    """

    name: str
    value: str
    start: int
    end: int
    before: int

    @property
    def local(self) -> str:
        """The name without the prefix."""
        return local_name(self.name)


class Token(NamedTuple):
    """Tag or run of characters.

    Attributes:
        kind: "open", "close", "empty" (a tag of both), "text", "cdata", "comment" or "instruction".
        name: of a tag, without the prefix; of others "".
        start: offset of the token.
        end: the offset after it.
        inner: offsets of the characters of a run that is no tag.
        attributes: attributes of a tag.
    """

    kind: str
    name: str
    start: int
    end: int
    inner: tuple[int, int]
    attributes: tuple[Attribute, ...] = ()

    def value(self, name: str) -> str:
        """Value of the attribute with a local name; "" without it."""
        return next((one.value for one in self.attributes if one.local == name), "")


def local_name(name: str) -> str:
    """Return a name without its prefix."""
    return name.rpartition(":")[2]


def require_xml(source: str) -> None:
    """Refuse what is no XML document in UTF-8, and a document with a document type.

    Raises:
        MarkupError: it is one of these.
    """
    declared = _ENCODING.match(source.lstrip("\ufeff"))
    if declared is not None and declared[1].lower() not in ("utf-8", "utf8"):
        raise MarkupError("XML that declares another encoding than UTF-8: convert it")
    parser = expat.ParserCreate("utf-8", " ")
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(source.removeprefix("\ufeff").encode("utf-8"), True)
    except expat.ExpatError as error:
        raise MarkupError("not well-formed XML: repair it, or export the text alone", line=error.lineno) from None
    except UnicodeEncodeError:
        raise MarkupError("not well-formed XML: half a character") from None


def _refuse(*_: object) -> None:
    raise MarkupError("XML with a document type, which can define entities: remove it")


def tokens(source: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """Yield the tokens of a document that passed `require_xml`."""
    for found in _TOKEN.finditer(source, start, len(source) if end is None else end):
        kind, name = found.lastgroup or "", found["name"]
        if name is None:
            yield Token(kind, "", *found.span(), found.span(kind))
            continue
        kind = "close" if found["slash"] else "empty" if found["empty"] else "open"
        attributes = tuple(_attributes(source, *found.span("attributes")))
        yield Token(kind, local_name(name), *found.span(), (found.end(), found.end()), attributes)


def _attributes(source: str, start: int, end: int) -> Iterator[Attribute]:
    for found in _ATTRIBUTE.finditer(source, start, end):
        group = 3 if found[2] is None else 2
        yield Attribute(found[1], html.unescape(found[group]), *found.span(group), found.start())


def spell_attribute(text: str) -> str:
    """Spell a text in an attribute, between quotes of either kind."""
    return html.escape(text)


def spell_cdata(text: str) -> str:
    """Spell a text in a CDATA section."""
    return text.replace("]]>", "]]]]><![CDATA[>")


def add_remark(builder: BlockBuilder, token: Token) -> None:
    """Add a comment, or the data of an instruction, as a block; drop an instruction whose name is not a known one."""
    start, end = token.inner
    if token.kind == "instruction":
        if _DECLARATION.fullmatch(builder.source, token.start, token.end):
            return
        name = builder.source[start:end].split(maxsplit=1)[0]
        if name not in _INSTRUCTIONS:
            builder.drop(token.start, token.end)
            return
        start += len(name)
    builder.side.append([Piece(builder.source[start:end], start, end, _spell_comment, exact=True)])


def _spell_comment(text: str) -> str:
    """Spell a text in a comment or an instruction, which cannot hold all characters."""
    return text.replace("--", "- ").replace("?>", "? ")
