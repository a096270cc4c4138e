"""Features of expressions that are several tokens long and have a known form: dates, telephone numbers, identifiers.

The tokeniser takes "03/14/72" apart; a pattern sees it whole again. The rules are a table: where several match, the one
that starts first wins, and of those the first in the table. What is not PHI but looks alike (doses, ages, ratios) has
rules too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from features.batch import Batch
from features.columns import AFTER, BEFORE, Column, Extractor, window_heads
from features.lexicons import MONTHS
from features.tokens import Sentence

_MONTH = rf"(?:{'|'.join(sorted(MONTHS))})\.?"
_DAY = r"[0-3]?\d(?:st|nd|rd|th|º)?"
_YEAR = r"(?:19|20)\d\d"
_OF = r"(?: ?, ?| del? año | del? | of | |-|/)"
_UNIT = (
    r"(?:mg|mcg|µg|ug|ng|pg|kg|gr?|ml|dl|l|mmhg|mmol|meq|mm|cm|m|iu|ui|u|hz|bpm|lpm|units?|tabs?|tablets?|hours?|horas?|"
    r"hrs?|h|days?|d[ií]as?|weeks?|semanas?|months?|mes|meses|min|minutes?|minutos?)"
)

WRITTEN_DATE = "|".join([rf"{_DAY}{_OF}{_MONTH}(?:{_OF}(?:{_YEAR}|\d\d))?", rf"{_MONTH}{_OF}{_DAY}(?:{_OF}{_YEAR})?"])
"""Dates with the month as a word, in English and Spanish."""

# Name -> what the expression looks like, without regard to case. A space stands for any white space between tokens.
PATTERNS: dict[str, str] = {
    "email": r"[\w.+-]{1,64}+ ?@ ?[\w-]{1,64}+(?: ?\.[\w-]{1,64}+){1,4}",
    "url": r"(?:https?://|www\.)\S{1,200}",
    "date": "|".join(
        [rf"\d\d?{sep}\d\d?{sep}(?:{_YEAR}|\d\d)|{_YEAR}{sep}\d\d?{sep}\d\d?" for sep in (" ?/ ?", "-", r"\.")]
        + [WRITTEN_DATE]
    ),
    "month": rf"(?:mes de )?{_MONTH}{_OF}(?:{_YEAR}|\d\d)|(?:mes de ){_MONTH}|\d\d?[/-]{_YEAR}",
    "time": r"\d\d?:\d\d(?::\d\d)?(?: ?[ap]\.?m\.?)?",
    "age": r"\d{1,3}[ -]?(?:year|yr|y/?o|años?|a)s?(?:[ -]old)?",
    "measure": rf"\d{{1,6}}(?:[.,]\d{{1,4}})?(?: ?[-x] ?\d{{1,6}}(?:[.,]\d{{1,4}})?)? ?(?:{_UNIT}(?:/\w{{1,8}})?|%)",
    "ssn": r"\d{3}-\d\d-\d{4}",
    "phone": (
        r"(?:\+ ?\d{1,3}[ .-]{0,3})?(?:\(\d{2,4}\) ?)?\d{2,4}(?:[ .-]{1,3}\d{2,4}){2,4}|\+? ?\d\d[- ]{0,2}\d{9}|\d{9}"
        r"|(?:\(\d{3}\) ?)?\d{3}[ .-]\d{4}"
    ),
    "zip": r"\d{5}(?:-\d{4})?|[a-z]-\d{5}",
    "year": _YEAR,
    "code": r"[a-z]{1,4}[-/]?\d[\w/-]{2,20}|\#? ?\d{6,12}(?:[/-]\d{1,4}){0,2}|\d{4,8}[/-]\d{1,8}",
    "ratio": r"\d{1,3}/\d{1,3}",
    "decimal": r"\d{1,4}[.,]\d{1,4}",
}
# Every expression has a digit or one of these; half of all sentences have none.
_WORTH_A_LOOK = re.compile(r"\d|@|www|http|mes de")
# How all but an e-mail address begin; most words are done with by that. Months by their first letter: that is faster.
_STARTS = sorted({month[:3] for month in MONTHS})
_IN_MONTHS = "|".join(
    f"{a}(?:{'|'.join(s[1:] for s in _STARTS if s[0] == a)})" for a in sorted({s[0] for s in _STARTS})
)
_START = rf"(?=[(+#]? ?\d|[a-z]{{1,4}}+[-/]?\d|www|http|mes de|{_IN_MONTHS})"


@cache
def _any(*, email: bool) -> re.Pattern[str]:
    """The expression for all expressions, made when it is first used: that takes time. Addresses need an "@"."""
    forms = "|".join(f"(?P<{name}>{form})" for name, form in PATTERNS.items() if email or name != "email")
    return re.compile(rf"(?<!\w){'' if email else _START}(?:{forms})(?!\w)")


def find_patterns(sentence: Sentence) -> Iterator[tuple[str, int, int]]:
    """The expressions of a sentence: name in `PATTERNS`, first token, and the token after the last.

    Example:
        >>> from features.tokens import split_sentences
        >>> list(find_patterns(split_sentences("Seen 03/14/72, took 5 mg")[0]))
        [('date', 1, 6), ('measure', 8, 10)]
    """
    text = folded(sentence.spaced)
    if not _WORTH_A_LOOK.search(text):
        return
    ends: list[int] = []
    for match in _any(email="@" in text).finditer(text):
        ends = ends or sentence.token_ends()
        yield str(match.lastgroup), bisect_right(ends, match.start()), bisect_right(ends, match.end() - 1) + 1


def folded(text: str) -> str:
    """A text in small letters, as long as it was, for expressions in small letters.

    They find in it what they would find in the text without regard to case, in half the time. Without regard to case,
    "İ" and "ı" are an "i" for `re`, "ſ" is an "s" and "μ" a "µ".

    Example:
        >>> folded("3 MAYO, İ")
        '3 mayo, i'
    """
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").lower().replace("ı", "i").replace("ſ", "s").replace("μ", "µ")


@dataclass(frozen=True)
class Patterns(Extractor):
    """The expression of known form that the token and its neighbours are part of, and where in it the token stands.

    ``pattern[0]=B-date`` at the first token of a date, ``I-date`` inside, ``E-date`` at the last one.

    Args:
        window: tokens on each side.

    Example:
        >>> from features.tokens import split_sentences
        >>> Patterns(window=0).extract(split_sentences("on 1/2/72")[0])[:2]
        [['pattern[0]=O'], ['pattern[0]=B-date']]
    """

    window: int = 1

    def columns(self, batch: Batch) -> list[Column]:
        """The features of the sentences, kind by kind."""
        heads = tuple(head for _, head in window_heads("pattern", self.window))
        values: list[str] = []
        counts: list[int] = []
        for sentence in batch.sentences:
            places = _places(sentence)
            values += BEFORE, *(places or ["O"]), AFTER
            counts += self.window, *([1] * len(places) or [len(sentence.tokens)]), self.window
        return [Column(heads, values, counts)]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"expressions of known form ({', '.join(PATTERNS)}) in [-{self.window}, {self.window}]"


def _places(sentence: Sentence) -> list[str]:
    """Where in which expression each token stands; nothing where there is no expression."""
    places: list[str] = []
    for name, first, stop in find_patterns(sentence):
        places = places or ["O"] * len(sentence.tokens)
        places[first:stop] = [f"I-{name}"] * (stop - first)
        places[stop - 1] = f"E-{name}"
        places[first] = f"B-{name}"
    return places
