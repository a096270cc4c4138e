"""A site's own lists and patterns: what its notes always hide, and what they never hide.

- A term of a deny list is hidden wherever it stands as whole words, whatever its case, accents and signs.
- What a pattern finds is hidden.
- A term of an allow list takes a model's find away where the two are the same words. It takes away no part of a longer
  find, and nothing that a deny list, a pattern or a patient's record asks for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unicodedata import normalize

import regex

from crfdeid.documents import Span
from crfdeid.errors import DataError, EmptyInputError, FormatError, LimitError
from crfdeid.known_phi.folding import Folded, Phrases, fold
from crfdeid.utils.files import read_text

SECONDS = 5.0
"""How long one pattern may take on one note."""

# Long runs of one character, which an expression that blows up does on: what ends them is nothing it can take.
_UNITS = ("a", "A", "0", " ", "a ", "0 ", "aA0", "0-", "a.", ".", "-", "@")
_PROBES = tuple(unit * (60 // len(unit)) + "\n!" for unit in _UNITS)
PROBE_SECONDS = 1.0

_TYPE = regex.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Term:
    """A word or several.

    Attributes:
        text: as it is spelled.
        type: what it is hidden as; "" in an allow list.
        match_case: whether its capitals, small letters and accents count.
    """

    text: str
    type: str = ""
    match_case: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """An expression for what a site calls by a type of PHI.

    Attributes:
        regex: as the package `regex` reads it; the group "value", where there is one, is what is hidden.
        type: what it is hidden as.
        match_case: whether capitals and small letters count.
        name: how messages call it, such as its place in a file.
    """

    regex: str
    type: str
    match_case: bool = False
    name: str = "a pattern"


@dataclass(frozen=True)
class CustomLists:
    """A site's lists.

    Args:
        deny: what is always hidden.
        allow: what is not hidden by itself.
        patterns: what else is always hidden.

    Raises:
        DataError: a term without a letter or digit, a type that is no name, a pattern that cannot be read or finds
            the empty text.

    Example:
        >>> site = Site(deny=(Term("Tawn List", "HOSPITAL"),), patterns=(Pattern(r"TL-[0-9]{6}", "ID"),))
        >>> [span.label for span in site.find("TAWN LIST, case TL-204417")]
        ['HOSPITAL', 'ID']
    """

    deny: tuple[Term, ...] = ()
    allow: tuple[Term, ...] = ()
    patterns: tuple[Pattern, ...] = ()

    def __post_init__(self) -> None:
        for term in (*self.deny, *self.allow):
            check_term(term.text)
        for type_name in (*(term.type for term in self.deny), *(pattern.type for pattern in self.patterns)):
            check_type(type_name)
        for pattern in self.patterns:
            check_pattern(pattern)

    def __bool__(self) -> bool:
        return bool(self.deny or self.allow or self.patterns)

    def joined(self, other: CustomLists) -> CustomLists:
        """The lists of both."""
        return CustomLists(self.deny + other.deny, self.allow + other.allow, self.patterns + other.patterns)

    def find(self, text: str) -> list[Span]:
        """What has to be hidden in a text; what is found may overlap.

        Raises:
            DataError: a pattern takes too long.
        """
        return [*self._find_terms(text), *self._find_patterns(text)]

    def allows(self, value: str) -> bool:
        """Whether a find of a model is left as it is: all of it is one term of an allow list."""
        return bool(self.allow) and any(_is_spelled(value, term) for term in self._allowed.get(fold(value), ()))

    @classmethod
    def of(cls, data: Mapping[str, Sequence[Mapping[str, Any]]]) -> CustomLists:
        """The lists out of JSON data, as `dataclasses.asdict` gives them.

        Raises:
            DataError: a list is not what it should be.
            TypeError, KeyError: it is something else.
        """
        return cls(
            deny=tuple(Term(**term) for term in data["deny"]),
            allow=tuple(Term(**term) for term in data["allow"]),
            patterns=tuple(Pattern(**pattern) for pattern in data["patterns"]),
        )

    @cached_property
    def _denied(self) -> Phrases[Term]:
        return Phrases((term.text, term) for term in self.deny)

    @cached_property
    def _allowed(self) -> Mapping[str, Sequence[Term]]:
        found: dict[str, list[Term]] = {}
        for term in self.allow:
            found.setdefault(fold(term.text), []).append(term)
        return found

    def _find_terms(self, text: str) -> Iterator[Span]:
        if self.deny:
            for start, end, term in self._denied.find(Folded(text)):
                if _is_spelled(text[start:end], term):
                    yield Span(start, end, term.type)

    def _find_patterns(self, text: str) -> Iterator[Span]:
        for pattern in self.patterns:
            try:
                for match in _compiled(pattern).finditer(text, timeout=SECONDS):
                    start, end = match.span("value") if "value" in match.re.groupindex else match.span()
                    if start < 0:  # the group had no part in it: all of it is hidden, and not nothing
                        start, end = match.span()
                    if start < end:
                        yield Span(start, end, pattern.type)
            except TimeoutError:
                problem = f"{pattern.name} took longer than {SECONDS:g} seconds: write it without nested repetitions"
                raise LimitError(problem) from None


def check_term(text: str) -> None:
    """Refuse a term that nothing could be found by.

    Raises:
        DataError: it has neither a letter nor a digit.
    """
    if not fold(text):
        raise FormatError("a term without a letter or digit: nothing could be found by it")


def check_type(name: str) -> None:
    """Refuse a type that formats cannot hold.

    Raises:
        DataError: it is no name of a type.
    """
    if not _TYPE.fullmatch(name):
        raise FormatError('not a type: give a name of letters, digits, "_" and "-", such as HOSPITAL')


def check_pattern(pattern: Pattern) -> None:
    """Refuse a pattern that cannot work, or that takes too long for a short line.

    Raises:
        DataError: it cannot be read, finds the empty text, or blows up.
    """
    try:
        compiled = _compiled(pattern)
    except (regex.error, OverflowError, RecursionError):
        raise FormatError("not an expression that the package regex can read: correct it") from None
    try:
        if any(match.start() == match.end() for match in compiled.finditer("", timeout=SECONDS)):
            raise FormatError("an expression that finds the empty text: let it ask for a character or more")
        for probe in _PROBES:
            for _ in compiled.finditer(probe, timeout=PROBE_SECONDS):
                pass
    except TimeoutError:
        problem = "an expression that takes too long: write it without repetitions within repetitions, such as (a+)+"
        raise LimitError(problem) from None


@lru_cache(maxsize=1 << 10)
def _compiled(pattern: Pattern) -> regex.Pattern[str]:
    return regex.compile(pattern.regex, 0 if pattern.match_case else regex.IGNORECASE)


def _is_spelled(value: str, term: Term) -> bool:
    """Whether a value that has the term's letters has them as the term asks for."""
    return not term.match_case or _signless(value) == _signless(term.text)


def _signless(text: str) -> str:
    """The letters and digits of a text as they are written."""
    return "".join(character for character in normalize("NFC", text) if character.isalnum())


_KEYS = {
    "deny": ("type", "terms", "file", "match_case"),
    "pattern": ("type", "regex", "match_case"),
    "allow": ("terms", "file", "match_case"),
}
_Checked = TypeVar("_Checked")
_COMMENT = "#"
_SYNTAX_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")
_HEAD = re.compile(r"\s*\[\[?\s*[\"']?(\w+)[\"']?\s*\]")


def read_site(path: Path) -> CustomLists:
    """A site's lists from a TOML file and the word lists that it names.

    Raises:
        DataError: a file cannot be read, or something in it cannot work. The message names file and line, and no term:
            lists hold names.
    """
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _SYNTAX_PLACE.search(str(error))
        line = int(place[1]) if place else len(text.splitlines())
        column = f" at column {place[2]}" if place else ", or not closed"
        raise FormatError(f"no TOML{column}: correct it", path=path, line=line) from None
    except RecursionError:
        raise FormatError("no TOML that can be read: it is nested too deep", path=path) from None
    tables = list(_tables(content, path, text.split("\n")))
    if not tables:
        raise EmptyInputError("says nothing: give [[deny]], [[allow]] or [[pattern]]", path=path)
    return CustomLists(
        deny=tuple(term for table in tables if table.kind == "deny" for term in table.terms()),
        allow=tuple(term for table in tables if table.kind == "allow" for term in table.terms()),
        patterns=tuple(table.pattern() for table in tables if table.kind == "pattern"),
    )


def _tables(content: Mapping[str, Any], path: Path, lines: Sequence[str]) -> Iterator[_Table]:
    for kind, found in content.items():
        problem = ""
        if kind not in _KEYS:
            problem = f"not known here: there are {', '.join(f'[[{name}]]' for name in _KEYS)}"
        elif not isinstance(found, list) or not all(isinstance(values, dict) for values in found):
            problem = f"{kind} is no list of tables: begin each with [[{kind}]]"
        if problem:
            named = re.compile(rf"[\s\[\"']*{re.escape(kind)}\b")
            line = next((number for number, text in enumerate(lines, start=1) if named.match(text)), None)
            raise FormatError(problem, path=path, line=line)
        heads = [n for n, text in enumerate(lines) if (head := _HEAD.match(text)) and head[1] == kind]
        for number, values in enumerate(found):
            yield _Table(path, lines, kind, heads[number] if number < len(heads) else None, values)


class _Table(NamedTuple):
    """One [[table]] of the file.

    Attributes:
        path: the file.
        lines: all its lines.
        kind: "deny", "allow" or "pattern".
        head: the index of the line it begins with; None where it is written in another way, such as in one line.
        values: what it says.
    """

    path: Path
    lines: Sequence[str]
    kind: str
    head: int | None
    values: Mapping[str, Any]

    def terms(self) -> list[Term]:
        """The terms of a list, and of the file that it names."""
        self._require_known()
        type_name = self._type() if self.kind == "deny" else ""
        match_case = self._flag("match_case")
        texts = self.values.get("terms", [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise self._problem('terms is no list of texts, such as ["Tawn List", "TLC"]', "terms")
        for text in texts:
            self._checked(check_term, text, "terms")
        listed = _word_list(self.path.parent / self._text("file")) if "file" in self.values else []
        if not texts and not listed:
            raise self._problem(
                "without terms: give terms = [...] or file = ...", "file" if "file" in self.values else ""
            )
        return [Term(text, type_name, match_case) for text in [*texts, *listed]]

    def pattern(self) -> Pattern:
        """The pattern of a table."""
        self._require_known()
        place = f"{self.path.name}, line {self.line('regex')}" if self.head is not None else self.path.name
        pattern = Pattern(self._text("regex"), self._type(), self._flag("match_case"), f"the pattern of {place}")
        self._checked(check_pattern, pattern, "regex")
        return pattern

    def line(self, key: str = "") -> int | None:
        """The line of a key, from 1, else that of the table's head; None where they are not lines of their own."""
        if self.head is None:
            return None
        for number, text in enumerate(self.lines[self.head + 1 :], start=self.head + 2):
            if _HEAD.match(text):
                break
            if key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", text):
                return number
        return self.head + 1

    def _require_known(self) -> None:
        for key in self.values:
            if key not in _KEYS[self.kind]:
                raise self._problem(f"a key that is not known here: there are {', '.join(_KEYS[self.kind])}", key)

    def _type(self) -> str:
        name = self._text("type")
        self._checked(check_type, name, "type")
        return name

    def _text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self._problem(f"{key} is needed, as a text", key)
        return value

    def _flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self._problem(f"{key} is neither true nor false", key)
        return value

    def _checked(self, check: Callable[[_Checked], None], value: _Checked, key: str) -> None:
        try:
            check(value)
        except DataError as error:
            raise self._problem(error.problem, key) from None

    def _problem(self, problem: str, key: str = "") -> DataError:
        return DataError(f"[[{self.kind}]] {problem}", path=self.path, line=self.line(key))


def _word_list(path: Path) -> list[str]:
    """The terms of a file: one a line; blank lines and those that begin with # say nothing."""
    found = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        text = line.strip()
        if not text or text.startswith(_COMMENT):
            continue
        try:
            check_term(text)
        except DataError as error:
            raise FormatError(error.problem, path=path, line=number) from None
        found.append(text)
    return found
