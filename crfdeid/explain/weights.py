"""Summary of a model's learned weights: `explain_weights`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.crf import CrfTagger
from crfdeid.ensembles import CombinedTagger
from crfdeid.errors import NotTrainedError, UnknownNameError
from crfdeid.explain.data import (
    CrfSummary,
    FeatureKindSummary,
    SupportsWeightSummary,
    TagFeatures,
    TagMatrix,
    WeightSummary,
)
from crfdeid.explain.prediction import HASHED_FEATURES, ExplainRequest, explain_tokens, feature_kind, model_of
from crfdeid.rules import RulesTagger
from crfdeid.tagger import Tagger
from features.tokens import Sentence

WORDS_BEFORE, WORDS_AFTER = "words before", "words after"
"""Kinds of the neighbours' contributions, in addition to the kinds of features."""


def explain_weights(
    tagger: Tagger,
    *,
    types: Collection[str] = (),
    top: int = 20,
    words: Sequence[str] = (),
    sentences: Sequence[Sentence] = (),
) -> WeightSummary:
    """Summarise the learned weights of a model.

    Of a CRF: the transitions, the features with the largest and smallest weights of each tag, and figures for each kind
    of feature. Of a network: norms of its weights, matrices from tag to tag, and nearest words. Of the rules: the rules
    in use. Of a combined model: its members. A hashed vocabulary is shown as hashes.

    Large weights need not decide a prediction: use `explain_prediction` for a text.

    Args:
        tagger: a trained model.
        types: PHI types whose tags to show; empty: all.
        top: number of features per tag and sign, and of nearest words.
        words: words whose neighbours a network shows; empty: some frequent words.
        sentences: development sentences for shares and averages; no annotation needed.

    Raises:
        NotTrainedError: the model is not trained.
        UnknownNameError: the model has no such type.

    Example:
        >>> from crfdeid.documents import LabelledSentence
        >>> tagger = CrfTagger()
        >>> tagger.fit([LabelledSentence(Sentence.from_words(["Dr", "Doe"]), ("O", "B-DOCTOR"))], [])
        >>> explain_weights(tagger, types=["DOCTOR"], top=1).crf.features[0].tag
        'B-DOCTOR'
    """
    if not tagger.tags:
        raise NotTrainedError("this model is not trained: call fit, or load a saved one")
    known = sorted({tag[2:] for tag in tagger.tags if tag != OUTSIDE})
    for label in types:
        if label not in known:
            raise UnknownNameError(f"no type '{label}' in this model: choose from {', '.join(known)}")
    return _contents(tagger, types, top, words, sentences)


def _contents(
    tagger: Tagger, types: Collection[str], top: int, words: Sequence[str], sentences: Sequence[Sentence]
) -> WeightSummary:
    name, tags = model_of(tagger), tagger.tags
    if isinstance(tagger, CombinedTagger):
        members = tuple(_contents(member, types, top, words, sentences) for member in tagger.members)
        return WeightSummary(name, tags, any(member.hashed for member in members), members=members)
    if isinstance(tagger, CrfTagger):
        return WeightSummary(name, tags, tagger.learned.key is not None, crf=_of_crf(tagger, types, top, sentences))
    if isinstance(tagger, RulesTagger):
        rules = (
            (rule, label, share)
            for rule, (label, share) in tagger.rule_precision.items()
            if not types or label in types
        )
        return WeightSummary(name, tags, rules=tuple(rules))
    if isinstance(tagger, SupportsWeightSummary):
        network = tagger.contents(words, sentences, top=top)
        return WeightSummary(name, tags, network.hashed, network=network)
    return WeightSummary(name, tags)


def _of_crf(tagger: CrfTagger, types: Collection[str], top: int, sentences: Sequence[Sentence]) -> CrfSummary:
    learned = tagger.learned
    chosen = [(k, tag) for k, tag in enumerate(learned.tags) if not types or tag[2:] in types]
    transitions = TagMatrix(
        "Weight of a tag after a tag", learned.tags, tuple(map(tuple, learned.transitions.tolist()))
    )
    features = tuple(
        TagFeatures(tag, *(_first(learned.names, learned.state[:, k], top, sign) for sign in (1, -1)))
        for k, tag in chosen
    )
    return CrfSummary(transitions, features, _kinds(tagger, sentences))


def _first(names: Sequence[str], weights: np.ndarray, count: int, sign: int) -> tuple[tuple[str, float], ...]:
    """The features with the largest weights of one sign, ties by name."""
    rows = np.flatnonzero(sign * weights > 0)
    if len(rows) > count:
        sizes = sign * weights[rows]
        rows = rows[sizes >= np.partition(sizes, -count)[-count]]  # and all that are as large as the last
    chosen = sorted(
        ((names[row], float(weights[row])) for row in rows.tolist()), key=lambda pair: (-sign * pair[1], pair[0])
    )
    return tuple(chosen[:count])


def _kinds(tagger: CrfTagger, sentences: Sequence[Sentence]) -> tuple[FeatureKindSummary, ...]:
    """Figures for each kind of feature, the largest L1 first; then the neighbours, if sentences were passed."""
    learned = tagger.learned
    hashed = learned.key is not None
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(learned.names):
        rows.setdefault(HASHED_FEATURES if hashed else feature_kind(name), []).append(row)
    shares = _shares(tagger, sentences)
    summaries = []
    for kind, members in rows.items():
        state = learned.state[members]
        share = shares.get(kind, 0.0) if shares and not hashed else None
        summaries.append(
            FeatureKindSummary(
                kind,
                int(np.count_nonzero(state.any(axis=1))),
                int(np.count_nonzero(state)),
                float(np.abs(state).sum()),
                float(np.sqrt((state**2).sum())),
                share,
            )
        )
    summaries.sort(key=lambda kind: (-kind.l1, kind.kind))
    # A hashed feature's kind is known of the text at hand alone.
    rest = [kind for kind in shares if kind in (WORDS_BEFORE, WORDS_AFTER) or hashed]
    return (*summaries, *(FeatureKindSummary(kind, 0, 0, 0.0, 0.0, shares[kind]) for kind in rest))


def _shares(tagger: CrfTagger, sentences: Sequence[Sentence]) -> dict[str, float]:
    """The share of each kind in the log-odds of all tokens tagged as PHI."""
    sums: Counter[str] = Counter()
    for sentence, tags in zip(sentences, tagger.predict(sentences), strict=True):
        marked = [i for i, tag in enumerate(tags) if tag != OUTSIDE]
        for explanation in explain_tokens(tagger, sentence, marked, ExplainRequest()) if marked else ():
            if found := explanation.crf:
                sums.update({**found.by_kind, WORDS_BEFORE: found.before, WORDS_AFTER: found.after})
    total = sum(sums.values())
    return {kind: value / total for kind, value in sums.items()} if total else {}
