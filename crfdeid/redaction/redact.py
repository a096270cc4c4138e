"""Replacement of a document's spans: the operator of each type (`OPERATORS`) writes its text in place of a value."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from importlib import import_module
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
from crfdeid.errors import DataError, OptionConflictError
from crfdeid.label_schemes import surrogate_kind
from crfdeid.markup import require_prose
from crfdeid.redaction.operators import OPERATORS, NoteContext, Operator
from crfdeid.redaction.policy import Operators, check_date_order
from crfdeid.redaction.record import RedactionRecord, ReplacedSpan
from crfdeid.secrets import Keys
from features.languages import LANGUAGES
from features.tokenizer import normal_form

_NUMBERED = "numbered"


class Recorded(NamedTuple):
    """A redacted document, and the record of what was replaced in it."""

    document: Document
    record: RedactionRecord


class Replacement(NamedTuple):
    """Span that is redacted, and its operator."""

    span: Span
    operator: Operator


class Redaction(NamedTuple):
    """Redacted document, and how it came about.

    Attributes:
        original: the document.
        document: the redacted document.
        parts: the replaced spans of the original, with their operators.
        lengths: number of characters in the place of each.
        locale: locale of the surrogates; None without surrogates.
    """

    original: Document
    document: Document
    parts: Sequence[Replacement]
    lengths: Sequence[int]
    locale: str | None

    @property
    def record(self) -> RedactionRecord:
        """What was replaced, for a review."""
        spans = tuple(ReplacedSpan(*part.span, length) for part, length in zip(self.parts, self.lengths, strict=True))
        return RedactionRecord(text_digest(self.original.text), text_digest(self.document.text), spans)


def replacements(document: Document, operators: Operators, *, locale: str | None = None) -> list[Replacement]:
    """Return what `redact` does to each part of a document, by position, without overlaps.

    Spans that share a character are one, with the type of the longest, which decides the operator. "keep" and
    "generalise" are for a span that shares no character with one of another operator, nor with what the record or a
    list marked (`Document.findings`); any other span gets the default operator instead, or "label" for "generalise".

    A date with a surrogate or a generalised one includes the days of the week next to it, since they are shifted or
    hidden with it. There is one replacement for each span of `merge`, in its order.

    Args:
        document: a text with the spans to redact.
        operators: the operators by type.
        locale: the locale of surrogates; None guesses it from the text.
    """
    spans = merge(document.spans)
    parts = [Replacement(span, operators.of_type(span.label)) for span in spans]
    if operators.shows:
        found = [(span, MODEL) for span in document.spans] + list(document.findings)
        others = (span for span, source in found if source in (RECORD, LIST) or not operators.of_type(span.label).shows)
        hidden, instead = set(overlapping(spans, others)), OPERATORS[operators.default]
        instead = OPERATORS["label"] if instead.shows else instead
        parts = [
            part._replace(operator=instead) if part.operator.shows and part.span in hidden else part for part in parts
        ]
    return _with_weekdays(document.text, parts, locale)


def _with_weekdays(text: str, parts: list[Replacement], locale: str | None) -> list[Replacement]:
    if not any(map(_has_own_weekdays, parts)):
        return parts
    from crfdeid.redaction.surrogates import guess_locale, with_weekdays  # noqa: PLC0415

    def extended(locale: str) -> list[Replacement]:
        found: list[Replacement] = []
        for part, after in zip_longest(parts, parts[1:]):
            (start, end, label), operator = part
            if _has_own_weekdays(part):
                between = (found[-1].span.end if found else 0, after.span.start if after else len(text))
                start, end = with_weekdays(text, start, end, between=between, locale=locale)
            found.append(Replacement(Span(start, end, label), operator))
        return found

    if locale is None and any(extended(pack.locale) != parts for pack in LANGUAGES.values()):
        locale = guess_locale(normal_form(text).text)  # It reads the whole text.
    return parts if locale is None else extended(locale)


def _has_own_weekdays(part: Replacement) -> bool:
    return (part.operator.invents or part.operator.generalises) and surrogate_kind(part.span.label) == "date"


def redact(
    document: Document,
    operators: Operators | Mapping[str, str] | str = "label",
    *,
    policy: str | None = None,
    secret: bytes | None = None,
    encryption_key: bytes | None = None,
    patient: str | float | None = None,
    locale: str | None = None,
    date_order: str | None = None,
    mapping: MutableMapping[str, str] | None = None,
    markup: str = "auto",
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
            something else marked a part of it, but ages of 90 and more become a group; "generalise" writes the year of
            a date, a band of ages, three digits of a ZIP code, the state of a town, and labels for the rest.
        policy: a named policy (`crfdeid.redaction.policy.POLICY_NAMES`), which fixes the operators of types;
            ``operators`` then names the one of redacted types. None for no policy.
        secret: the key material of surrogates and hashes, at least 16 bytes.
        encryption_key: the key of encrypted values, another one than the secret.
        patient: the patient of the note, for surrogates: in all notes of a patient, a value has the same surrogate and
            dates shift by the same number of days. 12 and "12.0" are one patient; None and placeholders such as
            "unknown" are none (`crfdeid.known_phi.patients.patient_name`). The key then derives from the text, so that
            equal texts have equal surrogates.
        locale: language and country of surrogates, as Faker names them. None guesses the language from the text.
        date_order: order of ambiguous dates, "dmy" or "mdy", unless the note's other dates show it. None takes the
            locale's order.
        mapping: for "numbered", the map of tokens to values, which `crfdeid.restore` needs; empty for the first text
            of a conversation. New tokens are added to it, and its values are searched in the text. The map is PHI.
        markup: "auto" refuses a text in markup, such as RTF; "plain" takes it as it is.
        marked: return the spans of the replacements; for a long note they take twice its text's memory.

    Returns:
        The redacted text with the replacements as its spans (none for "remove"). Other annotation layers keep the marks
        that share no character with a replaced span, with their new offsets. A kept value counts as replaced only if it
        was changed.

    Raises:
        UnknownNameError: an unknown operator, order of dates or locale.
        SettingError: a locale without enough names.
        FormatError: a patient that is neither text nor a number.
        MarkupError: the text is in markup.
        SecretError: surrogates or hashes without a secret; encryption without a key, or with the secret.
        MissingExtraError: encryption without the library.
        OptionConflictError: a map without "numbered"; a named policy with an operator that it does not allow.
        DataError: no locale, and a text in no clear language; encryption in a text with a character that marks tokens;
            an invalid map, or a text next to a map that could not be restored.

    Example:
        >>> note = Document("1", "Seen by Dr. Quill.", (Span(12, 17, "DOCTOR"),))
        >>> redact(note).text, redact(note, {"DOCTOR": "mask"}).text
        ('Seen by Dr. [DOCTOR].', 'Seen by Dr. *****.')
    """
    require_prose(document.text, markup)
    context = _context(secret, encryption_key, patient=patient, locale=locale, date_order=date_order)
    return redact_by(document, _operators(operators, policy), context, mapping=mapping, marked=marked).document


def _operators(operators: Operators | Mapping[str, str] | str, policy: str | None) -> Operators:
    if policy is None:
        return Operators.of(operators)
    from crfdeid.redaction.named_policies import named_operators  # noqa: PLC0415  Few redactions have one.

    return named_operators(policy, operators)


def _context(secret: bytes | None = None, encryption_key: bytes | None = None, **options: Any) -> NoteContext:
    check_date_order(options.get("date_order"))
    return NoteContext(Keys(secret, encryption_key), **options)


def redact_recorded(
    document: Document,
    operators: Operators | Mapping[str, str] | str = "label",
    *,
    policy: str | None = None,
    mapping: MutableMapping[str, str] | None = None,
    markup: str = "auto",
    marked: bool = True,
    **options: Any,
) -> Recorded:
    """Replace the spans of a document as `redact` does, and record the replacements for a review.

    Args:
        document: as of `redact`.
        operators: as of `redact`.
        policy: as of `redact`.
        mapping: as of `redact`.
        markup: as of `redact`.
        marked: as of `redact`.
        options: the other options of `redact`.

    Returns:
        The redacted text, and its record, which `crfdeid.io.replacements.write_records` writes next to the results.

    Example:
        >>> note = Document("1", "Seen by Dr. Quill.", (Span(12, 17, "DOCTOR"),))
        >>> redact_recorded(note).record.spans
        (ReplacedSpan(start=12, end=17, label='DOCTOR', length=8),)
    """
    require_prose(document.text, markup)
    done = redact_by(document, _operators(operators, policy), _context(**options), mapping=mapping, marked=marked)
    return Recorded(done.document, done.record)


def redact_by(
    document: Document,
    operators: Operators,
    context: NoteContext,
    *,
    mapping: MutableMapping[str, str] | None = None,
    types: Iterable[str] = (),
    marked: bool = True,
) -> Redaction:
    """Replace the spans of a document by operators, as `redact` describes it.

    Args:
        document: a text with the spans to redact.
        operators: the operators by type.
        context: keys, patient, locale and order of dates.
        mapping: as of `redact`.
        types: all types that PHI can have in the texts of the map.
        marked: return the spans of the replacements.
    """
    if mapping is None:
        return _replaced(document, operators, context, marked=marked)
    from crfdeid.redaction.round_trip import LITERAL, TokenMap  # noqa: PLC0415  Few redactions have a map.

    if OPERATORS[_NUMBERED] not in operators.used:
        raise OptionConflictError(f"a map is for the operator '{_NUMBERED}': choose it, or leave the map out")
    tokens = TokenMap(mapping, types)
    prepared = tokens.prepare(document)
    for_literals = Operators(operators.default, {**dict(operators.by_type), LITERAL: _NUMBERED})
    done = _replaced(prepared, for_literals, replace(context, tokens=tokens), marked=marked)
    tokens.require_exact(prepared, done.document.text, list(_numbered(done)))
    mapping.update(tokens.values)
    return done


def _numbered(done: Redaction) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the numbered tokens in a redacted document."""
    shift = 0
    for ((start, end, _), operator), length in zip(done.parts, done.lengths, strict=True):
        if operator is OPERATORS[_NUMBERED]:
            yield start + shift, start + shift + length
        shift += length - (end - start)


def _replaced(document: Document, operators: Operators, context: NoteContext, *, marked: bool) -> Redaction:
    parts = replacements(document, operators, locale=context.locale)
    spans: dict[Operator, list[Span]] = {}
    for span, operator in parts:
        spans.setdefault(operator, []).append(span)
    for operator in spans:
        if operator.needs_secret:
            context.keys.require_secret("surrogates and hashes")
    invented = [span for operator, some in spans.items() if operator.invents for span in some]
    locale = document_locale(document, context.locale, spans=invented) if invented else None
    texts = _texts(document, spans, replace(context, locale=locale or context.locale))
    merged = merge_evidence(document.spans, document.evidence) if document.evidence else {}
    evidence: dict[Span, Evidence] = {}
    redacted = StringIO(newline="")  # a list of the parts of a long note takes several times its text
    replaced: list[Span] = []
    changed: list[Span] = []
    shifts, lengths, end = array("q", [0]), array("q"), 0
    for found, (span, operator) in zip(merge(document.spans), parts, strict=True):
        text = next(texts[operator])
        redacted.write(document.text[end : span.start])
        redacted.write(text)
        lengths.append(len(text))
        if text and marked:
            start = span.start + shifts[-1]
            replaced.append(Span(start, start + len(text), span.label))
            if found in merged:
                evidence[replaced[-1]] = merged[found]._replace(origin=None)
        end = span.end
        if not (operator.shows and text == document.text[span.start : span.end]):
            changed.append(span)
            shifts.append(shifts[-1] + len(text) - (span.end - span.start))
    redacted.write(document.text[end:])
    made = replace(
        document,
        text=redacted.getvalue(),
        spans=tuple(replaced),
        pretokenized=None,
        layers={name: tuple(_shifted(marks, changed, shifts)) for name, marks in document.layers.items()},
        evidence=evidence,
        findings=(),
    )
    return Redaction(document, made, parts, lengths, locale)


def _texts(
    document: Document, spans: Mapping[Operator, Sequence[Span]], context: NoteContext
) -> Mapping[Operator, Iterator[str]]:
    """Return the replacements of each operator's spans, in their order."""
    texts = {operator: operator.replace(document, some, context) for operator, some in spans.items()}
    if any(operator.reversible for operator in texts):
        # The text itself has no marks of tokens, but a type in another replacement can have some.
        escape: Callable[[str], str] = import_module("crfdeid.redaction.encryption").escape_marks  # It needs an extra.
        texts = {one: some if one.reversible else [escape(text) for text in some] for one, some in texts.items()}
    return {operator: iter(some) for operator, some in texts.items()}


def _shifted(marks: Iterable[Span], replaced: Sequence[Span], shifts: Sequence[int]) -> Iterator[Span]:
    """Yield marks with their new offsets, without those that share a character with a replaced span."""
    ends = [span.end for span in replaced]
    for start, end, label in marks:
        before = bisect_right(ends, start)
        if before == len(replaced) or end <= replaced[before].start:
            yield Span(start + shifts[before], end + shifts[before], label)


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
