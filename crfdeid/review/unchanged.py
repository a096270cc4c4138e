"""Values that redaction leaves: of kept types, and what surrogates keep.

Surrogates keep sex, kin, ages under 90, common occupations and the country of the notes. Readers take such values for
misses unless the page shows them. The rules of `crfdeid.rules.matcher` find them in any note, and a model finds more.
Whether a value stays is asked of the surrogates themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from crfdeid.documents import Document, Span, merge, overlapping
from crfdeid.io.output import STATE_FOLDER, read_run_config
from crfdeid.label_schemes import surrogate_kind
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction.policy import KEEP, SURROGATE, Operators, parse_operators
from crfdeid.redaction.surrogates import PRESERVED_KINDS, Surrogates, guess_locale
from crfdeid.redaction.surrogates.locales import ENGLISH
from crfdeid.review.page import PageNote
from crfdeid.rules.matcher import find_rules

# Words for a sex that no rule of the table finds, for they are no PHI alone: a letter after its field, English words.
_SEX = re.compile(
    r"\b(?:(?:sexo|sex|género|gender)[ \t]*[:=][ \t]*(?P<letter>[hmfv])\b(?!['’-])"
    r"|(?P<word>male|female|man|woman|boy|girl|gentleman|lady)\b)",
    re.IGNORECASE,
)
_NO_KEY = bytes(32)  # What stays does not depend on the key.
SURROGATES = Operators(SURROGATE)
"""Surrogates for all types."""


def run_operators(redacted: Path) -> tuple[Operators, str | None]:
    """Return the operators of the run that wrote redacted notes, and the locale that its user chose.

    Args:
        redacted: the run's folder, or a file directly in it. Without settings of a run, the operators are the defaults.

    Raises:
        DataError: the settings are damaged.
    """
    folder = redacted if redacted.is_dir() else redacted.parent
    settings = read_run_config(folder / STATE_FOLDER / "settings.json") or {}
    return parse_operators(settings.get("operators") or ()), settings.get("locale")


def with_unchanged(
    notes: Sequence[PageNote],
    operators: Operators = SURROGATES,
    *,
    locale: str | None = None,
    model: Deidentifier | None = None,
) -> list[PageNote]:
    """Notes of a page with the values that redaction leaves.

    Args:
        notes: with their replaced spans.
        operators: of the redaction.
        locale: of the surrogates; None guesses it from each text.
        model: finds such values too; None for the rules alone.
    """
    bare = [replace(note.document, spans=()) for note in notes]
    marked = bare if model is None else model.annotate_documents(bare)
    return [
        replace(note, unchanged=unchanged_spans(document, operators, replaced=note.document.spans, locale=locale))
        for note, document in zip(notes, marked, strict=True)
    ]


def unchanged_spans(
    document: Document, operators: Operators = SURROGATES, *, replaced: Sequence[Span], locale: str | None = None
) -> tuple[Span, ...]:
    """The values of a note that redaction leaves; the type of each is its kind, or its type where that has no kind.

    Args:
        document: the note before redaction; its spans are checked in addition to the rules' finds.
        operators: of the redaction.
        replaced: its replaced spans.
        locale: of the surrogates; None guesses it from the text.

    Example:
        >>> note = Document("1", "Una mujer de 64 años, de España, con su madre.")
        >>> [(note.text[start:end], kind) for start, end, kind in unchanged_spans(note, replaced=[])]
        [('mujer', 'sex'), ('64 años', 'age'), ('España', 'country'), ('madre', 'kin')]
    """
    surrogates = _surrogates(locale or guess_locale(document.text) or ENGLISH)
    found = [*_by_rule(document), *document.spans]
    touched = set(overlapping(found, replaced))
    kept = {label for label in operators.types if operators[label] == KEEP}
    kept_kinds = {surrogate_kind(label) for label in kept} - {"none"}
    preserved = PRESERVED_KINDS if operators.uses(SURROGATE) else ()
    stay = []
    for span in found:
        value, kind = document.text[span.start : span.end], surrogate_kind(span.label)
        is_kept = span.label in kept or kind in kept_kinds
        if span not in touched and (is_kept or (kind in preserved and surrogates.of(value, span.label) == value)):
            stay.append(span._replace(label=span.label if kind == "none" else kind))
    return tuple(merge(stay))


def _by_rule(document: Document) -> Iterator[Span]:
    for sentence in document.sentences():
        for rule, first, stop in find_rules(sentence):
            yield Span(sentence.tokens[first].start, sentence.tokens[stop - 1].end, rule.types[0])
    for match in _SEX.finditer(document.text):
        yield Span(*match.span(match.lastgroup or 0), "SEX")


@lru_cache(maxsize=8)
def _surrogates(locale: str) -> Surrogates:
    return Surrogates(_NO_KEY, locale)
