"""Conditional random field: a linear chain over hand-made features, trained by CRFsuite and decoded in NumPy.

tagger.py          `CrfTagger`
training.py        `CrfSettings`, training with CRFsuite, and the learned weights
feature_index.py   sentences -> rows of weights
decoding.py        Viterbi paths, forward-backward marginals
"""

from crfdeid.crf.tagger import CrfTagger
from crfdeid.crf.training import CrfSettings

__all__ = ["CrfSettings", "CrfTagger"]
