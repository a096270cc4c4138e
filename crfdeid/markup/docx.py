"""Reader of DOCX, of the text of its package (`crfdeid.markup.package`): every text and every attribute of every part.

Runs of a paragraph are joined. Text boxes and instructions of fields are blocks of their own. Revisions are accepted,
and their authors and times emptied. Authors in docProps, own properties and binary parts, such as pictures that may
show the patient, are structured fields. Values that only the standard gives, such as "center", stay unread.

Reference: ECMA-376, part 1: Office Open XML File Formats, fifth edition, sections 17 (WordprocessingML) and 22.
"""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import quote, unquote

from crfdeid.errors import MarkupError
from crfdeid.markup.blocks import BlockBuilder, Edit, MarkupText, Piece, gap, word_sets
from crfdeid.markup.package import Part, is_known, parts
from crfdeid.markup.properties import HAS_TEXT, Properties
from crfdeid.markup.runs import add_runs, escape
from crfdeid.markup.standard import is_font, is_software, is_standard
from crfdeid.markup.xml import Attribute, Token, add_remark, require_xml, spell_attribute, spell_cdata, tokens

_WORDS = word_sets("docx")
_BREAKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n"}
_HYPHEN = "noBreakHyphen"
_APART = ("Choice", "Fallback", "rt", "rubyBase")
_CODE = re.compile(
    r"[-+0-9.,:;%()\s]*|#?(?:[0-9A-F]{20}|(?:[0-9A-F]{2}){1,4}|[0-9a-f]{6})(?:\s\[[0-9]+\])?|-?[0-9.]+[a-z]{1,3}|[a-z][A-Za-z0-9]*"
    r"|\{?[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?|[a-z]{2,3}(?:-[A-Z][a-z]{3})?-[A-Z]{2}"
    r"|#?_x[0-9]{4}_[a-z]+[0-9]*|(?:http|urn):/{0,2}(?:schemas\.|purl\.o|www\.w3\.)[\w./:-]*"
)
_PROPERTIES = ("docProps/app.xml", "docProps/core.xml")
_PROPERTY = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]+)?|true|false|[a-z]{2,3}-[A-Z]{2}")
_MAIN = re.compile(r"word/document[0-9]*\.xml", re.IGNORECASE)
_ESCAPES = re.compile(r"((?:%[0-9A-Fa-f]{2})+)|[^%]+|%")


def read_docx(source: str) -> MarkupText:
    """Read the text of a package.

    Raises:
        MarkupError: it is no such text, or a part is no well-formed XML.
    """
    builder, found = BlockBuilder("docx", source), Properties()
    attributes: list[list[Piece]] = []  # They come after all text.
    for part in parts(source):
        if not part.is_binary:
            attributes += _PartReader(builder, found, part).read()
        elif part.start < part.end:
            found.add(f"{part.name} (unreadable)", Edit(part.start, part.end, "", ""))
    builder.side += attributes
    builder.structured = found.done()
    return builder.done()


class _PartReader:
    """Reader of one XML part: its text is a block, and text boxes, fields and attributes are others."""

    def __init__(self, builder: BlockBuilder, found: Properties, part: Part) -> None:
        self.builder, self.found, self.part, self.source = builder, found, part, builder.source
        self.block: list[Piece] = builder.body if _MAIN.fullmatch(part.name) else self._side()
        self.outer: list[list[Piece]] = []  # blocks around a text box
        self.instruction: list[Piece] = []
        self.attributes: list[list[Piece]] = []
        self.stack: list[str] = []
        self.dropped: tuple[int, int] | None = None  # depth and start of what is dropped
        self.property: tuple[int, str] | None = None  # start and name of an own property
        self.paragraphs = 0

    def read(self) -> list[list[Piece]]:
        """Read the part, and return the blocks of its attributes."""
        try:
            require_xml(self.source[self.part.start : self.part.end])
        except MarkupError as problem:
            raise MarkupError(f"{self.part.name}: {problem.problem}") from None
        for token in tokens(self.source, self.part.start, self.part.end):
            if token.kind in ("open", "empty"):
                self._open(token)
            if token.kind in ("close", "empty"):
                self._close(token)
            elif token.kind in ("text", "cdata"):
                self._text(token)
            elif token.kind in ("comment", "instruction") and self.dropped is None:
                add_remark(self.builder, token)
        self._end_field()
        return self.attributes

    def _side(self) -> list[Piece]:
        block: list[Piece] = []
        self.builder.side.append(block)
        return block

    # tags

    def _open(self, token: Token) -> None:
        above, name = self.stack[-1] if self.stack else "", token.name
        self.stack.append(name)
        if self.dropped is not None:
            return
        if name in _WORDS["deleted"] or (name in _WORDS["moments"] and self.part.name.startswith("docProps/")):
            self.dropped = len(self.stack), token.start
            return
        if name in _WORDS["inserted"]:
            self.builder.drop(token.start, token.end)
            return
        if name == "property" and self.part.name == "docProps/custom.xml":
            self.property = token.start, token.value("name")
            return
        if name == "txbxContent":
            self.outer.append(self.block)
            self.block = self._side()
        elif name == "p":
            self.paragraphs += 1
            self._line(token.start)
        elif name == "fldChar":
            self._end_field()
        elif name in _APART:
            self._line(token.start)
        elif name == _HYPHEN and token.kind == "empty":  # A part of a name, such as Smith-Jones.
            prefix = self.source[token.start + 1 : token.end].partition(_HYPHEN)[0]
            self.block.append(Piece("-", token.start, token.end, partial(_spell_run, prefix=prefix)))
        elif name in _BREAKS and above == "r":
            self.block.append(gap(_BREAKS[name], token.start))
        is_external = token.value("TargetMode") == "External"
        for attribute in token.attributes:
            self._attribute(token, attribute, is_external=is_external)

    def _close(self, token: Token) -> None:
        name = self.stack.pop()
        if self.dropped is not None:
            if len(self.stack) < self.dropped[0]:
                self.builder.drop(self.dropped[1], token.end)
                self.dropped = None
        elif name in _WORDS["inserted"]:
            if token.kind == "close":
                self.builder.drop(token.start, token.end)
        elif name == "property" and self.property is not None:
            self.found.add(f"{self.part.name}: property", Edit(self.property[0], token.end, "", ""))
            self.property = None
        elif name == "txbxContent" and self.outer:
            self.block = self.outer.pop()
        elif name == "p":
            self.paragraphs -= 1
            self._line(token.start)
        elif not self.paragraphs:
            self._line(token.start)

    def _line(self, at: int) -> None:
        if self.block and self.block[-1].start < self.block[-1].end:
            self.block.append(gap("\n", at))

    def _end_field(self) -> None:
        if self.instruction:
            self.builder.side.append(self.instruction)
            self.instruction = []

    # text

    def _text(self, token: Token) -> None:
        (start, end), name = token.inner, self.stack[-1] if self.stack else ""
        value = self.source[start:end]
        if self.dropped is not None or (name not in _WORDS["text"] and not value.strip("\ufeff \t\r\n")):
            return
        if self.property is not None:
            self.found.search_for(self.property[1], value)
        elif self.part.name.startswith("docProps/") and name in _WORDS["people"]:
            self.found.search_for(name, value)
            self.found.add(f"{self.part.name}: {name}", Edit(start, end, "", ""))
        elif not (self.part.name in _PROPERTIES and _is_own_property(value)):
            block = self.instruction if name == "instrText" else self.block
            if token.kind == "cdata":
                block.append(Piece(value, start, end, spell_cdata, exact=True))
            else:
                add_runs(block, self.source, start, end, spell=escape)

    def _attribute(self, token: Token, one: Attribute, *, is_external: bool) -> None:
        name, value = one.local, one.value
        if self.property is not None:
            return
        if name in _WORDS["times"]:
            self.builder.drop(one.before, one.end + 1)
        elif name in _WORDS["emptied"]:
            self.builder.drop(one.start, one.end)
        elif not one.name.startswith("xmlns") and not self._is_code(token, name, value, is_external=is_external):
            block: list[Piece] = []
            if name == "Target":
                _add_target(block, self.source, one.start, one.end)
            else:
                add_runs(block, self.source, one.start, one.end, spell=spell_attribute)
            self.attributes.append(block)

    def _is_code(self, token: Token, name: str, value: str, *, is_external: bool) -> bool:
        """True for a value of the standard or of Office, and for one without a letter or a number."""
        if not HAS_TEXT.search(value):
            return True
        if name in ("Id", "PartName", "Target"):
            own = r"(?:rId|R)?[0-9a-f]{1,40}" if name == "Id" else ""
            is_own = re.fullmatch(own, value) is not None if own else is_known(value)
            return is_own and not is_external
        if name in _WORDS["kept"] or name.startswith("rsid") or token.name in _WORDS["plain"] or is_standard(value):
            return True
        if is_font(value) and not _WORDS["fonts"].isdisjoint((name, token.name)):
            return True
        is_text = name in _WORDS["texts"] or (name == "val" and token.name in _WORDS["strings"])
        return not is_text and _CODE.fullmatch(value) is not None


def _is_own_property(value: str) -> bool:
    """True for a property that software gives, such as a number of pages."""
    return _PROPERTY.fullmatch(value) is not None or is_standard(value) or is_software(value)


def _spell_run(text: str, *, prefix: str) -> str:
    """Spell a text in place of an element of a run."""
    return f'<{prefix}t xml:space="preserve">{escape(text)}</{prefix}t>' if text else ""


def _add_target(block: list[Piece], source: str, start: int, end: int) -> None:
    """Add the target of a link: "%20" is decoded, and a replacement is encoded."""
    for run in _ESCAPES.finditer(source, start, end):
        if run[1]:
            block.append(Piece(unquote(run[1]), *run.span(), quote))
        else:
            add_runs(block, source, *run.span(), spell=quote)
