"""Values of a document's spans as they would be written on one line, without entities and percent-encoding.

A value that a line end divides has the surrogate, number and hash of the same value elsewhere. A hyphen at the line end
may divide a word or belong to the value; the note's other values decide, and else the letters around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import compress, pairwise
from string import digits

from crfdeid.documents import Span
from crfdeid.known_phi.folding import fully_decoded
from crfdeid.label_schemes import surrogate_kind
from features.line_gaps import fold_line_gaps, hyphenated_gaps, is_hyphenated, line_gaps
from features.tokenizer import normal_form

LONGEST_VALUE = 500
"""Characters of the longest span that is read as one value: a longer one is no name, place or number."""
_MOST_HYPHENS = 2
_LONGEST_GAP = 200  # characters between two parts of a value
_SPACELESS = frozenset(["mail", "web", "net", "account"])
_OF_DIGITS = frozenset(["number", "licence", "telephone", "date"])
_JOINS, _BEGINS = "/-@_:'", "/-@_:'."  # signs that no space follows, or precedes
_GROUP = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_DAY_LENGTH = 2
_MOST_GROUPS = 3  # of a date: day, month and year
_PUNCTUATION = ".,;:()[]\"'"


def span_values(text: str, spans: Sequence[Span], parts: Sequence[bool] | None = None) -> list[str]:
    """Return the values of spans in normal form, decoded and without the line ends in them.

    Each part of a value that a hyphen at a line end divides into spans (`continuing`) has the whole value.

    Args:
        text: the document's text.
        spans: its spans, in order.
        parts: the result of `continuing`, if the caller has it.

    Example:
        >>> span_values("Zaran-\\n dona; Ana\\nMarsh", [Span(0, 12, "DOCTOR"), Span(14, 23, "DOCTOR")])
        ['Zarandona', 'Ana Marsh']
    """
    places = _wholes(spans, parts or continuing(text, spans))
    whole = {place: normal_form(fully_decoded(text[slice(*place)])).text for place in dict.fromkeys(places)}
    values = [whole[place] for place in places]
    divided = [len(value) <= LONGEST_VALUE and next(line_gaps(value), None) is not None for value in values]
    if not any(divided):
        return values
    known = {
        word.strip(_PUNCTUATION)
        for value, is_divided in zip(values, divided, strict=True)
        if not is_divided
        for word in value.casefold().split()
    }
    kinds = [surrogate_kind(span.label) for span in spans]
    joined = {
        pair: _on_one_line(*pair, known) for pair in dict.fromkeys(compress(zip(values, kinds, strict=True), divided))
    }
    return [joined.get(pair, pair[0]) for pair in zip(values, kinds, strict=True)]


def continuing(text: str, spans: Sequence[Span]) -> list[bool]:
    """Return True for each span that continues the value of the span before it, after a hyphen at a line end.

    Models tag each sentence by itself, and a line end may be taken for the end of one. A value has at most
    `LONGEST_VALUE` characters.

    Args:
        text: the document's text.
        spans: its spans, in order.

    Example:
        >>> continuing("Zaran-\\n dona", [Span(0, 6, "DOCTOR"), Span(8, 12, "DOCTOR")])
        [False, True]
    """
    found = [False] * len(spans)
    begin = 0  # of the whole value
    for i, (one, other) in enumerate(pairwise(spans), start=1):
        begin = begin if found[i - 1] else one.start
        before = text[max(one.start + 1, one.end - _MOST_HYPHENS) : one.end]
        between = before + text[one.end : other.start]
        is_long = len(between) > _LONGEST_GAP or other.end - begin > LONGEST_VALUE
        if is_long or surrogate_kind(one.label) != surrogate_kind(other.label):
            continue
        gap = next(hyphenated_gaps(between), None)
        found[i] = gap is not None and gap.start() <= len(before) and gap.end() == len(between)
    return found


def _wholes(spans: Sequence[Span], continuations: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the offsets of the whole value of each span."""
    places: list[tuple[int, int]] = []
    parts = 0
    for span, continues in zip(spans, continuations, strict=True):
        parts = parts + 1 if continues else 1
        start = places[-1][0] if continues else span.start
        places[len(places) - parts + 1 :] = [(start, span.end)] * parts
    return places


def _on_one_line(value: str, kind: str, known: Set[str]) -> str:
    gaps = [*line_gaps(value)]
    ends = [*(gap.start() for gap in gaps[1:]), len(value)]
    found = value[: gaps[0].start()]
    for gap, end in zip(gaps, ends, strict=True):
        after = value[gap.end() : end]
        joint = _known_joint(found, after, known, hyphenated=is_hyphenated(gap[0]))
        if joint is None and is_hyphenated(gap[0]):
            joint = _after_hyphen(found, after, fold_line_gaps(value[gap.end() :]), kind)
        elif joint is None:
            joint = "" if _is_one_word(found, after, kind) else " "
        found += joint + after
    return found


def _known_joint(before: str, after: str, known: Set[str], *, hyphenated: bool) -> str | None:
    """Return what makes the words around a line end those of another value: nothing, a hyphen or a space; else None."""
    if not before.strip() or not after.strip():
        return None
    one, other = before.casefold().rsplit(maxsplit=1)[-1], after.casefold().split(maxsplit=1)[0]
    for joint in ("", "-")[: 1 + hyphenated]:
        if f"{one}{joint}{other}".strip(_PUNCTUATION) in known:
            return joint
    return " " if hyphenated and {one.strip(_PUNCTUATION), other.strip(_PUNCTUATION)} <= known else None


def _after_hyphen(before: str, after: str, rest: str, kind: str) -> str:
    """Return a hyphen that belongs to the value, as after "Anne" and in a number with another hyphen, or else ""."""
    last, first = before[-1:], after[:1]
    if kind in _SPACELESS or not (last.isalnum() and first.isalnum()):
        return ""
    if last.isalpha() and first.isalpha():
        return "-" if last.islower() and first.isupper() else ""
    if kind not in _OF_DIGITS:
        return " " if last.isdigit() != first.isdigit() else ""
    if kind != "date":
        return "-" if "-" in before + rest else ""
    word = f"{before.rsplit(maxsplit=1)[-1]}-{rest.split(maxsplit=1)[0]}"
    groups, is_alone = len(_GROUP.findall(word)), word == f"{before}-{rest}"
    is_kept = groups == _MOST_GROUPS or (is_alone and groups < _MOST_GROUPS)
    return "-" if is_kept and not _is_year(before, rest) else ""


def _is_one_word(before: str, after: str, kind: str) -> bool:
    """Return True if a line end without a hyphen divides a word or a number, or follows a sign in one."""
    last, first = before[-1:], after[:1]
    if kind in _SPACELESS or last in _JOINS or first in _BEGINS or (last == "." and first.isdigit()):
        return True
    if kind != "date" or not (last.isdigit() and first.isdigit()):
        return False
    return len(_number_around(before, after)) <= _DAY_LENGTH or _is_year(before, after)


def _is_year(before: str, after: str) -> bool:
    """Return True if the digits around a line end are the year of a date without another one."""
    return _YEAR.fullmatch(_number_around(before, after)) is not None and not _YEAR.search(f"{before} {after}")


def _number_around(before: str, after: str) -> str:
    """Return the digits before and after a line end as one number."""
    return before[len(before.rstrip(digits)) :] + after[: len(after) - len(after.lstrip(digits))]
