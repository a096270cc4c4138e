"""Reader of HTML, pages and fragments: text, comments, styles, and the attributes that can hold text.

Revisions are accepted: deleted text is dropped. Authors are structured fields.

Only what has the strict form of a tag, a comment or a character reference is markup; all else is text, which a model
reads. A tokenizer of ours: Python's parser has no offsets of attributes, and in some versions its time grows with the
square of a hostile text's length.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from crfdeid.markup.blocks import BlockBuilder, Edit, MarkupText, Piece, Spell, gap, word_sets
from crfdeid.markup.properties import Properties
from crfdeid.markup.runs import add_runs, escape
from crfdeid.markup.standard import is_font, is_software, is_standard

_ATTRIBUTE = r"""\s++([A-Za-z_:@*][\w:.@-]*+)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'<>`]++))?+"""
_TAG = re.compile(rf"<(/?)([A-Za-z][\w:.-]*+)((?:{_ATTRIBUTE})*+)\s*+/?>")
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_WORDS = word_sets("html")
_STYLE_WORD = r"""(?:(?!/\*|url\()[^\s{};:,"'<>()])++"""
_STYLE = re.compile(
    r"""/\*(?P<remark>.*?)(?:\*/|\Z)|url\((?P<url>[^()]*)\)|"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
    rf"|(?P<words>{_STYLE_WORD}(?:\x20{_STYLE_WORD})*+)",
    re.DOTALL,
)
_STYLE_CODE = re.compile(
    r"[\W_]*[a-z][a-zA-Z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*(?:\[[a-z-]*\]?)?|#[0-9A-Fa-f]{3,8}|\W*[0-9.]{1,6}(?:[a-z]{1,4}|%)?|\W+"
    r"|[a-z]*\.?(?:Mso|Word)[A-Za-z]+[0-9]*|(?:[a-z]{2}-)?[A-Z]{2}"
)
_META = re.compile(
    r"text/html;\s*charset=(?:utf-?8|us-ascii|(?:iso|windows)-[0-9-]+)"
    r"|author|changed(?:by)?|created|description|generator|keywords|originator|progid|viewport"
    r"|(?:(?:width|initial-scale|maximum-scale|user-scalable)=(?:device-width|yes|no|[0-9.]+)(?:,\s*)?)+",
    re.IGNORECASE,
)
_BREAKS = {"td": "\t", "th": "\t"}
_RAW = {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", *_WORDS["people"])
}
_RAW["del"] = re.compile(r"</?del\b[^<>]*>", re.IGNORECASE)  # One in another has an end of its own.
_DOCTYPE = re.compile(
    r'<!doctype\s+html(?:\s+PUBLIC\s+"-//W3C//[\w .-]+//EN"(?:\s+"http://www\.w3\.org/[\w/.-]+")?)?\s*>', re.IGNORECASE
)
_BLOCK_TAG = re.compile(r"<(?:/?(?:p|div|td|tr|li|h[1-6]|body)|br)\b[^<>]*>", re.IGNORECASE)


def read_html(source: str) -> MarkupText:
    """Read a page or a fragment.

    Runs of text that inline elements split are joined. If there are elements of blocks, a line end is a space.

    Example:
        >>> read_html("<p>Jane Qu<b>ill</b>, 3&nbsp;May").text.strip()
        'Jane Quill, 3\\xa0May'
    """
    reader = _Reader(source)
    reader.read(0, len(source), reader.builder.body)
    reader.builder.structured = reader.found.done()
    return reader.builder.done()


def _quoted(text: str) -> str:
    return f'"{html.escape(text)}"'


def _without_tags(text: str) -> str:
    """Spell a text where nothing can be escaped, such as in a style."""
    return text.replace("<", "(").replace(">", ")")


def _is_code(name: str, value: str) -> bool:
    """True for an attribute that holds no text of a note."""
    if not value or name in _WORDS["presentation"] or name.startswith("xmlns"):
        return True
    if name in ("class", "face", "style", "target"):
        return not any(_style_texts(value, 0, len(value)))
    return name in ("content", "name") and (_META.fullmatch(value) is not None or is_software(value))


def _style_texts(source: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the offsets of what a person can have written in a style: comments, strings, addresses and other words.

    Words of CSS, which begin with a small letter, numbers, and names of common fonts are none of these.
    """
    for found in _STYLE.finditer(source, start, end):
        text = found[found.lastgroup or 0].strip()
        is_code = found.lastgroup == "words" and all(map(_STYLE_CODE.fullmatch, text.split()))
        if text and not is_code and not is_font(text) and not is_standard(text):
            yield found.span(found.lastgroup or 0)


class _Reader:
    def __init__(self, source: str) -> None:
        self.source, self.builder = source, BlockBuilder("html", source)
        self._folds = _BLOCK_TAG.search(source) is not None
        self.found = Properties()
        self._missing: set[tuple[str, int]] = set()  # ends that do not occur any more, so that none is searched twice

    def read(self, at: int, stop: int, pieces: list[Piece]) -> None:
        """Read a part of the source into a block."""
        begin = at  # of the text that was not added yet
        while (at := self.source.find("<", at, stop)) >= 0:
            read = self._tag(at, stop, pieces, begin) if self.source[at + 1 : at + 2] not in ("!", "?") else None
            read = read or self._declaration(at, stop, pieces, begin)
            begin, at = (read, read) if read else (begin, at + 1)
        self._text(begin, stop, pieces)

    def _tag(self, at: int, stop: int, pieces: list[Piece], begin: int) -> int | None:
        """Read a tag, and return its end; None if there is none."""
        found = _TAG.match(self.source, at, stop)
        if found is None:
            return None
        attributes = list(_ATTRIBUTES.finditer(self.source, found.start(3), found.end(3)))
        if any(one[2] is None and one[1].lower() not in _WORDS["flags"] for one in attributes):
            return None
        self._text(begin, at, pieces)
        name = found[2].lower()
        if name not in _WORDS["inline"] and ":" not in name:
            self._break(name, at, pieces)
        person = self._person(attributes) if name == "meta" else ""
        for one in attributes:
            if one[2] is not None:
                self._attribute(name, one[1].lower(), *one.span(2), person)
        is_begin = not found[1] and not (name == "del" and found[0].endswith("/>"))
        return self._raw(name, found.end(), stop) if name in _RAW and is_begin else found.end()

    def _person(self, attributes: list[re.Match[str]]) -> str:
        """The name in a "meta" whose content is a person; "" for another."""
        names = [(one[2] or "").strip("\"' ").lower() for one in attributes if one[1].lower() == "name"]
        return next((name for name in names if name in _WORDS["meta"]), "")

    def _break(self, name: str, at: int, pieces: list[Piece]) -> None:
        """End a line or a cell; elements without text between them, such as two paragraphs, end one line."""
        is_ended = not pieces or pieces[-1].start == pieces[-1].end
        if name == "br" or not is_ended:
            pieces.append(gap(_BREAKS.get(name, "\n"), at))

    def _attribute(self, element: str, name: str, start: int, end: int, person: str) -> None:
        quoted = self.source[start] in "\"'"
        inner = (start + 1, end - 1) if quoted else (start, end)
        value = html.unescape(self.source[slice(*inner)])
        if value.strip().lower().startswith("data:"):
            self.builder.drop(*inner, "data:,")
        elif element in ("del", "ins") and name in ("cite", "datetime"):  # Reviewer and time.
            self.builder.drop(start, end, '""')
        elif person and name == "content" and value.strip():
            self.found.search_for(person, value)
            self.found.add(f"meta {person}", Edit(start, end, '""', ""))
        elif not _is_code(name, value.strip()):
            block: list[Piece] = []
            if quoted:
                self._text(*inner, block, spell=html.escape, folds=False)
            else:
                block.append(Piece(value, start, end, _quoted))
            self.builder.side.append(block)

    def _raw(self, name: str, start: int, stop: int) -> int:
        """Read the content of an element as a whole; scripts and deleted text are dropped."""
        found = _RAW[name].search(self.source, start, stop) if (name, stop) not in self._missing else None
        if found is None:
            self._missing.add((name, stop))
            return start
        end = found.start()
        if name == "del" and not found[0].startswith("</"):
            return start
        if name in ("script", "del"):
            self.builder.drop(start, end)
        elif name in _WORDS["people"]:
            if value := html.unescape(self.source[start:end]).strip():
                self.found.search_for(name.partition(":")[2], value)
                self.found.add(name, Edit(start, end, "", ""))
        elif name == "style":
            self._style(start, end)
        else:
            block: list[Piece] = []
            self._text(start, end, block)
            self.builder.side.append(block)
        return found.end()

    def _style(self, start: int, end: int) -> None:
        """Read a style sheet."""
        block: list[Piece] = []
        for begin, stop in _style_texts(self.source, start, end):
            block += [gap("\n", begin), Piece(self.source[begin:stop], begin, stop, _without_tags, exact=True)]
        self.builder.side.append(block)

    def _declaration(self, at: int, stop: int, pieces: list[Piece], begin: int) -> int | None:
        """Read a comment or a declaration as a block of its own, and return its end; None if there is none."""
        for opening, closing in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", ">")):
            if not self.source.startswith(opening, at):
                continue
            start = at + len(opening)
            end = -1 if (closing, stop) in self._missing else self.source.find(closing, start, stop)
            if end < 0:
                self._missing.add((closing, stop))
                return None
            self._text(begin, at, pieces)
            if opening == "<![CDATA[":  # The text of XHTML; browsers take it for a comment.
                pieces.append(Piece(self.source[start:end], start, end, _without_tags, exact=True))
            elif not _DOCTYPE.fullmatch(self.source, at, end + 1):
                block: list[Piece] = []
                (self.read if opening == "<!--" else self._text)(start, end, block)
                self.builder.side.append(block)
            return end + len(closing)
        return None

    def _text(
        self, start: int, end: int, pieces: list[Piece], *, spell: Spell = escape, folds: bool | None = None
    ) -> None:
        add_runs(pieces, self.source, start, end, spell=spell, folds=self._folds if folds is None else folds)
