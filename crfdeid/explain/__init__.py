"""Look inside: what a model learned, and why it tags a word as it does. Analysis gives data; renderings stand apart.

prediction.py   `explain_prediction`: why this word       explanation.py  what an explanation is, as data
crf.py          a CRF's exact sum                         occlusion.py    sentences with other words, for any model
kinds.py        the kinds of feature strings              decisions.py    `explain_document`: why a span is hidden
reasons.py      why spans are hidden, as data             rendering/      text, Markdown, HTML, data frames, JSON
learned.py      `explain_weights`: what it learned        contents.py     what a model has learned, as data
"""

from crfdeid.explain.data import DocumentExplanation, Explanation, WeightSummary
from crfdeid.explain.decisions import explain_document
from crfdeid.explain.prediction import METHODS, explain_prediction
from crfdeid.explain.weights import explain_weights

__all__ = [
    "METHODS",
    "DocumentExplanation",
    "Explanation",
    "WeightSummary",
    "explain_document",
    "explain_prediction",
    "explain_weights",
]
