"""Custom lists of a site: deny lists, allow lists and patterns, read from a TOML file.

- Each whole occurrence of a deny-list term is marked, without regard to case, accents and signs.
- Each match of a pattern is marked.
- An allow-list term removes a span of the model that consists of the same words. It does not shorten longer spans, and
  does not affect spans from deny lists, patterns or patient identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unicodedata import normalize

import regex

from crfdeid.documents import Span
from crfdeid.errors import DataError, EmptyInputError, FormatError, LimitError, located
from crfdeid.known_phi.folding import FoldedText, PhraseMatcher, fold_to_alnum
from crfdeid.utils.files import read_text, read_toml
from crfdeid.validation import TYPE_NAMES
from features.line_gaps import is_hyphenated, line_gaps, replace_line_gaps
from features.tokenizer import NormalText

PATTERN_TIMEOUT = 5.0
"""Time limit in seconds for one pattern on one note."""

# Long repetitions with an unmatched end, on which an expression with catastrophic backtracking times out.
_UNITS = ("a", "A", "0", " ", "a ", "0 ", "aA0", "0-", "a.", ".", "-", "@")
_PROBES = tuple(unit * (60 // len(unit)) + "\n!" for unit in _UNITS)
PROBE_TIMEOUT = 1.0
"""Time limit in seconds for one pattern on one probe."""

_TYPE = regex.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a deny or allow list: one or several words.

    Attributes:
        text: its spelling.
        type: type of its spans; "" in an allow list.
        match_case: True to compare case and accents.

    Raises:
        FormatError: it has neither a letter nor a digit.
    """

    text: str
    type: str = ""
    match_case: bool = False

    def __post_init__(self) -> None:
        if not fold_to_alnum(self.text):
            raise FormatError("a term without a letter or digit, which matches nothing: correct it")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression for a site's PHI.

    Attributes:
        regex: syntax of the package `regex`; a group named "value" limits the span to it.
        type: type of its spans.
        match_case: True for a case-sensitive expression.
        name: name in messages, such as its file and line.

    Raises:
        FormatError: it is invalid, or matches the empty text.
        LimitError: it takes longer than `PROBE_TIMEOUT` on a probe.
    """

    regex: str
    type: str
    match_case: bool = False
    name: str = "a pattern"

    def __post_init__(self) -> None:
        try:
            compiled = _compiled(self)
        except (regex.error, OverflowError, RecursionError):
            raise FormatError("an invalid expression for the package regex: correct it") from None
        try:
            if any(match.start() == match.end() for match in compiled.finditer("", timeout=PATTERN_TIMEOUT)):
                raise FormatError("an expression that matches the empty text: require one character or more")
            for probe in _PROBES:
                for _ in compiled.finditer(probe, timeout=PROBE_TIMEOUT):
                    pass
        except TimeoutError:
            raise LimitError("an expression that takes too long: avoid nested repetitions such as (a+)+") from None


@dataclass(frozen=True)
class CustomLists:
    """Deny list, allow list and patterns of a site.

    Args:
        deny: terms that are always marked.
        allow: terms that are not marked by themselves.
        patterns: expressions whose matches are always marked.

    Raises:
        FormatError: an invalid type.

    Example:
        >>> lists = CustomLists(deny=(Term("Tawn List", "HOSPITAL"),), patterns=(Pattern(r"TL-[0-9]{6}", "ID"),))
        >>> [span.label for span in lists.find("TAWN LIST, case TL-204417")]
        ['HOSPITAL', 'ID']
    """

    deny: tuple[Term, ...] = ()
    allow: tuple[Term, ...] = ()
    patterns: tuple[Pattern, ...] = ()

    def __post_init__(self) -> None:
        for type_name in [*(term.type for term in self.deny), *(pattern.type for pattern in self.patterns)]:
            _require_type(type_name)

    def __bool__(self) -> bool:
        return bool(self.deny or self.allow or self.patterns)

    def joined(self, other: CustomLists) -> CustomLists:
        """Return the union of two sites' lists."""
        return CustomLists(self.deny + other.deny, self.allow + other.allow, self.patterns + other.patterns)

    def find(self, text: str) -> list[Span]:
        """Find deny-list terms and patterns in a text; spans may overlap.

        Raises:
            LimitError: a pattern takes longer than `PATTERN_TIMEOUT`.
        """
        return [*self._find_terms(text), *self._find_patterns(text)]

    def allows(self, value: str) -> bool:
        """Return True if a value is a term of the allow list."""
        return any(_is_spelled(value, term) for term in self._allowed.get(fold_to_alnum(value), ()))

    @classmethod
    def of(cls, data: Mapping[str, Sequence[Mapping[str, Any]]]) -> CustomLists:
        """Create lists from the JSON data of `dataclasses.asdict`.

        Raises:
            DataError: an invalid term, type or pattern.
            TypeError, KeyError: data of another structure.
        """
        return cls(
            deny=tuple(Term(**term) for term in data["deny"]),
            allow=tuple(Term(**term) for term in data["allow"]),
            patterns=tuple(Pattern(**pattern) for pattern in data["patterns"]),
        )

    @cached_property
    def _denied(self) -> PhraseMatcher[Term]:
        return PhraseMatcher((term.text, term) for term in self.deny)

    @cached_property
    def _allowed(self) -> Mapping[str, Sequence[Term]]:
        found: dict[str, list[Term]] = {}
        for term in self.allow:
            found.setdefault(fold_to_alnum(term.text), []).append(term)
        return found

    def _find_terms(self, text: str) -> Iterator[Span]:
        if self.deny:
            for start, end, term in self._denied.find(FoldedText(text)):
                if _is_spelled(text[start:end], term):
                    yield Span(start, end, term.type)

    def _find_patterns(self, text: str) -> Iterator[Span]:
        gaps = (lambda gap: "", lambda gap: "-" if is_hyphenated(gap) else " ")
        joined = [replace_line_gaps(text, gap) for gap in gaps] if self.patterns else []
        for pattern in self.patterns:
            found = _matches(pattern, text)
            yield from (Span(*value, pattern.type) for _, value in found)
            ends = {end for _, (_, end) in found}
            for form in joined if len(joined[0].text) < len(text) else ():
                yield from (Span(*span, pattern.type) for span in _over_line_end(pattern, text, form, ends))


def _require_type(name: str) -> None:
    """Refuse a type with characters that output formats do not allow."""
    if not _TYPE.fullmatch(name):
        raise FormatError('an invalid type: use letters, digits, "_" and "-", such as HOSPITAL')


@lru_cache(maxsize=1 << 10)
def _compiled(pattern: Pattern) -> regex.Pattern[str]:
    return regex.compile(pattern.regex, 0 if pattern.match_case else regex.IGNORECASE)


_Offsets = tuple[int, int]


def _matches(pattern: Pattern, text: str) -> list[tuple[_Offsets, _Offsets]]:
    """Return the offsets of the matches of a pattern, and those of their values."""
    found = []
    try:
        for match in _compiled(pattern).finditer(text, timeout=PATTERN_TIMEOUT):
            start, end = match.span("value") if "value" in match.re.groupindex else match.span()
            if start < 0:  # the group did not match: mark the whole match
                start, end = match.span()
            if start < end:
                found.append((match.span(), (start, end)))
    except TimeoutError:
        problem = f"{pattern.name} took longer than {PATTERN_TIMEOUT:g} seconds: avoid nested repetitions"
        raise LimitError(problem) from None
    return found


def _over_line_end(pattern: Pattern, text: str, joined: NormalText, ends: Collection[int]) -> Iterator[_Offsets]:
    """Yield the offsets of the values whose matches reach over one line end.

    A match does not reach over a line end without a hyphen at which another one ends: that is a whole value.
    """
    offsets = joined.offsets or range(len(text) + 1)
    for (begin, stop), (first, last) in _matches(pattern, joined.text):
        if offsets[stop - 1] - offsets[begin] == stop - 1 - begin:
            continue
        gaps = [*line_gaps(text[offsets[begin] : offsets[stop - 1] + 1])]
        if len(gaps) == 1 and (is_hyphenated(gaps[0][0]) or offsets[begin] + gaps[0].start() not in ends):
            yield offsets[first], offsets[last - 1] + 1


def _is_spelled(value: str, term: Term) -> bool:
    """Return True if a value with the letters of a term also has its case, where that counts."""
    return not term.match_case or _signless(value) == _signless(term.text)


def _signless(text: str) -> str:
    """Return the letters and digits of a text, unchanged."""
    return "".join(character for character in normalize("NFC", text) if character.isalnum())


_KEYS = {
    "deny": ("type", "terms", "file", "match_case"),
    "pattern": ("type", "regex", "match_case"),
    "allow": ("terms", "file", "match_case"),
}
_Value = TypeVar("_Value")
_COMMENT = "#"
_HEADER = re.compile(r"\s*\[\[?\s*[\"']?(\w+)[\"']?\s*\]")


def read_lists(path: Path) -> CustomLists:
    """Read custom lists from a TOML file and the word lists that it names.

    Raises:
        DataError: a file cannot be read or is invalid. The message names file and line, and no term: lists contain
            names.
    """
    tables = list(_tables(read_toml(path), path, read_text(path).split("\n")))
    if not tables:
        raise EmptyInputError("no lists: add [[deny]], [[allow]] or [[pattern]]", path=path)
    return CustomLists(
        deny=tuple(term for table in tables if table.kind == "deny" for term in table.terms()),
        allow=tuple(term for table in tables if table.kind == "allow" for term in table.terms()),
        patterns=tuple(table.pattern() for table in tables if table.kind == "pattern"),
    )


def _tables(content: Mapping[str, Any], path: Path, lines: Sequence[str]) -> Iterator[_Table]:
    for kind, found in content.items():
        named = re.compile(rf"[\s\[\"']*{re.escape(kind)}\b")
        with located(path, next((number for number, text in enumerate(lines, start=1) if named.match(text)), None)):
            if kind not in _KEYS:
                raise FormatError(f"unknown table: choose from {', '.join(f'[[{name}]]' for name in _KEYS)}")
            if not isinstance(found, list) or not all(isinstance(values, dict) for values in found):
                raise FormatError(f"{kind} is not a list of tables: begin each with [[{kind}]]")
        heads = [n for n, text in enumerate(lines) if (head := _HEADER.match(text)) and head[1] == kind]
        for values, at in zip_longest(found, heads[: len(found)]):
            yield _Table(path, lines, kind, at, values)


class _Table(NamedTuple):
    """One [[table]] of a TOML file.

    Attributes:
        path: the file.
        lines: all lines of the file.
        kind: "deny", "allow" or "pattern".
        head: index of its header's line; None for other syntax, such as an inline table.
        values: its keys and values.
    """

    path: Path
    lines: Sequence[str]
    kind: str
    head: int | None
    values: Mapping[str, Any]

    def terms(self) -> list[Term]:
        """Return the terms of a list and of the file that it names."""
        self._require_known()
        type_name = self._type() if self.kind == "deny" else ""
        match_case, texts = self._value("match_case", bool, False), self._value("terms", list, [])
        with self._at("terms"):
            if not all(isinstance(text, str) for text in texts):
                raise FormatError('terms is not a list of texts, such as ["Tawn List", "TLC"]')
            found = [Term(text, type_name, match_case) for text in texts]
        if "file" in self.values:
            found += _listed(self.path.parent / self._value("file", str), type_name, match_case=match_case)
        with self._at("file"):
            if not found:
                raise FormatError("without terms: give terms = [...] or file = ...")
        return found

    def pattern(self) -> Pattern:
        """Return the pattern of a table."""
        self._require_known()
        location = f"{self.path.name}, line {self.line('regex')}" if self.head is not None else self.path.name
        expression, type_name = self._value("regex", str), self._type()
        match_case = self._value("match_case", bool, False)
        with self._at("regex"):
            return Pattern(expression, type_name, match_case, f"the pattern of {location}")

    def line(self, key: str) -> int | None:
        """Return the line of a key, else that of the header, from 1; None for other syntax."""
        if self.head is None:
            return None
        own = takewhile(lambda text: not _HEADER.match(text), self.lines[self.head + 1 :])
        named = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        return next((number for number, text in enumerate(own, self.head + 2) if named.match(text)), self.head + 1)

    def _require_known(self) -> None:
        for key in self.values:
            with self._at(key):
                if key not in _KEYS[self.kind]:
                    raise FormatError(f"unknown key: choose from {', '.join(_KEYS[self.kind])}")

    def _type(self) -> str:
        name = self._value("type", str)
        with self._at("type"):
            _require_type(name)
        return name

    def _value(self, key: str, kind: type[_Value], default: _Value | None = None) -> _Value:
        value = self.values.get(key, default)
        with self._at(key):
            if not isinstance(value, kind):
                raise FormatError(f"{key} is missing, or is not {TYPE_NAMES[kind]}")
        return value

    @contextmanager
    def _at(self, key: str) -> Iterator[None]:
        """Say in errors that they are about a key of this table."""
        try:
            yield
        except DataError as error:
            raise type(error)(f"[[{self.kind}]] {error.problem}", path=self.path, line=self.line(key)) from None


def _listed(path: Path, type_name: str, *, match_case: bool) -> list[Term]:
    """Return the terms of a file with one a line; blank lines and lines that begin with # are skipped."""
    found = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        text = line.strip()
        if text and not text.startswith(_COMMENT):
            with located(path, number):
                found.append(Term(text, type_name, match_case))
    return found
