"""Documents and spans to redacted text: labels, numbered labels, masks, surrogates, or nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from crfdeid.documents import Document, Layers, Span
from crfdeid.errors import UsageError
from crfdeid.labels import TO_SEVEN
from crfdeid.redaction.persons import PersonName, parse_name
from crfdeid.spans import merge
from features.normal import normal_form

HOW = ("label", "numbered", "mask", "surrogate", "remove")
"""The ways of redacting that `redact` knows."""

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
    locale: str = "en_US",
) -> Document:
    """The document with other text in the place of its spans; all text outside them stays as it is.

    Spans that share a character are merged first (`crfdeid.spans.merge`).

    Args:
        document: a text with the spans to hide.
        how: "label" writes [PATIENT]; "numbered" [PATIENT-1], the same person or value the same number in a document;
            "mask" an asterisk for each character but white space; "remove" nothing; "surrogate" an invented value of
            the same form (`crfdeid.redaction.surrogates`).
        secret: what surrogates are derived from: at least 16 bytes.
        patient: whose note it is, for surrogates: one patient's notes have the same surrogates for the same values,
            and dates shifted by the same number of days. None for a patient of the document's own, named by its id.
        locale: language and country of surrogates, as Faker names them.

    Returns:
        The redacted text, with the replacements as its spans (none for "remove") and no further annotation layer.

    Raises:
        UsageError: an unknown way or locale, or surrogates without a secret.

    Example:
        >>> note = Document("1", "Seen by Dr. Quill.", (Span(12, 17, "DOCTOR"),))
        >>> redact(note).text, redact(note, "mask").text
        ('Seen by Dr. [DOCTOR].', 'Seen by Dr. *****.')
    """
    replacements = _ways(secret, document.id if patient is None else patient, locale).get(how)
    if replacements is None:
        raise UsageError(f"unknown way to redact '{how}': choose from {', '.join(HOW)}")
    spans = merge(document.spans)
    parts: list[str] = []
    replaced: list[Span] = []
    end = place = 0
    for span, text in zip(spans, replacements(document, spans), strict=True):
        before = document.text[end : span.start]
        place += len(before)
        parts += before, text
        if text:
            replaced.append(Span(place, place + len(text), span.label))
        place += len(text)
        end = span.end
    parts.append(document.text[end:])
    return replace(document, text="".join(parts), spans=tuple(replaced), given_sentences=None, layers=Layers())


def _ways(secret: bytes | None, patient: str, locale: str) -> dict[str, _Replace]:
    return {
        "label": lambda document, spans: [f"[{span.label}]" for span in spans],
        "numbered": _numbered,
        "mask": _masks,
        "surrogate": partial(_surrogates, secret=secret, patient=patient, locale=locale),
        "remove": lambda document, spans: [""] * len(spans),
    }


def _masks(document: Document, spans: Sequence[Span]) -> list[str]:
    """White space stays, so that lines and columns stay where they were; it tells how many words there were."""
    return ["".join(c if c.isspace() else _MASK for c in document.text[start:end]) for start, end, _ in spans]


def _numbered(document: Document, spans: Sequence[Span]) -> list[str]:
    people: dict[str, list[PersonName]] = {}
    values: dict[str, dict[str, int]] = {}
    found = []
    for start, end, label in spans:
        text = normal_form(document.text[start:end]).text
        name = parse_name(text) if TO_SEVEN.get(label) in _NAMES else None
        if name is not None:
            number = _number_of_person(people.setdefault(label, []), name)
        else:
            known = values.setdefault(label, {})
            number = known.setdefault("".join(filter(str.isalnum, text)).casefold() or text, len(known) + 1)
        found.append(f"[{label}-{number}]")
    return found


def _number_of_person(people: list[PersonName], name: PersonName) -> int:
    """The number of the first person that a name can be of; a fuller name replaces a shorter one."""
    for i, person in enumerate(people):
        joined = person.joined(name)
        if joined is not None:
            people[i] = joined
            return i + 1
    people.append(name)
    return len(people)


def _surrogates(
    document: Document, spans: Sequence[Span], *, secret: bytes | None, patient: str, locale: str
) -> list[str]:
    from crfdeid.redaction.surrogates import Surrogates  # noqa: PLC0415  Faker takes long to import.

    if secret is None:
        raise UsageError("surrogates need a secret: the same one for all runs that should agree")
    surrogates = Surrogates(secret, patient, locale=locale)
    return [surrogates.of(normal_form(document.text[start:end]).text, label) for start, end, label in spans]
