"""Silver annotations: raw notes labelled by records, lists, rules and a model, with the tokens that are in doubt.

A span is certain where the patient's record or a list marks it, or where its least probable token is PHI with a
probability of `CERTAIN` or more. What a patient's notes show together raises and lowers this: a span that is not
certain becomes so where its value is certain elsewhere in the patient's notes, and an unmarked place of such a value is
in doubt. All other tokens with a probability of `CERTAIN_OTHER` or more are in doubt, too. The rules alone measure no
probability: their spans are certain, and in doubt are words with a capital that no note has in small letters.

Doubtful tokens are a layer of their own, `crfdeid.documents.DOUBT`. A CRF leaves them out of its loss, and other models
leave out their sentences: as no PHI, they would teach a model to miss what its teacher missed. CRFsuite knows neither
weights of tokens nor partial labels. A sentence is therefore cut at them into sequences, whose features are those of
the whole sentence: this drops the terms of the doubtful tokens from the likelihood, and no others.

Reference:
    Jie, Xie, Lu, Ding and Li 2019 (NAACL), Better modeling of incomplete annotations for named entity recognition;
    Laursen, Pedersen, Hansen et al. 2022, for dictionaries of the patient's record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import regex

from crfdeid.documents import (
    CONSISTENCY,
    DOUBT,
    LIST,
    MODEL,
    RECORD,
    Document,
    Evidence,
    Span,
    merge,
    overlapping,
    positions_in,
    tokens_of,
)
from crfdeid.evaluation.probabilities import document_probabilities, tokens_in
from crfdeid.io.records import Note
from crfdeid.pipeline import Deidentifier
from crfdeid.rules.tagger import RulesTagger
from features.tokenizer import Token

CERTAIN = 0.9
"""The least probability of certain PHI."""
CERTAIN_OTHER = 0.02
"""The probability of PHI from which a token is in doubt."""
_LABEL = "DOUBT"
_LEAST_LETTERS = 4  # of a value that is looked for in a patient's other notes


def label_notes(model: Deidentifier, notes: Sequence[Note]) -> list[Document]:
    """Label raw notes.

    Args:
        model: finds the spans, with evidence, and with the lists of the site.
        notes: the notes, with the known PHI of their patients.

    Returns:
        The notes with their certain spans, each with its evidence, and the doubtful ones as layer `DOUBT`.

    Raises:
        DataError: as of `Deidentifier.annotate_documents`.
    """
    documents = [Document(note.id, note.text, patient=note.patient) for note in notes]
    found = list(model.annotate_documents(documents, known=[note.known for note in notes]))
    tokens = [tokens_of(document) for document in found]
    by_rules = isinstance(model.tagger, RulesTagger)
    if by_rules:
        probabilities = [tokens_in(own, one.spans).astype(float) for own, one in zip(tokens, found, strict=True)]
    else:
        probabilities = [one.probabilities for one in document_probabilities(model.tagger, found)]
    certain = [_certain(*parts) for parts in zip(found, tokens, probabilities, strict=True)]
    values = _values_by_patient(found, certain)
    small = _small_words(found, tokens) if by_rules else None
    labelled = []
    for document, own, row, spans in zip(found, tokens, probabilities, certain, strict=True):
        raised, places = _compared(document, spans, values[_patient(document)])
        sure = {**spans, **raised}
        unsure = row >= CERTAIN_OTHER
        unsure |= tokens_in(own, [*document.spans, *places])
        if small is not None:
            unsure |= np.array([_may_name(token, small) for token in own], bool)
        unsure &= ~tokens_in(own, sure)
        doubt = merge(Span(own[i].start, own[i].end, _LABEL) for i in np.flatnonzero(unsure).tolist())
        labelled.append(replace(document, spans=tuple(sure), evidence=sure, findings=(), layers={DOUBT: tuple(doubt)}))
    return labelled


def _certain(document: Document, tokens: Sequence[Token], probabilities: np.ndarray) -> dict[Span, Evidence]:
    """The certain spans of a note, with their evidence."""
    certain = {}
    for span in document.spans:
        evidence = document.evidence.get(span, Evidence(MODEL))
        first = span if evidence.origin is None else evidence.origin  # of consistency, the span whose value it is
        origin, positions = document.evidence.get(first, evidence), positions_in(tokens, first)
        least = probabilities[positions.start : positions.stop].min(initial=1.0)
        if origin.source in (RECORD, LIST) or least >= CERTAIN:
            certain[span] = evidence
    return certain


def _patient(document: Document) -> str:
    """The patient of a note; a note without one is its own."""
    return f"note {document.id}" if document.patient is None else f"patient {document.patient}"


def _values_by_patient(
    documents: Sequence[Document], certain: Sequence[Mapping[Span, Evidence]]
) -> dict[str, dict[str, tuple[str, Evidence]]]:
    """The certain values of each patient, each with a type and its evidence."""
    found: dict[str, dict[str, tuple[str, Evidence]]] = {}
    for document, spans in zip(documents, certain, strict=True):
        own = found.setdefault(_patient(document), {})
        for span, evidence in spans.items():
            value = document.text[span.start : span.end]
            if sum(map(str.isalnum, value)) >= _LEAST_LETTERS:
                own.setdefault(value, (span.label, evidence))
    return found


def _compared(
    document: Document, certain: Iterable[Span], values: Mapping[str, tuple[str, Evidence]]
) -> tuple[dict[Span, Evidence], list[Span]]:
    """The spans that the patient's other notes make certain, and the unmarked places of the patient's values."""
    raised, places = {}, []
    unsure = set(document.spans).difference(certain)
    for span in unsure:
        known = values.get(document.text[span.start : span.end])
        if known is not None:
            label, evidence = known
            raised[span._replace(label=label)] = Evidence(CONSISTENCY, evidence.score)
    if values:
        pattern = regex.compile(r"(?<!\w)(?:\L<values>)(?!\w)", values=list(values))
        every = [Span(*match.span(), _LABEL) for match in pattern.finditer(document.text)]
        marked = set(overlapping(every, document.spans))
        places = [span for span in every if span not in marked]
    return raised, places


def _small_words(documents: Iterable[Document], notes: Iterable[Sequence[Token]]) -> frozenset[str]:
    """The words that the notes also have in small letters, outside all spans: no names."""
    words: set[str] = set()
    for document, tokens in zip(documents, notes, strict=True):
        inside = tokens_in(tokens, document.spans)
        words.update(token.text for token, marked in zip(tokens, inside, strict=True) if not marked)
    return frozenset(word for word in words if word.islower())


def _may_name(token: Token, small: frozenset[str]) -> bool:
    """True for a word with a capital that the notes never have in small letters: rules alone know few names."""
    return token.text[0].isupper() and token.text.lower() not in small
