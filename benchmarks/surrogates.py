"""How believable surrogates are, and whether intervals and ages still hold: on notes with annotated PHI.

    python benchmarks/surrogates.py meddocan/dev/brat
    python benchmarks/surrogates.py

Every gold span is replaced by its surrogate (no model is needed), each note as a patient of its own; by default those
of the synthetic corpus. The table has, for each type, the share of values whose surrogate is of the same form, by the
rules of `believable`, the share that stayed by rule, and the share that got the name of the type instead. Then: in how
many notes with two whole dates all intervals between them stayed, and in how many with a date of birth, a later date
and an age the age is that between the two, before and after.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tabulate import tabulate

from crfdeid.corpora import read_corpus
from crfdeid.corpora.splits import generate_corpus
from crfdeid.documents import Document, merge
from crfdeid.label_schemes import surrogate_kind
from crfdeid.redaction.redact import redact
from crfdeid.redaction.surrogates import date_order_of, guess_locale
from crfdeid.redaction.surrogates.chooser import casefold_accents
from crfdeid.redaction.surrogates.demographics import generalise_age, preserve_kin, preserve_sex
from crfdeid.redaction.surrogates.place_tables import known_countries

SECRET = b"a secret for the benchmark"
WORDS = re.compile(r"[^\W\d_]+")
Pair = tuple[str, str]


def believable(kind: str, before: str, after: str) -> bool:
    """Whether a surrogate is of the same form as its value, judged by their texts alone."""
    rule = RULES.get(kind)
    return bool(WORDS.search(before)) == bool(WORDS.search(after)) if rule is None else rule(before, after)


def same_date_form(before: str, after: str) -> bool:
    """The same marks between as many words and numbers, and a whole date where there was one."""
    marks = [re.sub(r"\w+", "w", text) for text in (before, after)]
    return marks[0] == marks[1] and (whole_date(before, "dmy") is None) == (whole_date(after, "dmy") is None)


def same_digits(before: str, after: str) -> bool:
    return [c.isdigit() for c in before] == [c.isdigit() for c in after]


def same_capitals(before: str, after: str) -> bool:
    return [w[0].isupper() for w in WORDS.findall(before)] == [w[0].isupper() for w in WORDS.findall(after)]


def still_a_hospital(before: str, after: str) -> bool:
    said = [re.search("hospital|cl[ií]nic", text, re.IGNORECASE) for text in (before, after)]
    return bool(said[1]) or not said[0]


RULES: dict[str, Callable[[str, str], bool]] = {
    "date": same_date_form,
    "telephone": lambda before, after: re.sub(r"\d", "0", before) == re.sub(r"\d", "0", after),
    "number": same_digits,
    "country": lambda before, after: casefold_accents(after) in known_countries(),
    "person": same_capitals,
    "mail": lambda before, after: re.fullmatch(r"[a-z]+\d\d@example\.[a-z]+", after) is not None,
    "hospital": still_a_hospital,
    "street": lambda before, after: len(re.findall(r"\d+", before)) == len(re.findall(r"\d+", after)),
    "sex": lambda before, after: preserve_sex(after) == after,
    "kin": lambda before, after: preserve_kin(after, lambda name: name if name.istitle() else None) == after,
    "age": lambda before, after: generalise_age(after) == after,
}


def whole_date(text: str, order: str | None) -> dt.date | None:
    """The date that a text of three numbers says, in an order; None where it is none."""
    match = re.fullmatch(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})", text.strip())
    if not match:
        return None
    first, second, year = map(int, match.groups())
    try:
        return dt.date(year, first, second) if order == "mdy" else dt.date(year, second, first)
    except ValueError:
        return None


def holds(pairs: Sequence[Pair], order: str | None) -> bool | None:
    """Whether all intervals between whole dates are what they were; None where there are not two dates."""
    moves = set()
    for before, after in pairs:
        old = whole_date(before, order)
        if old is not None:
            new = whole_date(after, order)
            moves.add(None if new is None else (new - old).days)
    count = sum(whole_date(before, order) is not None for before, _ in pairs)
    return None if count < 2 else len(moves) == 1 and None not in moves


def age_agrees(dates: Sequence[str], ages: Sequence[str], order: str | None) -> bool | None:
    """Whether an age in figures is that between the first date and a later one; None where there is none to compare."""
    known = sorted(day for day in (whole_date(text, order) for text in dates) if day is not None)
    in_years = (text for text in ages if not re.search("mes|d[ií]a|month|day|week", text))
    said = {int(found.group()) for text in in_years if (found := re.search(r"\d+", text))}
    if len(known) < 2 or not said:
        return None
    birth = known[0]
    return any(day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day)) in said for day in known[1:])


def values(document: Document) -> list[tuple[str, str, str]]:
    """Type, value and surrogate of each span; an English or Spanish locale by the text, else English."""
    locale = guess_locale(document.text) or "en_US"
    spans = merge(document.spans)
    found = redact(document, "surrogate", secret=SECRET, locale=locale)
    return [
        (span.label, document.text[span.start : span.end], found.text[other.start : other.end])
        for span, other in zip(spans, found.spans, strict=True)
    ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=Path, nargs="?", help="annotated notes (default: the synthetic corpus's dev)")
    args = parser.parse_args()
    documents = read_corpus(args.notes) if args.notes else generate_corpus("default", types="all").dev.documents
    counts: dict[str, Counter[str]] = {}
    intervals, before, after = Counter[bool | None](), Counter[bool | None](), Counter[bool | None]()
    for document in documents:
        rows = values(document)
        for label, value, surrogate in rows:
            count = counts.setdefault(label, Counter())
            kind = "label" if surrogate == f"[{label}]" else "kept" if surrogate == value else "believable"
            count[kind if kind != "believable" or believable(surrogate_kind(label), value, surrogate) else "other"] += 1
        order = date_order_of(document.text)
        dates = [(value, surrogate) for label, value, surrogate in rows if surrogate_kind(label) == "date"]
        ages = [(value, surrogate) for label, value, surrogate in rows if surrogate_kind(label) == "age"]
        intervals[holds(dates, order)] += 1
        before[age_agrees([a for a, _ in dates], [a for a, _ in ages], order)] += 1
        after[age_agrees([b for _, b in dates], [b for _, b in ages], order)] += 1
    columns = ("believable", "kept", "label", "other")
    table = [
        [label, sum(c.values()), *(f"{100 * c[k] / sum(c.values()):.1f}" for k in columns)]
        for label, c in sorted(counts.items())
    ]
    head = ["type", "values", *(f"{name} %" for name in columns)]
    print(tabulate(table, head, tablefmt="pipe", disable_numparse=True))
    print(f"\nintervals between whole dates hold in {intervals[True]} of {intervals[True] + intervals[False]} notes")
    compared = before[True] + before[False]
    print(f"an age agrees with two dates in {before[True]} of {compared} notes before, in {after[True]} after")


if __name__ == "__main__":
    main()
