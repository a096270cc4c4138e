"""Reader of C-CDA: narrative, titles, strings of entries, comments and attributes are text; people are structured.

The elements of `recordTarget` and of relatives are the patient's; those of staff, custodians and places are emptied
with them. Codes, times and numbers stay. Revisions are accepted: deleted text is dropped. A document inside is refused.

Reference: HL7 CDA R2 (2005), sections 4.2 (header) and 4.3 (body, narrative block); C-CDA R2.1, volume 2, section 1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from crfdeid.errors import MarkupError
from crfdeid.markup.blocks import BlockBuilder, Edit, MarkupText, Piece, Structured, gap, word_sets
from crfdeid.markup.nested import add_block
from crfdeid.markup.runs import add_runs, escape
from crfdeid.markup.xml import Attribute, Token, add_remark, require_xml, spell_attribute, spell_cdata, tokens

_WORDS = word_sets("cda")
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,:TZ+-]{0,40}")
_COUNTRY = re.compile(r"\+[0-9]{1,3}(?=[^0-9])")
_ROOT = "ClinicalDocument"
_PATIENT, _OTHER = "patient", "other"
_CELLS = ("td", "th")


@dataclass(slots=True)
class _Element:
    """Open element.

    Attributes:
        name: its name.
        zone: `_PATIENT` or `_OTHER` in a structured part; "" elsewhere.
        path: names from the outermost element of the zone to the datum, such as ("recordTarget", "addr").
        block: the block of its text; None before there is any.
        owns: its end ends the block.
    """

    name: str
    zone: str = ""
    path: tuple[str, ...] = ()
    block: list[Piece] | None = None
    owns: bool = True


def read_cda(source: str) -> MarkupText:
    """Read a document.

    Raises:
        MarkupError: it is no such document, has a document type, or holds a document in another format.

    Example:
        >>> found = read_cda(
        ...     "<ClinicalDocument><recordTarget><patientRole><patient><name>Jane Quill</name></patient></patientRole>"
        ...     "</recordTarget><component><section><text>Jane Qu<content>ill</content></text></section></component>"
        ...     "</ClinicalDocument>"
        ... )
        >>> found.text, found.structured.fields
        ('Jane Quill', ('recordTarget/name',))
    """
    require_xml(source)
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: str) -> None:
        self.source, self.builder, self.found = source, BlockBuilder("cda", source), _Found()
        self.stack: list[_Element] = [_Element("")]
        self.deleted: tuple[int, int] | None = None  # depth and start of a deleted text
        self.attributes: list[list[Piece]] = []  # They come after all text.

    def read(self) -> MarkupText:
        for token in tokens(self.source):
            if self.deleted is not None or (token.name == "content" and token.value("revised") == "delete"):
                self._delete(token)
                continue
            if token.kind in ("open", "empty"):
                self._open(token)
            if token.kind in ("close", "empty"):
                self._close(token)
            elif token.kind in ("text", "cdata"):
                self._text(token)
            elif token.kind in ("comment", "instruction"):
                add_remark(self.builder, token)
        self.builder.side += self.attributes
        self.builder.structured = self.found.done()
        return self.builder.done()

    def _delete(self, token: Token) -> None:
        """Drop a deleted text: revisions are accepted."""
        depth, start = self.deleted or (0, token.start)
        depth += (token.kind == "open") - (token.kind == "close")
        self.deleted = (depth, start) if depth else None
        if not depth:
            self.builder.drop(start, token.end)

    def _open(self, token: Token) -> None:
        above = self.stack[-1]
        if above.name == "" and token.name != _ROOT:
            raise MarkupError("XML that is no C-CDA document: export the text alone")
        if token.kind == "open" and token.value("representation") == "B64":
            raise MarkupError(f"{token.name} holds a document: redact that alone", offset=token.start)
        element = _Element(token.name, *self._zone(above, token.name))
        if above.block is not None and above.name not in _WORDS["containers"]:
            element.block, element.owns = above.block, False
            self._break(element, token)
        elif token.name in _WORDS["joined"]:
            element.block = []
        self.stack.append(element)
        has_extension = bool(token.value("extension"))
        for attribute in token.attributes:
            self._attribute(element, token, attribute, has_extension=has_extension)

    def _zone(self, above: _Element, name: str) -> tuple[str, tuple[str, ...]]:
        """Zone of an element, and the path of its datum."""
        if name in _WORDS["patient"] or (name == "participant" and above.name == _ROOT):
            return _PATIENT, (name,)
        if name in _WORDS["other"]:
            return _OTHER, (name,)
        is_datum = len(above.path) == 1 and name in _WORDS["data"]
        return above.zone, (*above.path, name) if above.zone and is_datum else above.path

    def _break(self, element: _Element, token: Token) -> None:
        """Break a run of text at the begin or end of an element, unless that is a part of it."""
        block = element.block
        if block and element.name not in _WORDS["inline"] and block[-1].start < block[-1].end:
            is_part = self.stack[-1].name in _WORDS["spaced"]
            block.append(gap(" " if is_part else "\t" if element.name in _CELLS else "\n", token.start))

    def _close(self, token: Token) -> None:
        closed = self.stack.pop()
        if closed.zone:
            self.found.end(closed)
        elif closed.block is not None and closed.owns:
            self._add(closed.block)
        elif closed.name not in _CELLS:
            self._break(closed, token)

    def _add(self, block: list[Piece]) -> None:
        if any(not piece.text.isspace() for piece in block):
            add_block(self.builder, block)

    def _text(self, token: Token) -> None:
        (start, end), element = token.inner, self.stack[-1]
        is_space = not self.source[start:end].strip("\ufeff \t\r\n")
        if element.zone:
            if not is_space:
                run: list[Piece] = []
                add_runs(run, self.source, start, end, folds=True)
                text = self.source[start:end] if token.kind == "cdata" else "".join(piece.text for piece in run)
                self.found.value(element, text.strip(), Edit(start, end, "", ""))
            return
        if element.block is None:
            if is_space:
                return
            element.block = []
        if token.kind == "cdata":
            element.block.append(Piece(self.source[start:end], start, end, spell_cdata, exact=True))
        else:
            add_runs(element.block, self.source, start, end, spell=escape, folds=True)

    def _attribute(self, element: _Element, token: Token, one: Attribute, *, has_extension: bool) -> None:
        name, value = one.local, one.value.strip()
        if not value or one.name.startswith("xmlns"):
            return
        is_time = name == "value" and _NUMBER.fullmatch(value) is not None and element.name not in _WORDS["births"]
        is_value = name == "extension" or (name == "value" and (element.zone or element.name == "telecom"))
        if name == "root" and element.name == "id" and element.zone == _PATIENT and not has_extension:
            is_value = True
        if is_value and not (is_time and element.name != "telecom"):
            if token.name != "typeId":
                self.found.value(element, value, Edit(one.start, one.end, "", ""), name)
        elif name not in _WORDS["kept"] and not is_time:
            block: list[Piece] = []
            add_runs(block, self.source, one.start, one.end, spell=spell_attribute)
            self.attributes.append(block)


@dataclass
class _Found:
    """Structured parts so far."""

    patients: list[str] = field(default_factory=list)
    identifiers: dict[tuple[str, str], None] = field(default_factory=dict)  # in order
    fields: dict[str, None] = field(default_factory=dict)
    blank: list[Edit] = field(default_factory=list)
    name: list[str] = field(default_factory=list)  # parts of the name that is read

    def value(self, element: _Element, value: str, blank: Edit, attribute: str = "") -> None:
        """Add a value in a structured part; an attribute's value comes with its name."""
        self.blank.append(blank)
        if element.zone != _PATIENT:
            return
        path = element.path if len(element.path) > 1 else (*element.path, element.name)
        self.fields["/".join(path)] = None
        if path[-1] == "name":
            if element.name not in _WORDS["titles"]:
                self.name.append(value)
            return
        self.identifiers.update(dict.fromkeys(_identifiers(element, value, path[-1], attribute)))
        if path == ("recordTarget", "id"):
            self.patients.append(value)

    def end(self, element: _Element) -> None:
        """End an element: that of a name has all parts."""
        if element.name == "name" and self.name:
            self.identifiers["name", " ".join(self.name)] = None
            self.name = []

    def done(self) -> Structured:
        ids = list(dict.fromkeys(self.patients))
        patient = ids[0] if len(ids) == 1 else None
        return Structured(patient, tuple(self.identifiers), tuple(self.fields), tuple(self.blank))


def _identifiers(element: _Element, value: str, datum: str, attribute: str) -> Iterator[tuple[str, str]]:
    """Yield the identifiers in a value of the patient, by kind."""
    if element.name in _WORDS["births"]:
        digits = value[:8]
        if len(digits) == 8 and digits.isdigit():
            yield "date", f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"
    elif datum == "telecom":
        number = value.partition(":")[2] if value.partition(":")[0].isalpha() else value
        yield ("text" if "@" in number else "number"), number
        if country := _COUNTRY.match(number):
            yield "number", number[country.end() :]
    elif datum == "id" and attribute == "extension":
        yield "number", value
    elif datum == "addr" and element.name in _WORDS["places"]:
        yield "text", value
