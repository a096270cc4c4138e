"""Features of expressions that are several tokens long and have a known form: dates, telephone numbers, identifiers.

The tokeniser takes "03/14/72" apart; a pattern sees it whole again. The rules are a table: where several match, the one
that starts first wins, and of those the first in the table. What is not PHI but looks alike (doses, ages, ratios) has
rules too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np

from features.columns import BOS, EOS, Column, Extractor, SentenceBatch, window_heads
from features.languages import DEFAULT_LANGUAGES, with_defaults
from features.lexicons import month_numbers, months_after_stop
from features.tokens import Sentence

_DAY = r"[0-3]?\d(?:st|nd|rd|th|er|º)?"
_YEAR = r"(?:19|20)\d\d"
_OF = r"(?: ?, ?| del? año | del? | of | |-|/)"
_UNIT = (
    r"(?:mg|mcg|µg|ug|ng|pg|kg|gr?|ml|dl|l|mmhg|mmol|meq|mm|cm|m|iu|ui|u|hz|bpm|lpm|units?|tabs?|tablets?|hours?|horas?|"
    r"hrs?|h|days?|d[ií]as?|weeks?|semanas?|months?|mes|meses|min|minutes?|minutos?)"
)


@cache
def written_date(languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> str:
    """Expression of dates with the month as a word of some languages."""
    month, after_stop = (_any_of(words) for words in (month_numbers(languages), months_after_stop(languages)))
    return "|".join(
        [
            rf"{_DAY}{_OF}{month}\.?(?:{_OF}(?:{_YEAR}|\d\d))?",
            rf"{month}\.?{_OF}{_DAY}(?:{_OF}{_YEAR})?",
            rf"[0-3]?\d\. ?{after_stop}\.?(?:{_OF}(?:{_YEAR}|\d\d))?",
        ]
    )


def _any_of(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(words))})"


@cache
def patterns(languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> Mapping[str, str]:
    """Name -> expression of known form, without regard to case. A space matches any white space between tokens."""
    month = rf"{_any_of(month_numbers(languages))}\.?"
    dates = [rf"\d\d?{sep}\d\d?{sep}(?:{_YEAR}|\d\d)|{_YEAR}{sep}\d\d?{sep}\d\d?" for sep in (" ?/ ?", "-", r"\.")]
    return {
        "email": r"[\w.+-]{1,64}+ ?@ ?[\w-]{1,64}+(?: ?\.[\w-]{1,64}+){1,4}",
        "url": r"(?:https?://|www\.)\S{1,200}",
        "date": "|".join([*dates, written_date(languages)]),
        "month": rf"(?:mes de )?{month}{_OF}(?:{_YEAR}|\d\d)|(?:mes de ){month}|\d\d?[/-]{_YEAR}",
        **_WITHOUT_MONTHS,
    }


_WITHOUT_MONTHS = {
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
PATTERNS = patterns()
# Every expression has a digit or one of these; half of all sentences have none.
_WORTH_A_LOOK = re.compile(r"\d|@|www|http|mes de")
# Position of a token: outside of all expressions, beyond the sentence; then first, inside and last of each.
_OUTSIDE = 0
_VALUES = ("O", BOS, EOS, *(f"{place}-{name}" for name in PATTERNS for place in "BIE"))
_OPENING = {name: _VALUES.index(f"B-{name}") for name in PATTERNS}


@cache
def _any(languages: tuple[str, ...], *, email: bool) -> re.Pattern[str]:
    """The expression for all expressions, made when it is first used: that takes time. Addresses need an "@"."""
    # How all but an e-mail address begin; most words are done with by that. Months by their first letter: that is
    # faster.
    starts: dict[str, list[str]] = {}
    for start in sorted({month[:3] for month in month_numbers(languages)}):
        starts.setdefault(start[0], []).append(start[1:])
    months = "|".join(f"{first}(?:{'|'.join(others)})" for first, others in starts.items())
    begins = rf"(?=[(+#]? ?\d|[a-z]{{1,4}}+[-/]?\d|www|http|mes de|{months})"
    forms = "|".join(f"(?P<{name}>{form})" for name, form in patterns(languages).items() if email or name != "email")
    return re.compile(rf"(?<!\w){'' if email else begins}(?:{forms})(?!\w)")


def find_patterns_in(
    sentences: Sequence[Sentence], languages: tuple[str, ...] = DEFAULT_LANGUAGES
) -> Iterator[tuple[int, str, int, int]]:
    """The expressions of some sentences: the sentence's number, the name in `PATTERNS`, the tokens from and up to.

    Example:
        >>> from features.sentences import split_sentences
        >>> list(find_patterns_in(split_sentences("Seen 03/14/72, took 5 mg")))
        [(0, 'date', 1, 6), (0, 'measure', 8, 10)]
    """
    folded_texts = [lower_for_patterns(sentence.spaced) for sentence in sentences]
    numbers = [number for number, text in enumerate(folded_texts) if _WORTH_A_LOOK.search(text)]
    for email in (False, True):
        some = [number for number in numbers if ("@" in folded_texts[number]) is email]
        # They are searched together, since no expression reaches over a line end.
        texts = [folded_texts[number] for number in some]
        begins = [*accumulate([len(text) + 1 for text in texts], initial=0)]
        current, ends = -1, list[int]()
        for match in _any(languages, email=email).finditer("\n".join(texts)) if texts else ():
            start, end = match.span()
            if start >= begins[current + 1]:
                current = bisect_right(begins, start) - 1
                ends = sentences[some[current]].token_ends()
            begin = begins[current]
            first, stop = bisect_right(ends, start - begin), bisect_right(ends, end - begin - 1) + 1
            yield some[current], str(match.lastgroup), first, stop


def lower_for_patterns(text: str) -> str:
    """A text in small letters, of the same length, for expressions in small letters.

    They match as without regard to case on the text itself, in half the time. Without regard to case, "İ" and "ı" are
    an "i" for `re`, "ſ" is an "s" and "μ" a "µ".

    Example:
        >>> lower_for_patterns("3 MAYO, İ")
        '3 mayo, i'
    """
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").lower().replace("ı", "i").replace("ſ", "s").replace("μ", "µ")


@dataclass(frozen=True)
class Patterns(Extractor):
    """The expression of known form that the token and its neighbours are part of, and the token's position in it.

    ``pattern[0]=B-date`` at the first token of a date, ``I-date`` inside, ``E-date`` at the last one.

    Args:
        window: tokens on each side.
        languages: codes of the languages of months, in addition to `DEFAULT_LANGUAGES`.

    Example:
        >>> from features.sentences import split_sentences
        >>> Patterns(window=0).extract(split_sentences("on 1/2/72")[0])[:2]
        [['pattern[0]=O'], ['pattern[0]=B-date']]
    """

    window: int = 1
    languages: tuple[str, ...] = DEFAULT_LANGUAGES

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """The features of a batch, kind by kind."""
        heads = tuple(head for _, head in window_heads("pattern", self.window))
        values = bytearray(len(batch.numbers))  # of each token, its index in `_VALUES`
        for number, name, first, stop in find_patterns_in(batch.sentences, with_defaults(self.languages)):
            begin, opening = int(batch.begins[number]), _OPENING[name]
            values[begin + first : begin + stop] = bytes([opening + 1]) * (stop - first)
            values[begin + stop - 1] = opening + 2
            values[begin + first] = opening
        around, _ = batch.padded(np.frombuffer(values, np.uint8), self.window, _OUTSIDE + 1, _OUTSIDE + 2)
        return [Column(heads, _VALUES, around)]

    def describe(self) -> str:
        """A one-line description of the features."""
        return f"expressions of known form ({', '.join(PATTERNS)}) in [-{self.window}, {self.window}]"
