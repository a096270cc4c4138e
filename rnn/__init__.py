"""Recurrent networks for tagging, in JAX and Flax.

batches.py           words to ids (`Vocabulary`), sentences to arrays of a few shapes (`Batch`)
settings.py          what the networks can be told, and the paper's values
embeddings/          the word vectors a network can start from
networks/            the equations: elman.py, jordan.py, and the recurrence both share
draws.py             all that training draws: word dropout, order, dropout masks
training.py          the only training loop, of one network or of many replicates side by side
decoding.py          from scores to tags
prediction.py        trained networks' best tags and posteriors of a batch
scoring.py           strict entity scores of many predictions at once
replicates.py        `fit_together`: train taggers of one architecture as one program, keep each one's best epoch
tagger.py            a network as a `crfdeid.tagger.Tagger`

Letters of shapes, in comments and docstrings throughout:

    B  sentences in a batch        W  words in a context window, 2m + 1      H  hidden units
    T  tokens in a sentence        D  size of a word vector                  K  tags
    m  words on either side        V  rows of the embedding table           N  replicates
"""

from rnn.models.elman import Elman, ElmanSettings, ElmanTagger
from rnn.models.jordan import Jordan, JordanSettings, JordanTagger
from rnn.vocabulary import Vocabulary

__all__ = ["Elman", "ElmanSettings", "ElmanTagger", "Jordan", "JordanSettings", "JordanTagger", "Vocabulary"]
