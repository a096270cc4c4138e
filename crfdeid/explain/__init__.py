"""Explanations of models: a token's tag, the learned weights, and the reasons of each hidden span.

prediction.py   a token's tag, and each hidden span        data.py       explanations as frozen dataclasses
weights.py      `explain_weights`: the learned weights     occlusion.py  sentences with replaced words, for any model
page.py         HTML pages (templates/)                    render.py     text, Markdown, data frames, JSON
"""

from crfdeid.explain.data import DocumentExplanation, Explanation, WeightSummary
from crfdeid.explain.prediction import METHODS, explain_document, explain_prediction
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
