"""Recurrent networks for tagging, in JAX and Flax.

batches.py           words to ids (`Vocabulary`), sentences to arrays of a few shapes (`Batch`)
settings.py          what the networks can be told, and the paper's values
networks/            the equations: elman.py, jordan.py, and the recurrence both share
training.py          the only training loop
decoding.py          from scores to tags
tagger.py            a network as a `crfdeid.tagger.Tagger`

Letters of shapes, in comments and docstrings throughout:

    B  sentences in a batch        W  words in a context window, 2m + 1      H  hidden units
    T  tokens in a sentence        D  size of a word vector                  K  tags
    m  words on either side        V  rows of the embedding table
"""

from rnn.batches import Vocabulary
from rnn.networks import Elman, Jordan
from rnn.settings import ElmanSettings, JordanSettings
from rnn.tagger import ElmanTagger, JordanTagger

__all__ = ["Elman", "ElmanSettings", "ElmanTagger", "Jordan", "JordanSettings", "JordanTagger", "Vocabulary"]
