"""Reasons for each hidden span of a note: rule, model, site list, patient record, consistency, or threshold.

A span can have several reasons, and all are listed: a rule and a model can both have found it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields as fields_of

from crfdeid.bio import decode, phi_probabilities
from crfdeid.consistency import within_one_edit
from crfdeid.documents import Span, in_characters, overlap, positions_in
from crfdeid.ensembles.base import CombinedTagger
from crfdeid.explain.data import (
    CONSISTENCY,
    MODEL,
    REASON_KINDS,
    RECORD,
    RULE,
    SITE_LIST,
    SITE_PATTERN,
    THRESHOLD,
    Decision,
    DocumentExplanation,
    Reason,
)
from crfdeid.explain.prediction import model_of
from crfdeid.known_phi.folding import fold_to_alnum
from crfdeid.known_phi.identifiers import PatientIdentifiers, identifier_labels
from crfdeid.known_phi.lists import CustomLists
from crfdeid.pipeline import Deidentifier, known_spans
from crfdeid.rules import RulesTagger
from crfdeid.rules.matcher import find_rules
from crfdeid.tagger import Tagger
from features.tokenizer import Token
from features.tokens import Sentence


def explain_document(
    deidentifier: Deidentifier, text: str, *, known: PatientIdentifiers | None = None
) -> DocumentExplanation:
    """Explain each span that a model hides in a note.

    Args:
        deidentifier: the pipeline with a trained model.
        text: the note.
        known: identifiers from the patient's record.

    Raises:
        DataError: see `Deidentifier.annotate`.

    Example:
        >>> import crfdeid
        >>> found = explain_document(crfdeid.load("model/"), "Mail to j.doe@example.org")  # doctest: +SKIP
        >>> [(reason.kind, reason.name) for reason in found.decisions[0].reasons]  # doctest: +SKIP
        [('rule', 'e-mail address')]
    """
    document = deidentifier.annotate(text, known=known)
    tagger, site, threshold = deidentifier.tagger, deidentifier.site, deidentifier.threshold
    alone = Deidentifier(tagger, threshold=threshold, consistent=False, concepts=False)
    joined = Deidentifier(tagger, threshold=threshold, consistent=False, site=site, concepts=False)
    by_model = alone.annotate(text).spans
    reasons = [
        *_of_record(text, known, tagger),
        *_of_site(text, site),
        *_of_model(document.sentences(), tagger, threshold, by_model),
    ]
    marked = joined.annotate(text, known=known).spans
    tokens = [token for sentence in document.sentences() for token in sentence.tokens]
    decisions = []
    for span in document.spans:
        own = tuple(reason for reason in reasons if _meet(reason.span, span))
        if not any(_meet(other, span) for other in marked):
            own = (Reason(CONSISTENCY, "", _origin(span, marked, tokens)),)
        decisions.append(Decision(span, text[span.start : span.end], own))
    allowed = (span for span in by_model if site.allows(text[span.start : span.end]))
    return DocumentExplanation(document, tuple(decisions), tuple(s for s in allowed if s not in document.spans))


def _meet(one: Span, other: Span) -> bool:
    return overlap(one, other) and overlap(other, one)


def _of_record(text: str, known: PatientIdentifiers | None, tagger: Tagger) -> Iterator[Reason]:
    """Reasons from the patient's record, one kind of identifier after the other."""
    labels = identifier_labels({tag[2:] for tag in tagger.tags} - {""})
    for part in fields_of(PatientIdentifiers) if known is not None else ():
        if values := getattr(known, part.name):
            of_kind = PatientIdentifiers(**{part.name: values})
            for span in known_spans(text, of_kind, CustomLists(), labels):
                yield Reason(RECORD, part.name.removesuffix("s"), span)


def _of_site(text: str, site: CustomLists) -> Iterator[Reason]:
    """Reasons from the site's lists and patterns."""
    for span in known_spans(text, None, CustomLists(deny=site.deny), {}):
        spelled = fold_to_alnum(text[span.start : span.end])
        terms = (term.text for term in site.deny if term.type == span.label and fold_to_alnum(term.text) == spelled)
        yield Reason(SITE_LIST, next(terms, ""), span)
    for pattern in site.patterns:
        for span in known_spans(text, None, CustomLists(patterns=(pattern,)), {}):
            yield Reason(SITE_PATTERN, pattern.name, span)


def _of_model(
    sentences: Sequence[Sentence], tagger: Tagger, threshold: float | None, found: Sequence[Span]
) -> Iterator[Reason]:
    """Reasons from rules and models, and from the threshold for spans that no model predicts without it."""
    named = sorted(_of_taggers(sentences, tagger), key=lambda reason: REASON_KINDS.index(reason.kind))
    yield from named
    if threshold is None:
        return
    probable = _probabilities(sentences, tagger)
    for span in found:
        if not any(reason.kind == MODEL and _meet(reason.span, span) for reason in named):
            yield Reason(THRESHOLD, model_of(tagger), span, _highest(probable, span), threshold)


def _of_taggers(sentences: Sequence[Sentence], tagger: Tagger) -> Iterator[Reason]:
    """Reasons from a model or the rules; of a combined model from its members."""
    if isinstance(tagger, CombinedTagger):
        for member in tagger.phi_members:
            yield from _of_taggers(sentences, member)
    elif isinstance(tagger, RulesTagger):
        for sentence in sentences:
            for rule, first, stop in find_rules(sentence):
                if rule.name in tagger.rule_precision:
                    label, share = tagger.rule_precision[rule.name]
                    (span,) = in_characters(sentence.tokens, [Span(first, stop, label)])
                    yield Reason(RULE, rule.name, span, share)
    else:
        probable = _probabilities(sentences, tagger)
        for sentence, tags in zip(sentences, tagger.predict(sentences), strict=True):
            for span in decode(sentence, tags):
                yield Reason(MODEL, model_of(tagger), span, _highest(probable, span))


def _highest(probable: Sequence[tuple[Token, float]], span: Span) -> float:
    """The highest probability of PHI among a span's tokens."""
    return max(p for token, p in probable if _meet(Span(token.start, token.end, ""), span))


def _probabilities(sentences: Sequence[Sentence], tagger: Tagger) -> list[tuple[Token, float]]:
    """The tokens, each with its probability of PHI."""
    return [
        (token, p)
        for sentence, table in zip(sentences, tagger.marginals(sentences), strict=True)
        for token, p in zip(sentence.tokens, phi_probabilities(table, tagger.tags).tolist(), strict=True)
    ]


def _origin(span: Span, marked: Sequence[Span], tokens: Sequence[Token]) -> Span:
    """The first marked span with the same words, with a common word, or one edit away; else the span itself."""
    words = _words(span, tokens)
    others = [(other, _words(other, tokens)) for other in marked]
    same = (other for other, theirs in others if theirs == words)
    part = (other for other, theirs in others if set(theirs) & {word for word in words if word.isalnum()})
    near = (
        other for other, theirs in others if any(within_one_edit(a, b) for a in words for b in theirs if len(b) > 1)
    )
    return next((other for found in (same, part, near) for other in found), span)


def _words(span: Span, tokens: Sequence[Token]) -> list[str]:
    return [tokens[i].text.lower() for i in positions_in(tokens, span)]
