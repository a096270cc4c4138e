"""A CRF's tags, explained exactly: its log-odds are a sum of weights, and of what the neighbours say.

For the tags a and b of token t,

    log P(y_t = a | x) - log P(y_t = b | x) = sum over the features f of x at t of (w[f, a] - w[f, b])
                                              + F[t, a] - F[t, b] + B[t, a] - B[t, b],

with the forward and backward messages F and B of `crfdeid.crf.inference.log_messages`. Nothing is approximated.

Reference:
    Lafferty et al. (2001), section 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from crfdeid.crf import CrfTagger
from crfdeid.crf.inference import log_messages
from crfdeid.explaining.explanation import CrfSum, FeatureTerm, Question
from crfdeid.explaining.kinds import kind_of
from features.tokens import Sentence


def crf_sums(tagger: CrfTagger, sentence: Sentence, questions: Sequence[Question]) -> list[CrfSum]:
    """The log-odds of each question taken apart.

    Args:
        tagger: a trained CRF.
        sentence: the sentence.
        questions: tokens of it, and tags that the tagger has.
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
    for token, tag, rival in questions:
        a, b = number[tag], number[rival]
        terms = [
            FeatureTerm(
                name, kind_of(name), names[token][name], float(learned.state[row, a]), float(learned.state[row, b])
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
