"""The conditional random field: a linear chain over hand-made features, trained by CRFsuite and decoded in NumPy.

tagger.py          `CrfTagger`, its settings, training        weights.py     what a CRF has learned
feature_index.py   feature strings -> rows of weights         crfsuite.py    reads the file that CRFsuite writes
inference.py       Viterbi, and the marginals by the forward-backward algorithm
"""

from crfdeid.crf.tagger import CrfSettings, CrfTagger

__all__ = ["CrfSettings", "CrfTagger"]
