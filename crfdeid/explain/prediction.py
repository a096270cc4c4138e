"""Why a model gives a token its tag, and why it hides a span.

`explain_prediction` and `explain_tokens` explain tags, `explain_document` the hidden spans of a note.

A CRF's log-odds are an exact sum of weights and messages. For the tags a and b of token t,

    log P(y_t = a | x) - log P(y_t = b | x) = sum over the features f of x at t of (w[f, a] - w[f, b])
                                              + F[t, a] - F[t, b] + B[t, a] - B[t, b],

with the forward and backward messages F and B of `crfdeid.crf.decoding.log_messages`.

Reference:
    Lafferty et al. (2001), section 3.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crfdeid.bio import phi_probabilities
from crfdeid.crf import CrfTagger
from crfdeid.crf.decoding import log_messages
from crfdeid.ensembles import CombinedTagger
from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError, UsageError
from crfdeid.explain.data import (
    CrfSum,
    Decision,
    DocumentExplanation,
    Explanation,
    FeatureTerm,
    RuleFind,
    SupportsGradients,
    TagContrast,
)
from crfdeid.explain.occlusion import counterfactual, occlusion_terms, tag_log_odds
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import MODELS
from crfdeid.rules import RulesTagger
from crfdeid.rules.matcher import find_rules
from crfdeid.tagger import Tagger
from features.tokens import Sentence

_NAME = re.compile(r"([\w+]*?)(?:\[([^\]]*)\]|:[^=]*)?(?:=|\+\d+=)")

FEATURE_KINDS = {
    "w": "word",
    "lower": "word",
    "before": "far word",
    "after": "far word",
    "shape": "shape",
    "caps": "capitals",
    "prefix": "affix",
    "suffix": "affix",
    "pattern": "pattern",
    "class": "word class",
    "gazetteer": "gazetteer",
    "sentence": "layout",
    "heading": "layout",
    "place": "layout",
    "field": "layout",
    "line": "layout",
    "line+lower": "layout",
    "line+shape": "layout",
    "pos": "part of speech",
    "chunk": "part of speech",
    "w0": "part of speech",
}
"""Prefixes of the feature strings of this library's extractors, and the kind of each."""

OTHER_FEATURES = "other"
HASHED_FEATURES = "hashed"
"""The kind of feature strings that are stored as keyed hashes."""


def feature_kind(name: str) -> str:
    """The kind of a feature string; `OTHER_FEATURES` for other extractors.

    Example:
        >>> [feature_kind(name) for name in ("lower[-1]=dr", "lower[-1,0]=dr quill", "prefix=qui", "line=attending")]
        ['word', 'n-gram', 'affix', 'layout']
    """
    match = _NAME.match(name)
    if match is None:
        return OTHER_FEATURES
    head, offsets = match[1], match[2] or ""
    if head in ("w", "lower") and "," in offsets:
        return "n-gram"
    return FEATURE_KINDS.get(head, OTHER_FEATURES)


def _crf_sums(tagger: CrfTagger, sentence: Sentence, questions: Sequence[TagContrast]) -> list[CrfSum]:
    """The log-odds of each question as an exact sum.

    Args:
        tagger: a trained CRF.
        sentence: the sentence.
        questions: tokens of the sentence, with tags of the tagger.
    """
    learned = tagger.learned
    number = {tag: k for k, tag in enumerate(learned.tags)}
    names = [Counter(row) for row in tagger.features.extract(sentence)]  # the strings themselves, token by token
    rows = [{name: tagger.index.row(name) for name in counts} for counts in names]
    emissions = np.zeros((len(names), len(learned.tags)))
    for t, counts in enumerate(names):
        for name, row in rows[t].items():
            if row is not None:
                emissions[t] += counts[name] * learned.state[row]
    forward, backward = log_messages(emissions, learned.transitions)
    sums = []
    for token, tag, contrast_tag in questions:
        a, b = number[tag], number[contrast_tag]
        terms = [
            FeatureTerm(
                name, feature_kind(name), names[token][name], float(learned.state[row, a]), float(learned.state[row, b])
            )
            for name, row in rows[token].items()
            if row is not None
        ]
        sums.append(
            CrfSum(
                tuple(sorted(terms, key=lambda term: -abs(term.value))),
                tuple(name for name, row in rows[token].items() if row is None),
                float(forward[token, a] - forward[token, b]),
                float(backward[token, a] - backward[token, b]),
            )
        )
    return sums


METHODS = ("sum", "occlusion", "gradients")
"""A CRF's exact sum, occlusion for any model, integrated gradients for networks that read words."""


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """Options of an explanation.

    Args:
        tag: tag to explain; None: the predicted tag.
        contrast_tag: tag to compare with; None: the most probable tag of another type, `O` included.
        window: words on each side of the token to occlude, one at a time.
        methods: some of `METHODS`; None: the sum for a CRF, the others for networks.
        replacing: replacements by index of a word, None to drop it, for a counterfactual prediction.

    Raises:
        UsageError: an unknown method.
    """

    tag: str | None = None
    contrast_tag: str | None = None
    window: int = 5
    methods: Collection[str] | None = None
    replacing: Mapping[int, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for method in self.methods or ():
            if method not in METHODS:
                raise UnknownNameError(f"no method '{method}': choose from {', '.join(METHODS)}")


def explain_prediction(
    tagger: Tagger,
    sentence: Sentence,
    token: int,
    *,
    tag: str | None = None,
    contrast_tag: str | None = None,
    window: int = 5,
    methods: Collection[str] | None = None,
    replacing: Mapping[int, str | None] | None = None,
) -> Explanation:
    """Explain why a model gives a token its tag and not a contrast tag.

    A CRF's explanation is its exact sum. A network's is its loss of log-odds for occluded words
    (`crfdeid.explain.occlusion`), and integrated gradients if it reads words. The rules' is the list of matching rules.
    A combined model has the explanations of its members.

    Args:
        tagger: a trained model.
        sentence: the sentence.
        token: index of the token, from 0.
        tag: see `ExplainRequest`, for this and all further arguments.
        contrast_tag: tag to compare with.
        window: words on each side to occlude.
        methods: some of `METHODS`.
        replacing: replacements by index of a word.

    Raises:
        UsageError: an unknown token, tag or method, or a model with a single tag.

    Example:
        >>> from crfdeid.documents import LabelledSentence
        >>> sentence = Sentence.from_words(["Dr", "Doe"])
        >>> tagger = CrfTagger()
        >>> tagger.fit([LabelledSentence(sentence, ("O", "B-DOCTOR"))], [])
        >>> found = explain_prediction(tagger, sentence, 1)
        >>> found.tag, found.contrast_tag, abs(found.crf.total - found.log_odds) < 1e-9
        ('B-DOCTOR', 'O', True)
    """
    request = ExplainRequest(tag, contrast_tag, window, methods, replacing or {})
    return explain_tokens(tagger, sentence, [token], request)[0]


def explain_tokens(
    tagger: Tagger, sentence: Sentence, tokens: Sequence[int], wanted: ExplainRequest
) -> list[Explanation]:
    """Explain several tokens of a sentence, as `explain_prediction` does, with shared computations."""
    for token in (*tokens, *wanted.replacing):
        if not 0 <= token < len(sentence.tokens):
            raise SettingError(f"no token {token}: this sentence has {len(sentence.tokens)}, numbered from 0")
    (table,), (predicted,) = tagger.marginals([sentence]), tagger.predict([sentence])
    questions = [_question(tagger.tags, table, predicted, token, wanted) for token in tokens]
    methods = default_methods(tagger) if wanted.methods is None else wanted.methods
    parts: dict[str, Sequence[Any]] = {}
    if isinstance(tagger, CrfTagger) and "sum" in methods:
        parts["crf"] = _crf_sums(tagger, sentence, questions)
    if "occlusion" in methods:
        parts["occlusion"] = occlusion_terms(tagger, sentence, questions, table, wanted.window)
    if isinstance(tagger, SupportsGradients) and "gradients" in methods:
        parts["gradients"] = [tagger.integrated_gradients(sentence, *question) for question in questions]
    if isinstance(tagger, RulesTagger):
        parts["rules"] = [_rules(tagger, sentence, token) for token in tokens]
    if isinstance(tagger, CombinedTagger):
        parts["members"] = _members(tagger, sentence, tokens, wanted)
    if wanted.replacing:
        parts["counterfactual"] = [
            counterfactual(tagger, sentence, question, wanted.replacing) for question in questions
        ]
    column = {tag: k for k, tag in enumerate(tagger.tags)}
    phi = phi_probabilities(table, tagger.tags)
    return [
        Explanation(
            model_of(tagger),
            sentence.words,
            *question,
            probability=float(table[question.token, column[question.tag]]),
            contrast_probability=float(table[question.token, column[question.contrast_tag]]),
            phi=float(phi[question.token]),
            log_odds=tag_log_odds(table, question.token, column[question.tag], column[question.contrast_tag]),
            **{name: values[i] for name, values in parts.items()},
        )
        for i, question in enumerate(questions)
    ]


def default_methods(tagger: Tagger) -> tuple[str, ...]:
    """The default methods for a model; those of a combined model are for its members."""
    return METHODS[:1] if isinstance(tagger, CombinedTagger | RulesTagger | CrfTagger) else METHODS[1:]


def model_of(tagger: Tagger) -> str:
    """The name of a tagger's model in `crfdeid.registry.MODELS`, or else the name of its class."""
    names = {path.rpartition(":")[2]: name for name, path in MODELS.items()}
    return names.get(type(tagger).__name__, type(tagger).__name__)


def _question(
    tags: Sequence[str], table: np.ndarray, predicted: Sequence[str], token: int, wanted: ExplainRequest
) -> TagContrast:
    """The tag to explain and its contrast tag: the requested ones, or the prediction and the best of another type."""
    for tag in (wanted.tag, wanted.contrast_tag):
        if tag is not None and tag not in tags:
            raise UnknownNameError(f"no tag '{tag}' in this model: choose from {', '.join(tags)}")
    if len(tags) < 2:
        raise UsageError("this model has a single tag: there is nothing to explain")
    chosen = predicted[token] if wanted.tag is None else wanted.tag
    others = [k for k, tag in enumerate(tags) if tag[2:] != chosen[2:]]
    others = others or [k for k, tag in enumerate(tags) if tag != chosen]
    best = tags[max(others, key=lambda k: table[token, k])]
    contrast_tag = best if wanted.contrast_tag is None else wanted.contrast_tag
    if chosen == contrast_tag:
        raise OptionConflictError(f"'{chosen}' cannot be compared with itself: choose another tag")
    return TagContrast(token, chosen, contrast_tag)


def _rules(tagger: RulesTagger, sentence: Sentence, token: int) -> tuple[RuleFind, ...]:
    """Matches of the rules in use at a token."""
    return tuple(
        RuleFind(rule.name, *tagger.rule_precision[rule.name], sentence.words[first:stop])
        for rule, first, stop in find_rules(sentence, tagger.languages)
        if first <= token < stop and rule.name in tagger.rule_precision
    )


def _members(
    tagger: CombinedTagger, sentence: Sentence, tokens: Sequence[int], wanted: ExplainRequest
) -> list[tuple[Explanation, ...]]:
    """Explanations by the members that predict PHI, for each token."""
    by_member = []
    for member in tagger.phi_members:
        if len(member.tags) > 1:
            known = {wanted.tag, wanted.contrast_tag} <= {None, *member.tags}
            own = wanted if known else replace(wanted, tag=None, contrast_tag=None)
            by_member.append(explain_tokens(member, sentence, tokens, own))
    return list(zip(*by_member, strict=True)) if by_member else [()] * len(tokens)


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
        >>> [(decision.value, decision.source) for decision in found.decisions]  # doctest: +SKIP
        [('j.doe@example.org', 'rule:e-mail')]
    """
    threshold = deidentifier.threshold
    model = Deidentifier(deidentifier.tagger, threshold=threshold, consistent=False, concepts=False, members=False)
    predicted = model.annotate(text)
    document = deidentifier.complete(predicted, known)
    decisions = tuple(Decision(span, text[span.start : span.end], *document.evidence[span]) for span in document.spans)
    allowed = (span for span in predicted.spans if deidentifier.lists.allows(text[span.start : span.end]))
    return DocumentExplanation(document, decisions, tuple(s for s in allowed if s not in document.spans), threshold)
