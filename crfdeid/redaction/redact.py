"""Documents and spans to redacted text: labels, numbered labels, masks, surrogates, or nothing at all."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO

from crfdeid.documents import Document, Span, merge
from crfdeid.errors import DataError, SecretError, UnknownNameError
from crfdeid.known_phi.folding import fully_decoded
from crfdeid.known_phi.persons import PersonClusterer, parse_name
from crfdeid.label_schemes import TO_SEVEN, surrogate_kind
from features.normal import normal_form

OPERATORS = ("label", "numbered", "mask", "surrogate", "remove")
"""The ways of redacting that `redact` knows."""

DATE_ORDERS = ("dmy", "mdy")
"""Day, month, year; and month, day, year."""

_MASK = "*"
_NAMES = ("PATIENT", "DOCTOR")

# What stands for each span of a document: one text per span.
_Replace = Callable[[Document, Sequence[Span]], list[str]]


def redact(
    document: Document,
    how: str = "label",
    *,
    secret: bytes | None = None,
    patient: str | None = None,
    locale: str | None = None,
    date_order: str | None = None,
    marked: bool = True,
) -> Document:
    """The document with other text in the place of its spans; all text outside them stays as it is.

    Spans that share a character are merged first (`crfdeid.documents.merge`).

    Args:
        document: a text with the spans to hide.
        how: "label" writes [PATIENT]; "numbered" [PATIENT-1], the same person or value the same number in a document;
            "mask" an asterisk for each character but white space; "remove" nothing; "surrogate" an invented value of
            the same form (`crfdeid.redaction.surrogates`).
        secret: what surrogates are derived from: at least 16 bytes.
        patient: whose note it is, for surrogates: one patient's notes have the same surrogates for the same values,
            and dates shifted by the same number of days. None where nobody says: the key is then the HMAC of the text,
            so that the same text has the same surrogates wherever it stands.
        locale: language and country of surrogates, as Faker names them. None guesses it from the text: English or
            Spanish.
        date_order: how to read 3/4 where no date of the note tells: "dmy" or "mdy". None takes the locale's order.
        marked: whether the result says where the replacements are; of a long note, that takes twice its text's memory.

    Returns:
        The redacted text, with the replacements as its spans (none for "remove"). What further annotation layers mark
        is where it stands now, but for what shares a character with a replaced span: that is left out.

    Raises:
        UsageError: an unknown way or order of dates, a locale that cannot be used, or surrogates without a secret.
        DataError: no locale was given, and the text does not tell its language.

    Example:
        >>> note = Document("1", "Seen by Dr. Quill.", (Span(12, 17, "DOCTOR"),))
        >>> redact(note).text, redact(note, "mask").text
        ('Seen by Dr. [DOCTOR].', 'Seen by Dr. *****.')
    """
    for name, value, known in (("way to redact", how, OPERATORS), ("order of dates", date_order or "dmy", DATE_ORDERS)):
        if value not in known:
            raise UnknownNameError(f"unknown {name} '{value}': choose from {', '.join(known)}")
    surrogates = partial(_surrogates, secret=secret, patient=patient, locale=locale, date_order=date_order)
    replacements = surrogates if how == "surrogate" else _WAYS[how]
    spans = merge(document.spans)
    redacted = StringIO(newline="")  # a list of all parts of a long note would be several times its text
    replaced: list[Span] = []
    shifts, end = array("q", [0]), 0
    for span, text in zip(spans, replacements(document, spans), strict=True):
        redacted.write(document.text[end : span.start])
        redacted.write(text)
        if text and marked:
            place = span.start + shifts[-1]
            replaced.append(Span(place, place + len(text), span.label))
        end = span.end
        shifts.append(shifts[-1] + len(text) - (span.end - span.start))
    redacted.write(document.text[end:])
    layers = {name: tuple(_moved(marks, spans, shifts)) for name, marks in document.layers.items()}
    return replace(document, text=redacted.getvalue(), spans=tuple(replaced), pretokenized=None, layers=layers)


def _moved(marks: Iterable[Span], replaced: Sequence[Span], shifts: Sequence[int]) -> Iterator[Span]:
    """Marks as offsets in the redacted text, without those that share a character with what was replaced.

    Args:
        marks: as offsets in the original.
        replaced: the spans that were replaced, by place and free of overlaps.
        shifts: how far text has moved after so many of them, from none to all.
    """
    ends = [span.end for span in replaced]
    for start, end, label in marks:
        before = bisect_right(ends, start)
        if before == len(replaced) or end <= replaced[before].start:
            yield Span(start + shifts[before], end + shifts[before], label)


def _masks(document: Document, spans: Sequence[Span]) -> list[str]:
    """White space stays, so that lines and columns stay where they were; it tells how many words there were."""
    return ["".join(c if c.isspace() else _MASK for c in document.text[start:end]) for start, end, _ in spans]


def _numbered(document: Document, spans: Sequence[Span]) -> list[str]:
    people: dict[str, PersonClusterer] = {}
    values: dict[str, dict[str, int]] = {}
    found = []
    for start, end, label in spans:
        text = _value(document.text[start:end])
        name = parse_name(text) if TO_SEVEN.get(label) in _NAMES else None
        if name is not None:
            number = people.setdefault(label, PersonClusterer()).number(name)
        else:
            known = values.setdefault(label, {})
            number = known.setdefault("".join(filter(str.isalnum, text)).casefold() or text, len(known) + 1)
        found.append(f"[{label}-{number}]")
    return found


def _surrogates(
    document: Document,
    spans: Sequence[Span],
    *,
    secret: bytes | None,
    patient: str | None,
    locale: str | None,
    date_order: str | None,
) -> list[str]:
    # Faker takes long to import.
    from crfdeid.redaction.surrogates import (  # noqa: PLC0415
        Surrogates,
        consistent_labels,
        date_order_of,
        name_roles,
        patient_key,
        text_key,
    )

    if secret is None:
        raise SecretError("surrogates need a secret: the same one for all runs that should agree")
    locale = document_locale(document, locale)
    if locale is None:
        return _labels(document, spans)
    note = normal_form(document.text).text
    order = date_order_of(note) or date_order
    values = [_value(document.text[start:end]) for start, end, _ in spans]
    kinds = [surrogate_kind(label) for _, _, label in spans]

    def of_kinds(*wanted: str) -> list[str]:
        return [value for value, kind in zip(values, kinds, strict=True) if kind in wanted]

    names = [(start, end) for (start, end, _), kind in zip(spans, kinds, strict=True) if kind == "person"]
    patients = {start for start, _, label in spans if TO_SEVEN.get(label) == "PATIENT"}
    surrogates = Surrogates(
        text_key(secret, note) if patient is None else patient_key(secret, patient),
        locale,
        month_first=None if order is None else order == "mdy",
        hospitals=of_kinds("hospital"),
        places=of_kinds("town", "place"),
        countries=of_kinds("country"),
        roles=name_roles(document.text, names, locale, patients),
        dates=of_kinds("date"),
    )
    labels = [span.label for span in spans]
    like = consistent_labels(values, labels)
    return [surrogates.of(value, own, like=alike) for value, own, alike in zip(values, labels, like, strict=True)]


def _value(hidden: str) -> str:
    """A hidden value as people read it: in normal form, with entities and percent-encoded words decoded."""
    return normal_form(fully_decoded(hidden)).text


def document_locale(document: Document, locale: str | None = None) -> str | None:
    """The locale of a document's surrogates: the one that is given, else that of its language.

    Returns:
        The locale; None where no type of its spans has surrogates, so that none is needed.

    Raises:
        DataError: no locale is given, and the text does not tell its language.
    """
    from crfdeid.redaction.surrogates import guess_locale  # noqa: PLC0415

    if all(surrogate_kind(span.label) == "none" for span in document.spans):
        return None
    found = locale or guess_locale(normal_form(document.text).text)
    if found is None:
        problem = "the text tells neither English nor Spanish: name the locale of its surrogates (--locale)"
        raise DataError(problem)
    return found


def _labels(document: Document, spans: Sequence[Span]) -> list[str]:
    written = {label: f"[{label}]" for label in {span.label for span in spans}}
    return [written[span.label] for span in spans]


_WAYS: Mapping[str, _Replace] = {
    "label": _labels,
    "numbered": _numbered,
    "mask": _masks,
    "remove": lambda document, spans: [""] * len(spans),
}
