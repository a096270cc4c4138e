"""A site's own lists and patterns: what its notes always hide, and what they never hide.

- A term of a deny list is hidden wherever it stands as whole words, whatever its case, accents and signs.
- What a pattern finds is hidden.
- A term of an allow list takes a model's find away where the two are the same words. It takes away no part of a longer
  find, and nothing that a deny list, a pattern or a patient's record asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from unicodedata import normalize

import regex

from crfdeid.documents import Span
from crfdeid.errors import DataError
from crfdeid.given.folded import Folded, Phrases, fold

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
class Site:
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

    def joined(self, other: Site) -> Site:
        """The lists of both."""
        return Site(self.deny + other.deny, self.allow + other.allow, self.patterns + other.patterns)

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
    def of(cls, data: Mapping[str, Sequence[Mapping[str, Any]]]) -> Site:
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
                raise DataError(problem) from None


def check_term(text: str) -> None:
    """Refuse a term that nothing could be found by.

    Raises:
        DataError: it has neither a letter nor a digit.
    """
    if not fold(text):
        raise DataError("a term without a letter or digit: nothing could be found by it")


def check_type(name: str) -> None:
    """Refuse a type that formats cannot hold.

    Raises:
        DataError: it is no name of a type.
    """
    if not _TYPE.fullmatch(name):
        raise DataError('not a type: give a name of letters, digits, "_" and "-", such as HOSPITAL')


def check_pattern(pattern: Pattern) -> None:
    """Refuse a pattern that cannot work, or that takes too long for a short line.

    Raises:
        DataError: it cannot be read, finds the empty text, or blows up.
    """
    try:
        compiled = _compiled(pattern)
    except (regex.error, OverflowError, RecursionError):
        raise DataError("not an expression that the package regex can read: correct it") from None
    try:
        if any(match.start() == match.end() for match in compiled.finditer("", timeout=SECONDS)):
            raise DataError("an expression that finds the empty text: let it ask for a character or more")
        for probe in _PROBES:
            for _ in compiled.finditer(probe, timeout=PROBE_SECONDS):
                pass
    except TimeoutError:
        problem = "an expression that takes too long: write it without repetitions within repetitions, such as (a+)+"
        raise DataError(problem) from None


@lru_cache(maxsize=1 << 10)
def _compiled(pattern: Pattern) -> regex.Pattern[str]:
    return regex.compile(pattern.regex, 0 if pattern.match_case else regex.IGNORECASE)


def _is_spelled(value: str, term: Term) -> bool:
    """Whether a value that has the term's letters has them as the term asks for."""
    return not term.match_case or _signless(value) == _signless(term.text)


def _signless(text: str) -> str:
    """The letters and digits of a text as they are written."""
    return "".join(character for character in normalize("NFC", text) if character.isalnum())
