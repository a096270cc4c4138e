"""Reader of RTF, files and fragments: text, headers, notes, fields, properties and every other destination.

A reader of ours: libraries such as striprtf give the text of the body alone, without offsets. Common names of fonts and
styles, and what has no letter or digit, stay unread. Pictures, objects, times and other binary parts are dropped.
Revisions are accepted: deleted text and the names of reviewers are dropped, too. Authors and own properties in the
information about the document are structured fields.

Reference: Rich Text Format (RTF) Specification, version 1.9.1, Microsoft 2008.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from crfdeid.errors import MarkupError
from crfdeid.markup.blocks import BlockBuilder, Edit, MarkupText, Piece, gap, word_sets
from crfdeid.markup.properties import Properties
from crfdeid.markup.standard import is_font, is_standard

_TOKEN = re.compile(
    r"\\(?:(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})?(?P<space>\x20)?|'(?P<byte>[0-9a-fA-F]{2})|(?P<symbol>.))"
    r"|(?P<open>\{)|(?P<close>\})|(?P<end>[\r\n]+)|(?P<text>[^\\{}\r\n]++|\\)",
    re.DOTALL,
)
_CHARACTERS = {
    **{"emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”"},
    **{"emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005"},
}
_SYMBOLS = {"~": "\xa0", "_": "-", "\\": "\\", "{": "{", "}": "}"}
_BREAKS = {
    **dict.fromkeys(("par", "line", "sect", "page", "row", "nestrow", "column", "softline"), "\n"),
    **dict.fromkeys(("cell", "nestcell", "tab"), "\t"),
}
_WORDS = word_sets("rtf")
_KINDS = _WORDS["standard"] | _WORDS["properties"] | {"revtbl"}
"""Destinations of names of fonts and styles, of properties, and of reviewers."""
_WORTHY = re.compile(r"[^\W_]")
# Charset of a font -> codec.
_CHARSETS = {
    **{77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "big5", 161: "cp1253"},
    **{
        162: "cp1254",
        163: "cp1258",
        177: "cp1255",
        178: "cp1256",
        186: "cp1257",
        204: "cp1251",
        222: "cp874",
        238: "cp1250",
    },
    **{254: "cp437", 255: "cp850"},
}
_HIGH, _LOW = 0xD800 >> 10, 0xDC00 >> 10
_CODECS = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}


def read_rtf(source: str) -> MarkupText:
    r"""Read a file or a fragment.

    Raises:
        MarkupError: it has raw bytes (``\bin``), an unknown code page, or a part of a character.

    Example:
        >>> read_rtf(r"{\rtf1 {\b Jane} Qu{\b ill}, Mu\'f1oz\par}").text
        'Jane Quill, Muñoz\n'
    """
    return _Reader(source).read()


@dataclass(slots=True)
class _Group:
    r"""State of a group.

    Attributes:
        start: offset of its brace.
        pieces: the block of its text; None where it is dropped.
        entries: its groups are entries of a table, each a block of its own.
        kind: the nearest destination around it that holds names or properties, such as "author"; "" for none.
        deleted: its text was deleted in a revision.
        font: number of the font; None for the default font.
        skipped: number of characters after ``\u`` for readers without Unicode.
    """

    start: int
    pieces: list[Piece] | None
    entries: bool = False
    kind: str = ""
    deleted: bool = False
    font: int | None = None
    skipped: int = 1


class _Reader:
    def __init__(self, source: str) -> None:
        self.source, self.builder = source, BlockBuilder("rtf", source)
        self.group = _Group(0, self.builder.body)
        self.stack: list[_Group] = []
        self.found = Properties()
        self.property, self.has_properties = "", False  # name of an own property, and whether there is one
        self.codec, self.fonts, self.default_font = "cp1252", dict[int, str](), 0
        self.first = False  # The next word can name the group's destination,
        self.starred = False  # also one that is not known.
        self.glued = -1  # offset after a control word without a space, before which no letter can be written
        self.bytes: list[re.Match[str]] = []
        self.units: list[int] = []  # the UTF-16 code units of a character, whose source is `code`
        self.code, self.code_is_glued = (0, 0), False
        self.left = 0  # characters to skip after it

    def read(self) -> MarkupText:
        for token in _TOKEN.finditer(self.source):
            kind = "word" if token["word"] else token.lastgroup or ""
            if kind == "end":
                continue
            if kind != "byte" and self.bytes:
                self._decode()
            if self.left and self._skip(token, kind):
                continue
            if self.units and token["word"] != "u":
                self._end_code()
            getattr(self, f"_{kind}")(token)
        self._decode()
        self._end_code()
        while self.stack:  # A truncated file.
            self._end_group(len(self.source))
        self.builder.side = [block for block in self.builder.side if _WORTHY.search(_text_of(block))]
        self.builder.structured = self.found.done()
        return self.builder.done()

    # groups

    def _open(self, token: re.Match[str]) -> None:
        self.stack.append(self.group)
        self.group = replace(self.group, start=token.start())
        if self.group.entries:
            self._begin_block()
        self.first, self.starred = True, False

    def _close(self, token: re.Match[str]) -> None:
        if self.stack:
            self._end_group(token.end())
        self.first = False

    def _end_group(self, end: int) -> None:
        closed, self.group = self.group, self.stack.pop()
        if closed.pieces is None:
            if self.group.pieces is not None:
                self.builder.drop(closed.start, end, "{}")
        elif closed.kind and closed.pieces is not self.group.pieces and self._is_no_text(closed, end):
            closed.pieces.clear()

    def _is_no_text(self, group: _Group, end: int) -> bool:
        """End a group of names or properties; True if its block is no text of the note."""
        text = _text_of(group.pieces or ()).strip("; ")
        if group.kind in _WORDS["standard"]:
            return is_font(text) or is_standard(text)
        if group.kind == "revtbl":
            if text and text != "Unknown":
                self.builder.drop(group.start, end, "{;}")
            return True
        is_part = group.kind in ("linkval", "propname", "staticval")
        if group.kind == self.group.kind or (is_part and self.group.kind != "userprops"):
            return False  # A destination where it is unknown: its text is read.
        if is_part:
            self.has_properties |= bool(text)
            if group.kind == "propname":
                self.property = text
            else:
                self.found.search_for(self.property, text)
        elif text or (group.kind == "userprops" and self.has_properties):
            self.found.search_for(group.kind, text)
            self.found.add(rf"\{group.kind}", Edit(group.start, end, "{}", ""))
        return True

    def _begin_block(self, *, entries: bool = False) -> None:
        if self.group.pieces is not None:
            self.group.pieces = []
            self.builder.side.append(self.group.pieces)
        self.group.entries = entries

    # control words

    def _word(self, token: re.Match[str]) -> None:
        name, number, is_glued = token["word"], token["number"], token.start() == self.glued
        self.glued = token.end() if token["space"] is None else -1
        if self.first and name in _WORDS["dropped"]:
            self.group.pieces = None
        elif (
            self.first
            and name not in _WORDS["inline"]
            and (self.starred or name in _WORDS["side"] or name in _WORDS["entries"])
        ):
            self.group.kind = name if name in _KINDS else self.group.kind
            self._begin_block(entries=name in _WORDS["entries"])
        self.first = self.starred = False
        if name in _BREAKS:
            self._add(_BREAKS[name], token.start(), token.start())
        elif name in _CHARACTERS:
            self._add(_CHARACTERS[name], *token.span(), is_glued=is_glued)
        elif name in _WORDS["times"] and number and self.group.pieces is not None:
            self.builder.drop(*token.span("number"), "0")
        elif name == "u" and number is not None:
            self._unit(int(number) % (1 << 16), token, is_glued=is_glued)
        elif name in _WORDS["deleted"]:
            self.group.deleted = number is None or int(number) != 0
        elif number is not None:
            self._set(name, int(number), token)
        elif name == "plain":
            self.group.font, self.group.deleted = None, False
        elif name in _CODECS:
            self.codec = _CODECS[name]

    def _set(self, name: str, number: int, token: re.Match[str]) -> None:
        if name == "uc":
            self.group.skipped = max(0, min(number, 20))
        elif name == "f":
            self.group.font = number
        elif name == "deff":
            self.default_font = number
        elif name == "fcharset" and self.group.kind == "fonttbl" and number in _CHARSETS:
            self.fonts[self.group.font or 0] = _CHARSETS[number]
        elif name == "ansicpg" and number:
            self.codec = {65001: "utf-8", 10000: "mac_roman"}.get(number, f"cp{number}")
        elif name == "bin" and number > 0:
            raise MarkupError("raw bytes (\\bin) in RTF: save it again, or export the text alone", offset=token.start())

    # text

    def _text(self, token: re.Match[str], start: int | None = None) -> None:
        self.first = False
        start = token.start() if start is None else start
        if start == self.glued:  # A part of the text must not get the space that the first character needs.
            self._add(self.source[start], start, start + 1, exact=True)
            start += 1
        self._add(self.source[start : token.end()], start, token.end(), exact=True)

    def _symbol(self, token: re.Match[str]) -> None:
        symbol = token["symbol"]
        if symbol == "*" and self.first:
            self.starred = True
        elif symbol in "\r\n":
            self._add("\n", token.start(), token.start())
        elif symbol not in "-:|*":
            self.first = False
            self._add(_SYMBOLS.get(symbol, symbol), *token.span())

    def _byte(self, token: re.Match[str]) -> None:
        self.first = False
        self.bytes.append(token)

    def _decode(self) -> None:
        """Add the characters of a run of bytes."""
        font = self.default_font if self.group.font is None else self.group.font
        try:
            decoder = codecs.getincrementaldecoder(self.fonts.get(font, self.codec))(errors="replace")
        except LookupError:
            raise MarkupError("a code page of RTF that is unknown: save it again as Unicode") from None
        start = None
        for token in self.bytes:
            start = token.start() if start is None else start
            if text := decoder.decode(bytes([int(token["byte"], 16)])):
                self._add(text, start, token.end())
                start = None
        self.bytes = []
        if start is not None:
            raise MarkupError("a part of a character in RTF: save it again as Unicode", offset=start)

    def _unit(self, unit: int, token: re.Match[str], *, is_glued: bool) -> None:
        """Begin a character, or end the second half of one."""
        if len(self.units) != 1 or self.units[0] >> 10 != _HIGH or unit >> 10 != _LOW:
            self._end_code()
            self.code, self.code_is_glued = token.span(), is_glued
        self.units.append(unit)
        self.code, self.left = (self.code[0], token.end()), self.group.skipped

    def _skip(self, token: re.Match[str], kind: str) -> bool:
        r"""Skip a part of what other readers show for a ``\u``; return True if nothing of the token is left."""
        if kind in ("open", "close") or token["word"] == "u":
            self.left = 0
            return False
        length = min(self.left, len(token[0])) if kind == "text" else len(token[0])
        self.left -= length if kind == "text" else 1
        self.code = (self.code[0], token.start() + length)
        self.glued = token.end() if kind == "word" and token["space"] is None else -1
        if kind == "text" and length < len(token[0]):
            self._end_code()
            self._text(token, token.start() + length)
        return True

    def _end_code(self) -> None:
        r"""Add the character of a ``\u``."""
        units, self.units, self.left = self.units, [], 0
        try:
            text = b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le")
        except UnicodeDecodeError:
            raise MarkupError("a half of a character in RTF: save it again", offset=self.code[0]) from None
        self._add(text, *self.code, is_glued=self.code_is_glued)

    def _add(self, text: str, start: int, end: int, *, exact: bool = False, is_glued: bool | None = None) -> None:
        if self.group.pieces is None or not text:
            return
        if start == end:
            self.group.pieces.append(gap(text, start))
            return
        if self.group.deleted:
            self.builder.drop(start, end)
            return
        is_glued = start == self.glued if is_glued is None else is_glued
        spell = partial(_spell, skipped=self.group.skipped, is_glued=is_glued)
        self.group.pieces.append(Piece(text, start, end, spell, exact))


def _text_of(block: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in block)


def _spell(text: str, *, skipped: int, is_glued: bool) -> str:
    """Spell a text; a space ends the control word before it."""
    return " " * is_glued + "".join(_character(c, skipped) for c in text)


def _character(character: str, skipped: int) -> str:
    if character in "\\{}":
        return "\\" + character
    if character in "\n\t":
        return r"\line " if character == "\n" else r"\tab "
    if " " <= character <= "~":
        return character
    encoded = character.encode("utf-16-le")
    units = (int.from_bytes(encoded[i : i + 2], "little", signed=True) for i in range(0, len(encoded), 2))
    return "".join(f"\\u{unit}" + ("?" * skipped or " ") for unit in units)
