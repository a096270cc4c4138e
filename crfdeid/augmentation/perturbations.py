"""Perturbations: rewrites of annotated notes on which `crfdeid evaluate --perturb` measures a model.

They are the rewrites that training learns from, and others that it does not: values that systems, printers and scanners
deform, dates in other forms, and names of other origins. All keep the annotations aligned, and the same notes give the
same rewrites.

Reference:
    Ribeiro, Wu, Guestrin and Singh 2020 (ACL), Beyond accuracy: behavioral testing of NLP models with CheckList.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random

from crfdeid.augmentation.layout import LayoutRewriter
from crfdeid.augmentation.rewrites import (
    Edit,
    by_character,
    in_capitals,
    in_small_letters,
    with_edits,
    with_other_values,
    without_accents,
)
from crfdeid.documents import PHI, Document, Span
from crfdeid.errors import UnknownNameError
from crfdeid.label_schemes import surrogate_kind
from crfdeid.redaction.surrogates.locales import guess_locale, puts_month_first
from crfdeid.redaction.surrogates.words import DEFAULT_LOCALE
from crfdeid.redaction.surrogates.written_dates import date_order_of, written_dates

ORIGINS = ("american", "german", "polish", "turkish", "arabic", "indian", "chinese", "vietnamese", "yoruba")
"""Origins of names, tables of `crfdeid.corpora.templates`."""
_SEED = 0
_SHARE_MISREAD = 0.03
_MISREAD = {"l": "1", "1": "l", "O": "0", "0": "O", "S": "5", "5": "S", "B": "8", "8": "B", "m": "rn", "e": "c"}
_DASHES = {"-": "\u2011", "\u2013": "-", "\u2014": "-", "\u2010": "-", "\u2011": "-"}
_DATE_FORMS: Sequence[Callable[[dt.date], str]] = (
    lambda day: day.isoformat(),
    lambda day: f"{day:%d.%m.%Y}",
    lambda day: f"{day:%Y%m%d}",
    lambda day: f"{day:%Y/%m/%d}",
    lambda day: f"{day:%d-%b-%y}".upper(),
)
_NAME_WORD = re.compile(r"[^\W\d_][^\W\d_]+")

Perturbation = Callable[[Document, Random], Document | None]
"""Rewrites a note, with a source of choices; None for a note that it leaves as it is."""


def _laid_out(document: Document, rng: Random) -> Document | None:
    return _layouts(document, rng)(document)


def _wrapped(document: Document, rng: Random) -> Document | None:
    return _layouts(document, rng).wrap(document)


def _layouts(document: Document, rng: Random) -> LayoutRewriter:
    return LayoutRewriter({span.label for span in document.layer(PHI)}, seed=rng.randrange(1 << 30))


def _with_other_dashes(document: Document, _: Random) -> Document:
    return by_character(document, lambda character: _DASHES.get(character, character))


def _glued(document: Document, _: Random) -> Document:
    """A note whose values lack the space before them."""
    text = document.text
    return with_edits(document, [(s.start - 1, s.start, "") for s in document.spans if text[: s.start].endswith(" ")])


def _with_underscores(document: Document, _: Random) -> Document:
    """A note with underscores in place of the spaces in and around its values, as in names of files."""
    text = document.text
    around = {i for span in document.spans for i in range(max(span.start - 1, 0), span.end + 1)}
    return with_edits(document, [(i, i + 1, "_") for i in sorted(around) if text[i : i + 1] == " "])


def _misread(document: Document, rng: Random) -> Document:
    """A note with some characters as a scanner misreads them."""
    places = (i for i, character in enumerate(document.text) if character in _MISREAD)
    return with_edits(
        document, [(i, i + 1, _MISREAD[document.text[i]]) for i in places if rng.random() < _SHARE_MISREAD]
    )


def _with_other_dates(document: Document, rng: Random) -> Document:
    """A note with its whole dates in another form."""
    locale = guess_locale(document.text) or DEFAULT_LOCALE
    order = date_order_of(document.text)
    month_first = puts_month_first(locale) if order is None else order == "mdy"
    form = rng.choice(_DATE_FORMS)

    def edits() -> Iterator[Edit]:
        for start, end, label in _apart(document.spans):
            value = document.text[start:end]
            found = written_dates(value, month_first=month_first, locale=locale) or ()
            if surrogate_kind(label) == "date" and len(found) == 1 and (day := found[0].whole) is not None:
                yield start, end, form(day)

    return with_edits(document, list(edits()))


def _with_names_of(origin: str, document: Document, rng: Random) -> Document:
    """A note with the names of its people replaced by those of an origin; a word has one replacement in a note."""
    from crfdeid.corpora.templates.tables import origins_of  # noqa: PLC0415  Faker takes long to import.

    names = origins_of("english", "test")[origin]
    chosen: dict[str, str] = {}

    def edits() -> Iterator[Edit]:
        for start, end, label in _apart(document.spans):
            if surrogate_kind(label) != "person":
                continue
            words = list(_NAME_WORD.finditer(document.text, start, end))
            for number, word in enumerate(words, start=1):
                pool = names.family if number == len(words) else rng.choice((names.female, names.male))
                new = chosen.setdefault(word[0].casefold(), rng.choice(pool.own))
                yield word.start(), word.end(), new.upper() if word[0].isupper() else new

    return with_edits(document, list(edits()))


def _apart(spans: Sequence[Span]) -> Iterator[Span]:
    """The spans, without those that overlap an earlier one."""
    end = 0
    for span in sorted(spans):
        if span.start >= end:
            yield span
            end = span.end


PERTURBATIONS: Mapping[str, Mapping[str, Perturbation]] = {
    "layout": {"layout": _laid_out},
    "lines": {"line breaks": _wrapped},
    "case": {
        "small letters": lambda document, _: in_small_letters(document),
        "capitals": lambda document, _: in_capitals(document),
    },
    "accents": {"no accents": lambda document, _: without_accents(document)},
    "dashes": {"other dashes": _with_other_dashes},
    "glued": {"glued values": _glued},
    "underscores": {"underscores": _with_underscores},
    "ocr": {"misread characters": _misread},
    "dates": {"dates in another form": _with_other_dates},
    "values": {"other values": lambda document, _: with_other_values(document, 0)},
    "names": {f"names, {origin}": partial(_with_names_of, origin) for origin in ORIGINS},
}
"""The perturbations of each kind, by their names in tables."""


def parse_perturbations(text: str) -> tuple[str, ...]:
    """Parse an option's kinds of perturbations, several with commas or "all", into the order of `PERTURBATIONS`.

    Raises:
        UnknownNameError: an unknown kind.

    Example:
        >>> parse_perturbations("glued,case")
        ('case', 'glued')
    """
    names = set(text.split(","))
    if unknown := names - {*PERTURBATIONS, "all"}:
        raise UnknownNameError(f"unknown rewrites '{min(unknown)}': choose from all, {', '.join(PERTURBATIONS)}")
    return tuple(kind for kind in PERTURBATIONS if kind in names or "all" in names)


def perturb(name: str, rewrite: Perturbation, documents: Sequence[Document]) -> list[Document]:
    """Rewrite notes by one perturbation; those that it leaves as they are are left out.

    Args:
        name: its name, which decides its choices with the note's id.
        rewrite: one of `PERTURBATIONS`.
        documents: annotated notes. Those whose tokens came with the data are left out, too.
    """
    found = []
    for document in documents:
        if document.pretokenized is not None:
            continue
        copy = rewrite(document, Random(f"{_SEED} {name} {document.id}"))
        if copy is not None and copy.text != document.text:
            found.append(copy)
    return found
