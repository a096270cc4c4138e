"""Operators of redaction: one table with the text that each writes, the keys that it needs, and how it is described."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crfdeid.documents import Document, Span
from crfdeid.known_phi.folding import fully_decoded
from crfdeid.label_schemes import TO_SEVEN, surrogate_kind
from crfdeid.redaction.values import LONGEST_VALUE, continuing, span_values
from crfdeid.secrets import Keys, hash_value
from features.tokenizer import normal_form

if TYPE_CHECKING:
    from crfdeid.redaction.round_trip import TokenMap

_ASTERISK = "*"
_OF_AGES = ("age", "kin")


def this_year() -> int:
    """Return the year of the run."""
    return datetime.now(tz=UTC).year


@dataclass(frozen=True, slots=True)
class NoteContext:
    """What operators know of a note apart from its text and spans.

    Args:
        keys: the keys of secrets and encryption.
        patient: the note's patient, as of `crfdeid.redact`.
        locale: language and country of surrogates; None for a note that has none.
        date_order: order of ambiguous dates; None for the locale's.
        tokens: the map that numbered tokens are of; None for numbers of the note alone.
        by_month: generalised dates have a month next to the year.
        this_year: year of the run, from which the age that a generalised year shows is counted.
    """

    keys: Keys = field(default_factory=Keys)
    patient: str | float | None = None
    locale: str | None = None
    date_order: str | None = None
    tokens: TokenMap | None = None
    by_month: bool = False
    this_year: int = field(default_factory=this_year)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operator:
    """An operator of redaction. Its row in `OPERATORS` is all that commands, service, Arrow and Spark know of it.

    Args:
        help: the text that it writes, for help and documentation.
        replace: returns the replacements of its spans in a document. It gets all of them at once, in order.
        needs_secret: it uses the secret.
        needs_encryption_key: it uses the encryption key.
        reversible: `crfdeid.redaction.encryption.reveal` restores the values.
        invents: it writes values of the note's language, and shifts dates: it takes a locale and an order of dates.
        keeps: it leaves a value unless something else marked a part of it, so it can only be for single types.
        generalises: it writes a less exact value, unless something else marked a part of it.
        module: a module that needs an extra, which must be there before the first note; "" for none.
    """

    help: str
    replace: Callable[[Document, Sequence[Span], NoteContext], list[str]]
    needs_secret: bool = False
    needs_encryption_key: bool = False
    reversible: bool = False
    invents: bool = False
    keeps: bool = False
    generalises: bool = False
    module: str = ""

    @property
    def shows(self) -> bool:
        """True if it shows a value or a part of it."""
        return self.keeps or self.generalises


def _labels(document: Document, spans: Sequence[Span], context: NoteContext) -> list[str]:
    labels = {label: f"[{label}]" for label in {span.label for span in spans}}  # shares the texts of a long note
    return [labels[span.label] for span in spans]


def _masks(document: Document, spans: Sequence[Span], context: NoteContext) -> list[str]:
    """Mask all characters but white space, which preserves lines and columns but also reveals the number of words."""
    return ["".join(c if c.isspace() else _ASTERISK for c in document.text[start:end]) for start, end, _ in spans]


def _numbered(document: Document, spans: Sequence[Span], context: NoteContext) -> list[str]:
    values = span_values(document.text, spans)
    if context.tokens is not None:
        written = (document.text[start:end] for start, end, _ in spans)
        return list(map(context.tokens.token, (span.label for span in spans), written, values))
    from crfdeid.redaction.numbering import Numbering  # noqa: PLC0415  Few redactions number.

    numbers = Numbering()
    return [f"[{span.label}-{numbers.number(span.label, value)}]" for span, value in zip(spans, values, strict=True)]


def _surrogates(document: Document, spans: Sequence[Span], context: NoteContext) -> list[str]:
    from crfdeid.redaction.surrogates import (  # noqa: PLC0415  Faker takes long to import.
        Surrogates,
        consistent_labels,
        date_order_of,
        name_roles,
        note_key,
        town_postcodes,
    )

    locale = context.locale
    if locale is None:
        return _labels(document, spans, context)
    note = normal_form(document.text).text
    order = date_order_of(note) or context.date_order
    labels = [span.label for span in spans]
    parts = continuing(document.text, spans)
    values = span_values(document.text, spans, parts)
    of_kind: dict[str, list[str]] = {}
    names = []
    for (start, end, label), value, is_part in zip(spans, values, parts, strict=True):
        if is_part or len(value) > LONGEST_VALUE:
            continue
        kind = surrogate_kind(label)
        of_kind.setdefault(kind, []).append(value)
        if kind == "person":
            names.append((start, end, value))
    patients = {start for start, _, label in spans if TO_SEVEN.get(label) == "PATIENT"}
    surrogates = Surrogates(
        note_key(context.keys.require_secret("surrogates"), context.patient, note),
        locale,
        month_first=None if order is None else order == "mdy",
        hospitals=of_kind.get("hospital", ()),
        places=[*of_kind.get("town", ()), *of_kind.get("place", ())],
        countries=of_kind.get("country", ()),
        roles=name_roles(document.text, names, locale, patients),
        persons=of_kind.get("person", ()),
        dates=of_kind.get("date", ()),
        postcodes=town_postcodes(note, of_kind.get("town", ())),
    )
    as_labels = consistent_labels(values, labels)
    items = zip(values, labels, as_labels, parts, strict=True)
    return ["" if is_part else surrogates.of(value, label, like=like) for value, label, like, is_part in items]


def _hashes(document: Document, spans: Sequence[Span], context: NoteContext) -> list[str]:
    key = context.keys.hashes
    values = span_values(document.text, spans)
    return [f"[{span.label}:{hash_value(value, span.label, key)}]" for span, value in zip(spans, values, strict=True)]


def _tokens(document: Document, spans: Sequence[Span], context: NoteContext) -> list[str]:
    from crfdeid.redaction.encryption import Cipher, require_no_token  # noqa: PLC0415  It needs an extra.

    require_no_token(document.text, spans)
    cipher = Cipher(context.keys.require_encryption())
    return [cipher.token(document.text[start:end], label) for start, end, label in spans]


def _kept(document: Document, spans: Sequence[Span], context: NoteContext) -> list[str]:
    locale = None
    if any(surrogate_kind(span.label) in _OF_AGES for span in spans):
        from crfdeid.redaction.surrogates.locales import guess_locale  # noqa: PLC0415  Faker takes long to import.

        locale = guess_locale(normal_form(document.text).text)
    return [keep_value(document.text[start:end], label, locale=locale) for start, end, label in spans]


def _generalised(document: Document, spans: Sequence[Span], context: NoteContext) -> list[str]:
    from crfdeid.redaction.generalisation import Generaliser  # noqa: PLC0415  Faker takes long to import.

    values = Generaliser(
        document,
        spans,
        locale=context.locale,
        date_order=context.date_order,
        by_month=context.by_month,
        this_year=context.this_year,
    )
    return list(map(values.of, spans))


def keep_value(text: str, label: str, *, locale: str | None) -> str:
    """Return a value unchanged, but an age of 90 and more as a group, as HIPAA's Safe Harbor requires.

    Args:
        text: the value.
        label: its type. An age becomes its label unless it was read, in figures or in words, and so does what else
            stands in a value of ages or kin.
        locale: of the note; None for an unclear one.
    """
    kind = surrogate_kind(label)
    if kind not in _OF_AGES:
        return text
    from crfdeid.redaction.surrogates.demographics import keep_age  # noqa: PLC0415
    from crfdeid.redaction.surrogates.words import DEFAULT_LOCALE  # noqa: PLC0415

    value = normal_form(fully_decoded(text)).text
    grouped = keep_age(value, locale or DEFAULT_LOCALE, kin=kind == "kin")
    return text if grouped == value else grouped or f"[{label}]"


OPERATORS: dict[str, Operator] = {
    "label": Operator(help="its type, [PATIENT]", replace=_labels),
    "numbered": Operator(help="its type with one number for a person or value, [PATIENT-1]", replace=_numbered),
    "mask": Operator(help="an asterisk for each character but white space", replace=_masks),
    "surrogate": Operator(
        help="an invented value of the same form", replace=_surrogates, needs_secret=True, invents=True
    ),
    "remove": Operator(help="nothing", replace=lambda document, spans, context: [""] * len(spans)),
    "hash": Operator(help="a keyed hash, the same in all notes, [PATIENT:5a1f...]", replace=_hashes, needs_secret=True),
    "encrypt": Operator(
        help="a token from which the value can be restored",
        replace=_tokens,
        needs_encryption_key=True,
        reversible=True,
        module="crfdeid.redaction.encryption",
    ),
    "generalise": Operator(
        help="a less exact value, such as the year of a date, or its type", replace=_generalised, generalises=True
    ),
    "keep": Operator(help="the value itself, for single types", replace=_kept, keeps=True),
}
"""Operators by their names, in the order of help and documentation."""
