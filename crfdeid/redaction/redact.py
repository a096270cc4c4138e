"""Replacement of a document's spans: the operator of each type writes its own text in place of a value."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from itertools import zip_longest
from typing import Any, NamedTuple

from crfdeid.documents import (
    LIST,
    MODEL,
    RECORD,
    Document,
    Evidence,
    Span,
    merge,
    merge_evidence,
    overlapping,
    text_digest,
)
from crfdeid.errors import DataError, SecretError
from crfdeid.known_phi.folding import fully_decoded
from crfdeid.known_phi.names import PersonClusterer, parse_name
from crfdeid.label_schemes import TO_SEVEN, surrogate_kind
from crfdeid.redaction.policy import (
    ENCRYPT,
    HASH,
    KEEP,
    LABEL,
    MASK,
    NUMBERED,
    REMOVE,
    SURROGATE,
    Operators,
    check_date_order,
)
from crfdeid.redaction.record import RedactionRecord, ReplacedSpan
from crfdeid.redaction.values import continuing, span_values
from crfdeid.secrets import derive, hash_value
from features.languages import LANGUAGES
from features.tokenizer import normal_form

_ASTERISK = "*"
_NAMES = ("PATIENT", "DOCTOR")
_OF_AGES = ("age", "kin")

# The replacements of some spans of a document.
_Replace = Callable[[Document, Sequence[Span]], list[str]]


class Recorded(NamedTuple):
    """A redacted document, and the record of what was replaced in it."""

    document: Document
    record: RedactionRecord


class Replacement(NamedTuple):
    """Span that is redacted, and its operator."""

    span: Span
    operator: str


def replacements(document: Document, operators: Operators, *, locale: str | None = None) -> list[Replacement]:
    """Return what `redact` does to each part of a document, by position, without overlaps.

    Spans that share a character are one, with the type of the longest, which decides the operator. "keep" is for a span
    that shares no character with one of another operator, nor with what the record or a list marked
    (`Document.findings`); any other span gets the default operator instead.

    A date with a surrogate includes the days of the week next to it, since they are shifted with it. There is one
    replacement for each span of `merge`, in its order.

    Args:
        document: a text with the spans to redact.
        operators: the operators by type.
        locale: the locale of surrogates; None guesses it from the text.
    """
    spans = merge(document.spans)
    if not operators.uses(KEEP):
        parts = [Replacement(span, operators[span.label]) for span in spans]
        return _with_weekdays(document.text, parts, locale)
    found = [(span, MODEL) for span in document.spans] + list(document.findings)
    others = (span for span, source in found if source in (RECORD, LIST) or operators[span.label] != KEEP)
    hidden = set(overlapping(spans, others))
    pairs = ((span, operators[span.label]) for span in spans)
    parts = [
        Replacement(span, operators.default if operator == KEEP and span in hidden else operator)
        for span, operator in pairs
    ]
    return _with_weekdays(document.text, parts, locale)


def _with_weekdays(text: str, parts: list[Replacement], locale: str | None) -> list[Replacement]:
    if not any(map(_is_shifted, parts)):
        return parts
    from crfdeid.redaction.surrogates import guess_locale, with_weekdays  # noqa: PLC0415

    def extended(locale: str) -> list[Replacement]:
        found: list[Replacement] = []
        for part, after in zip_longest(parts, parts[1:]):
            (start, end, label), operator = part
            if _is_shifted(part):
                between = (found[-1].span.end if found else 0, after.span.start if after else len(text))
                start, end = with_weekdays(text, start, end, between=between, locale=locale)
            found.append(Replacement(Span(start, end, label), operator))
        return found

    if locale is None and any(extended(pack.locale) != parts for pack in LANGUAGES.values()):
        locale = guess_locale(normal_form(text).text)  # It reads the whole text.
    return parts if locale is None else extended(locale)


def _is_shifted(part: Replacement) -> bool:
    return part.operator == SURROGATE and surrogate_kind(part.span.label) == "date"


def redact(
    document: Document,
    operators: Operators | Mapping[str, str] | str = "label",
    *,
    secret: bytes | None = None,
    encryption_key: bytes | None = None,
    patient: str | float | None = None,
    locale: str | None = None,
    date_order: str | None = None,
    marked: bool = True,
) -> Document:
    """Replace the spans of a document; the text outside them does not change.

    Spans that share a character are merged first (`crfdeid.documents.merge`).

    Args:
        document: a text with the spans to redact.
        operators: one operator for all types, or a mapping of types to operators with "label" for the others.
            "label" writes [PATIENT]; "numbered" writes [PATIENT-1], with one number for a person or value throughout a
            document; "mask" writes an asterisk for each character but white space; "remove" writes nothing;
            "surrogate" writes an invented value of the same form (`crfdeid.redaction.surrogates`); "hash" writes a
            keyed token, [PATIENT:5a1f...], the same for the same value and type in all documents; "encrypt" writes a
            token from which `crfdeid.redaction.encryption.reveal` restores the value; "keep" leaves a value unless
            something else marked a part of it, but ages of 90 and more become a group.
        secret: the key material of surrogates and hashes, at least 16 bytes.
        encryption_key: the key of encrypted values, another one than the secret.
        patient: the patient of the note, for surrogates: in all notes of a patient, a value has the same surrogate and
            dates shift by the same number of days. 12 and "12.0" are one patient; None and placeholders such as
            "unknown" are none (`crfdeid.known_phi.patients.patient_name`). The key then derives from the text, so that
            equal texts have equal surrogates.
        locale: language and country of surrogates, as Faker names them. None guesses the language from the text.
        date_order: order of ambiguous dates, "dmy" or "mdy", unless the note's other dates show it. None takes the
            locale's order.
        marked: return the spans of the replacements; for a long note they take twice its text's memory.

    Returns:
        The redacted text with the replacements as its spans (none for "remove"). Other annotation layers keep the marks
        that share no character with a replaced span, with their new offsets. A kept value counts as replaced only if it
        was changed.

    Raises:
        UnknownNameError: an unknown operator, order of dates or locale.
        SettingError: a locale without enough names.
        FormatError: a patient that is neither text nor a number.
        SecretError: surrogates or hashes without a secret; encryption without a key, or with the secret.
        MissingExtraError: encryption without the library.
        DataError: no locale, and a text in no clear language; encryption in a text with a character that marks tokens.

    Example:
        >>> note = Document("1", "Seen by Dr. Quill.", (Span(12, 17, "DOCTOR"),))
        >>> redact(note).text, redact(note, {"DOCTOR": "mask"}).text
        ('Seen by Dr. [DOCTOR].', 'Seen by Dr. *****.')
    """
    return _redact(
        document,
        operators,
        secret=secret,
        encryption_key=encryption_key,
        patient=patient,
        locale=locale,
        date_order=date_order,
        marked=marked,
    )[0]


def redact_recorded(
    document: Document, operators: Operators | Mapping[str, str] | str = "label", *, marked: bool = True, **options: Any
) -> Recorded:
    """Replace the spans of a document as `redact` does, and record the replacements for a review.

    Args:
        document: as of `redact`.
        operators: as of `redact`.
        marked: as of `redact`.
        options: the other options of `redact`.

    Returns:
        The redacted text, and its record, which `crfdeid.io.replacements.write_records` writes next to the results.

    Example:
        >>> note = Document("1", "Seen by Dr. Quill.", (Span(12, 17, "DOCTOR"),))
        >>> redact_recorded(note).record.spans
        (ReplacedSpan(start=12, end=17, label='DOCTOR', length=8),)
    """
    redacted, parts, lengths = _redact(document, operators, marked=marked, **options)
    spans = tuple(ReplacedSpan(*part.span, length) for part, length in zip(parts, lengths, strict=True))
    return Recorded(redacted, RedactionRecord(text_digest(document.text), text_digest(redacted.text), spans))


def _redact(
    document: Document,
    operators: Operators | Mapping[str, str] | str,
    *,
    secret: bytes | None = None,
    encryption_key: bytes | None = None,
    patient: str | float | None = None,
    locale: str | None = None,
    date_order: str | None = None,
    marked: bool,
) -> tuple[Document, list[Replacement], array[int]]:
    """The redacted document, its replaced spans, and the lengths of the texts in their places."""
    check_date_order(date_order)
    functions: dict[str, _Replace] = {
        **_UNKEYED,
        SURROGATE: partial(_surrogates, secret=secret, patient=patient, locale=locale, date_order=date_order),
        HASH: partial(_hashes, secret=secret),
        ENCRYPT: partial(_tokens, key=encryption_key, secret=secret),
        KEEP: _kept,
    }
    parts = replacements(document, Operators.of(operators), locale=locale)
    merged = merge_evidence(document.spans, document.evidence) if document.evidence else {}
    evidence: dict[Span, Evidence] = {}
    redacted = StringIO(newline="")  # a list of the parts of a long note takes several times its text
    replaced: list[Span] = []
    changed: list[Span] = []
    shifts, lengths, end = array("q", [0]), array("q"), 0
    texts = _texts(document, parts, functions)
    for found, (span, operator), text in zip(merge(document.spans), parts, texts, strict=True):
        redacted.write(document.text[end : span.start])
        redacted.write(text)
        lengths.append(len(text))
        if text and marked:
            start = span.start + shifts[-1]
            replaced.append(Span(start, start + len(text), span.label))
            if found in merged:
                evidence[replaced[-1]] = merged[found]._replace(origin=None)
        if operator == KEEP and text == document.text[span.start : span.end]:
            end = span.end
            continue
        changed.append(span)
        end = span.end
        shifts.append(shifts[-1] + len(text) - (span.end - span.start))
    redacted.write(document.text[end:])
    layers = {name: tuple(_shifted(marks, changed, shifts)) for name, marks in document.layers.items()}
    made = replace(
        document,
        text=redacted.getvalue(),
        spans=tuple(replaced),
        pretokenized=None,
        layers=layers,
        evidence=evidence,
        findings=(),
    )
    return made, parts, lengths


def _texts(document: Document, parts: Sequence[Replacement], functions: Mapping[str, _Replace]) -> Iterator[str]:
    """Return the replacement of each part. A function gets all spans of its operator at once."""
    spans: dict[str, list[Span]] = {}
    for span, operator in parts:
        spans.setdefault(operator, []).append(span)
    made = {operator: functions[operator](document, some) for operator, some in spans.items()}
    if ENCRYPT in made:  # The text itself has no marks of tokens, but a type in another replacement can have some.
        from crfdeid.redaction.encryption import escape_marks  # noqa: PLC0415  It needs an extra.

        made |= {name: [escape_marks(text) for text in texts] for name, texts in made.items() if name != ENCRYPT}
    found = {operator: iter(texts) for operator, texts in made.items()}
    return (next(found[operator]) for _, operator in parts)


def _shifted(marks: Iterable[Span], replaced: Sequence[Span], shifts: Sequence[int]) -> Iterator[Span]:
    """Yield marks with their offsets in the redacted text, omitting marks that share a character with a replaced span.

    Args:
        marks: marks with their offsets in the original text.
        replaced: the replaced spans, sorted and without overlaps.
        shifts: the shift of the text after each number of replaced spans, from 0 on.
    """
    ends = [span.end for span in replaced]
    for start, end, label in marks:
        before = bisect_right(ends, start)
        if before == len(replaced) or end <= replaced[before].start:
            yield Span(start + shifts[before], end + shifts[before], label)


def _masks(document: Document, spans: Sequence[Span]) -> list[str]:
    """Mask all characters but white space, which preserves lines and columns but also reveals the number of words."""
    return ["".join(c if c.isspace() else _ASTERISK for c in document.text[start:end]) for start, end, _ in spans]


def _numbered(document: Document, spans: Sequence[Span]) -> list[str]:
    people: dict[str, PersonClusterer] = {}
    values: dict[str, dict[str, int]] = {}
    found = []
    for (_, _, label), text in zip(spans, span_values(document.text, spans), strict=True):
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
    patient: str | float | None,
    locale: str | None,
    date_order: str | None,
) -> list[str]:
    from crfdeid.redaction.surrogates import (  # noqa: PLC0415  Faker takes long to import.
        Surrogates,
        consistent_labels,
        date_order_of,
        name_roles,
        note_key,
        town_postcodes,
    )

    if secret is None:
        raise SecretError("surrogates need a secret, the same one for all runs that should agree")
    locale = document_locale(document, locale, spans=spans)
    if locale is None:
        return _labels(document, spans)
    note = normal_form(document.text).text
    order = date_order_of(note) or date_order
    labels = [span.label for span in spans]
    values = span_values(document.text, spans)
    of_kind: dict[str, list[str]] = {}
    names = []
    parts = continuing(document.text, spans)
    for (start, end, label), value, is_part in zip(spans, values, parts, strict=True):
        if is_part:
            continue
        kind = surrogate_kind(label)
        of_kind.setdefault(kind, []).append(value)
        if kind == "person":
            names.append((start, end, value))
    patients = {start for start, _, label in spans if TO_SEVEN.get(label) == "PATIENT"}
    surrogates = Surrogates(
        note_key(secret, patient, note),
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


def document_locale(document: Document, locale: str | None = None, *, spans: Iterable[Span]) -> str | None:
    """Return the locale of a document's surrogates: by default that of its language.

    Args:
        document: a note.
        locale: the chosen locale; None guesses it from the text.
        spans: the spans that surrogates replace.

    Returns:
        The locale; None if no type of the spans has surrogates.

    Raises:
        DataError: no locale, and a text whose language is not clear.
    """
    from crfdeid.redaction.surrogates import guess_locale  # noqa: PLC0415

    if all(surrogate_kind(span.label) == "none" for span in spans):
        return None
    found = locale or guess_locale(normal_form(document.text).text)
    if found is None:
        raise DataError("the language of the text is not clear: name the locale of the surrogates (--locale)")
    return found


def _hashes(document: Document, spans: Sequence[Span], *, secret: bytes | None) -> list[str]:
    if secret is None:
        raise SecretError("hashes need a secret, the same one for all runs that should agree")
    key = derive(secret, "hashes of values")
    values = span_values(document.text, spans)
    return [f"[{span.label}:{hash_value(value, span.label, key)}]" for span, value in zip(spans, values, strict=True)]


def _tokens(document: Document, spans: Sequence[Span], *, key: bytes | None, secret: bytes | None) -> list[str]:
    from crfdeid.redaction.encryption import Cipher, require_no_token  # noqa: PLC0415  It needs an extra.

    if key is None or key == secret:
        raise SecretError("encryption needs a key of its own, another one than the secret: --encryption-key-file")
    require_no_token(document.text, spans)
    cipher = Cipher(key)
    return [cipher.token(document.text[start:end], label) for start, end, label in spans]


def _kept(document: Document, spans: Sequence[Span]) -> list[str]:
    locale = None
    if any(surrogate_kind(span.label) in _OF_AGES for span in spans):
        from crfdeid.redaction.surrogates.locales import guess_locale  # noqa: PLC0415  Faker takes long to import.

        locale = guess_locale(normal_form(document.text).text)
    return [keep_value(document.text[start:end], label, locale=locale) for start, end, label in spans]


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
    from crfdeid.redaction.surrogates.locales import ENGLISH  # noqa: PLC0415

    value = normal_form(fully_decoded(text)).text
    grouped = keep_age(value, locale or ENGLISH, kin=kind == "kin")
    return text if grouped == value else grouped or f"[{label}]"


def _labels(document: Document, spans: Sequence[Span]) -> list[str]:
    labels = {label: f"[{label}]" for label in {span.label for span in spans}}  # shares the texts of a long note
    return [labels[span.label] for span in spans]


_UNKEYED: Mapping[str, _Replace] = {
    LABEL: _labels,
    NUMBERED: _numbered,
    MASK: _masks,
    REMOVE: lambda document, spans: [""] * len(spans),
}
