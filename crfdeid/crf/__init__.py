"""The conditional random field: a linear chain over hand-made features, trained by CRFsuite and decoded in NumPy.

tagger.py          `CrfTagger`                                settings.py    what it is trained with
training.py        CRFsuite at work                           crfsuite.py    reads the file that CRFsuite writes
weights.py         what a CRF has learned                     inference.py   Viterbi, and the marginals by the
feature_index.py   sentences -> rows of weights                              forward-backward algorithm
remembered.py      what was looked up once
"""

from crfdeid.crf.settings import CrfSettings
from crfdeid.crf.tagger import CrfTagger

__all__ = ["CrfSettings", "CrfTagger"]
