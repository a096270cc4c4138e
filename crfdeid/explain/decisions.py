"""Why each span of a note is hidden: the rule, the model, the site's lists, the record, consistency, or the threshold.

A span can have several reasons, and all are named: what a rule finds a model may have found too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields as fields_of

from crfdeid.bio import decode, phi_probabilities
from crfdeid.consistency import within_one_edit
from crfdeid.documents import Span, in_characters, overlap, positions_in
from crfdeid.ensembles.base import CombinedTagger
from crfdeid.ensembles.cascade import CascadeTagger
from crfdeid.explain.data import (
    CONSISTENCY,
    MODEL,
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
from crfdeid.known_phi.folding import fold
from crfdeid.known_phi.identifiers import PatientIdentifiers, labels_for
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
    """Why each span of a note is hidden.

    Args:
        deidentifier: a trained model at work.
        text: a note.
        known: what the record says of its patient.

    Raises:
        DataError: as of `Deidentifier.annotate`.

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
    """What the record asks for, one kind of identifier after the other."""
    labels = labels_for({tag[2:] for tag in tagger.tags} - {""})
    for part in fields_of(PatientIdentifiers) if known is not None else ():
        values = getattr(known, part.name)
        for span in (
            known_spans(text, PatientIdentifiers(**{part.name: values}), CustomLists(), labels) if values else ()
        ):
            yield Reason(RECORD, part.name.removesuffix("s"), span)


def _of_site(text: str, site: CustomLists) -> Iterator[Reason]:
    """What the site's lists and patterns ask for."""
    for span in known_spans(text, None, CustomLists(deny=site.deny), {}):
        spelled = fold(text[span.start : span.end])
        terms = (term.text for term in site.deny if term.type == span.label and fold(term.text) == spelled)
        yield Reason(SITE_LIST, next(terms, ""), span)
    for pattern in site.patterns:
        for span in known_spans(text, None, CustomLists(patterns=(pattern,)), {}):
            yield Reason(SITE_PATTERN, pattern.name, span)


def _of_model(
    sentences: Sequence[Sentence], tagger: Tagger, threshold: float | None, found: Sequence[Span]
) -> Iterator[Reason]:
    """What rules and models find by themselves; and what the threshold alone finds."""
    named = [*_of_rules(sentences, tagger), *_of_taggers(sentences, tagger)]
    yield from named
    if threshold is None:
        return
    probable = _probabilities(sentences, tagger)
    for span in found:
        if not any(reason.kind == MODEL and _meet(reason.span, span) for reason in named):
            inside = [p for token, p in probable if _meet(Span(token.start, token.end, ""), span)]
            yield Reason(THRESHOLD, model_of(tagger), span, max(inside), threshold)


def _of_rules(sentences: Sequence[Sentence], tagger: Tagger) -> Iterator[Reason]:
    if isinstance(tagger, CombinedTagger):
        for member in _finders(tagger):
            yield from _of_rules(sentences, member)
    elif isinstance(tagger, RulesTagger):
        for sentence in sentences:
            for rule, first, stop in find_rules(sentence):
                if rule.name in tagger.rule_precision:
                    label, share = tagger.rule_precision[rule.name]
                    (span,) = in_characters(sentence.tokens, [Span(first, stop, label)])
                    yield Reason(RULE, rule.name, span, share)


def _of_taggers(sentences: Sequence[Sentence], tagger: Tagger) -> Iterator[Reason]:
    if isinstance(tagger, CombinedTagger):
        for member in _finders(tagger):
            yield from _of_taggers(sentences, member)
    elif not isinstance(tagger, RulesTagger):
        probable = _probabilities(sentences, tagger)
        for sentence, tags in zip(sentences, tagger.predict(sentences), strict=True):
            for span in decode(sentence, tags):
                inside = [p for token, p in probable if _meet(Span(token.start, token.end, ""), span)]
                yield Reason(MODEL, model_of(tagger), span, max(inside))


def _finders(tagger: CombinedTagger) -> Sequence[Tagger]:
    """The members that find PHI: of a pipeline, the first."""
    return tagger.members[:1] if isinstance(tagger, CascadeTagger) else tagger.members


def _probabilities(sentences: Sequence[Sentence], tagger: Tagger) -> list[tuple[Token, float]]:
    """Each token with its probability of being PHI."""
    return [
        (token, p)
        for sentence, table in zip(sentences, tagger.marginals(sentences), strict=True)
        for token, p in zip(sentence.tokens, phi_probabilities(table, tagger.tags).tolist(), strict=True)
    ]


def _origin(span: Span, marked: Sequence[Span], tokens: Sequence[Token]) -> Span:
    """The marked span that a value comes from that consistency adds: of the same words, of one of them, or a slip away.

    Where several do, the first; itself where none does.
    """
    words = _words(span, tokens)
    others = [(other, _words(other, tokens)) for other in marked]
    same = (other for other, theirs in others if theirs == words)
    part = (other for other, theirs in others if set(theirs) & {word for word in words if word.isalnum()})
    slip = (
        other for other, theirs in others if any(within_one_edit(a, b) for a in words for b in theirs if len(b) > 1)
    )
    return next((other for found in (same, part, slip) for other in found), span)


def _words(span: Span, tokens: Sequence[Token]) -> list[str]:
    return [tokens[i].text.lower() for i in positions_in(tokens, span)]
