"""Why a model tags a word as it does: `explain_prediction` for one token, `explain_tokens` for several."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crfdeid.combined.members import CombinedTagger
from crfdeid.combined.pipeline import PipelineTagger
from crfdeid.crf import CrfTagger
from crfdeid.errors import UsageError
from crfdeid.explaining.crf import crf_sums
from crfdeid.explaining.explanation import Explanation, HasGradients, Question, RuleFind
from crfdeid.explaining.occlusion import altered, log_odds, losses
from crfdeid.models import MODELS
from crfdeid.rules import RulesTagger
from crfdeid.rules.table import find_rules
from crfdeid.tagger import Tagger
from crfdeid.thresholds import phi_probabilities
from features.tokens import Sentence

METHODS = ("sum", "occlusion", "gradients")
"""What there is: a CRF's exact sum, occlusion for any model, integrated gradients for networks that read words."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be explained, and how.

    Args:
        tag: the tag to explain; None for the one that the model gives.
        rival: what to compare it with; None for the most probable tag of another type, which `O` counts as.
        window: the words on each side of a token that are occluded, each by itself.
        methods: some of `METHODS`; None for a CRF's sum, and for networks the other two.
        replacing: other words for places of the sentence, None to leave one out: what would the model say then?

    Raises:
        UsageError: there is no such method.
    """

    tag: str | None = None
    rival: str | None = None
    window: int = 5
    methods: Collection[str] | None = None
    replacing: Mapping[int, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for method in self.methods or ():
            if method not in METHODS:
                raise UsageError(f"no method '{method}': choose from {', '.join(METHODS)}")


def explain_prediction(
    tagger: Tagger,
    sentence: Sentence,
    token: int,
    *,
    tag: str | None = None,
    rival: str | None = None,
    window: int = 5,
    methods: Collection[str] | None = None,
    replacing: Mapping[int, str | None] | None = None,
) -> Explanation:
    """Why a model gives a token its tag, and not the one that comes next.

    A CRF's answer is exact (`crfdeid.explaining.crf`). A network's is what it loses where words are hidden from it
    (`crfdeid.explaining.occlusion`), and integrated gradients where it reads words. The rules' are the rules that find
    the token. A model made of models has that of each of them.

    Args:
        tagger: a trained model.
        sentence: the sentence.
        token: the token's place in it, from 0.
        tag: as of `Wanted`, and so are the others.
        rival: what to compare it with.
        window: how many words are occluded.
        methods: how it is explained.
        replacing: other words to try.

    Raises:
        UsageError: there is no such token, tag or method, or the model has one tag alone.

    Example:
        >>> from crfdeid.documents import LabelledSentence
        >>> sentence = Sentence.from_words(["Dr", "Doe"])
        >>> tagger = CrfTagger()
        >>> tagger.fit([LabelledSentence(sentence, ("O", "B-DOCTOR"))], [])
        >>> found = explain_prediction(tagger, sentence, 1)
        >>> found.tag, found.rival, abs(found.crf.total - found.log_odds) < 1e-9
        ('B-DOCTOR', 'O', True)
    """
    return explain_tokens(tagger, sentence, [token], Wanted(tag, rival, window, methods, replacing or {}))[0]


def explain_tokens(tagger: Tagger, sentence: Sentence, tokens: Sequence[int], wanted: Wanted) -> list[Explanation]:
    """`explain_prediction` for several tokens of a sentence, with no work done twice.

    Raises:
        UsageError: as of `explain_prediction`.
    """
    for token in (*tokens, *wanted.replacing):
        if not 0 <= token < len(sentence.tokens):
            raise UsageError(f"no token {token}: this sentence has {len(sentence.tokens)}, numbered from 0")
    (table,), (given,) = tagger.marginals([sentence]), tagger.predict([sentence])
    questions = [_question(tagger.tags, table, given, token, wanted) for token in tokens]
    methods = default_methods(tagger) if wanted.methods is None else wanted.methods
    parts: dict[str, Sequence[Any]] = {}
    if isinstance(tagger, CrfTagger) and "sum" in methods:
        parts["crf"] = crf_sums(tagger, sentence, questions)
    if "occlusion" in methods:
        parts["occlusion"] = losses(tagger, sentence, questions, table, wanted.window)
    if isinstance(tagger, HasGradients) and "gradients" in methods:
        parts["gradients"] = [tagger.integrated_gradients(sentence, *question) for question in questions]
    if isinstance(tagger, RulesTagger):
        parts["rules"] = [_rules(tagger, sentence, token) for token in tokens]
    if isinstance(tagger, CombinedTagger):
        parts["members"] = _members(tagger, sentence, tokens, wanted)
    if wanted.replacing:
        parts["altered"] = [altered(tagger, sentence, question, wanted.replacing) for question in questions]
    place = {tag: k for k, tag in enumerate(tagger.tags)}
    phi = phi_probabilities(table, tagger.tags)
    return [
        Explanation(
            model_of(tagger),
            sentence.words,
            *question,
            probability=float(table[question.token, place[question.tag]]),
            rival_probability=float(table[question.token, place[question.rival]]),
            phi=float(phi[question.token]),
            log_odds=log_odds(table, question.token, place[question.tag], place[question.rival]),
            **{name: values[i] for name, values in parts.items()},
        )
        for i, question in enumerate(questions)
    ]


def default_methods(tagger: Tagger) -> tuple[str, ...]:
    """What is done for a model where nobody asks for anything else."""
    if isinstance(tagger, CombinedTagger | RulesTagger):
        return METHODS[:1]  # for the members
    return METHODS[:1] if isinstance(tagger, CrfTagger) else METHODS[1:]


def model_of(tagger: Tagger) -> str:
    """The name of a tagger's model in `crfdeid.models.MODELS`; of one that is not there, that of its class."""
    names = {place.rpartition(":")[2]: name for name, place in MODELS.items()}
    return names.get(type(tagger).__name__, type(tagger).__name__)


def _question(tags: Sequence[str], table: np.ndarray, given: Sequence[str], token: int, wanted: Wanted) -> Question:
    """The tag to explain and its rival: as wanted, else what the model gives, and the best of another type."""
    for tag in (wanted.tag, wanted.rival):
        if tag is not None and tag not in tags:
            raise UsageError(f"no tag '{tag}' in this model: choose from {', '.join(tags)}")
    if len(tags) < 2:
        raise UsageError("this model has one tag alone: there is nothing to explain")
    chosen = given[token] if wanted.tag is None else wanted.tag
    others = [k for k, tag in enumerate(tags) if tag[2:] != chosen[2:]]
    others = others or [k for k, tag in enumerate(tags) if tag != chosen]
    rival = tags[max(others, key=lambda k: table[token, k])] if wanted.rival is None else wanted.rival
    if chosen == rival:
        raise UsageError(f"'{chosen}' cannot be compared with itself: choose another tag")
    return Question(token, chosen, rival)


def _rules(tagger: RulesTagger, sentence: Sentence, token: int) -> tuple[RuleFind, ...]:
    """The trusted rules that find a token."""
    return tuple(
        RuleFind(rule.name, *tagger.trusted[rule.name], sentence.words[first:stop])
        for rule, first, stop in find_rules(sentence)
        if first <= token < stop and rule.name in tagger.trusted
    )


def _members(
    tagger: CombinedTagger, sentence: Sentence, tokens: Sequence[int], wanted: Wanted
) -> list[tuple[Explanation, ...]]:
    """The explanations of a model's members, for each token; of a pipeline only what finds PHI explains PHI."""
    members = tagger.members[:1] if isinstance(tagger, PipelineTagger) else tagger.members
    found = []
    for member in members:
        if len(member.tags) > 1:
            known = {wanted.tag, wanted.rival} <= {None, *member.tags}
            own = wanted if known else replace(wanted, tag=None, rival=None)
            found.append(explain_tokens(member, sentence, tokens, own))
    return list(zip(*found, strict=True)) if found else [()] * len(tokens)
