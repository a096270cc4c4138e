"""The conditional random field: a linear chain over hand-made features, trained by CRFsuite and decoded in NumPy.

tagger.py          `CrfTagger`                                settings.py    what it is trained with
training.py        CRFsuite at work                           crfsuite.py    reads the file that CRFsuite writes
weights.py         what a CRF has learned                     viterbi.py     the best paths
feature_index.py   sentences -> rows of weights               inference.py   the marginals by the forward-backward
conjunctions.py    those of neighbouring words together                      algorithm
remembered.py      what was looked up once
"""

from crfdeid.crf.tagger import CrfTagger
from crfdeid.crf.training import CrfSettings

__all__ = ["CrfSettings", "CrfTagger"]
