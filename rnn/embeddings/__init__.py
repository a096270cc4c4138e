"""Word vectors to start a network from; docs/embeddings.md says what each is.

vectors.py           `WordVectors`, and how a network's vocabulary and table are made from them
random.py, cbow.py, rnnlm.py, pretrained.py     one source of vectors each
cache.py             vectors that were trained once are kept on disk
language_model.py    the equations of the language model behind rnnlm.py
neighbours.py        nearest neighbours, and how many words have no vector
"""

from rnn.embeddings.cache import cached
from rnn.embeddings.cbow import CbowSettings, train_cbow
from rnn.embeddings.neighbours import nearest, out_of_vocabulary, probe_words
from rnn.embeddings.pretrained import read_vectors
from rnn.embeddings.random import random_vectors
from rnn.embeddings.rnnlm import RnnlmSettings, train_rnnlm
from rnn.embeddings.vectors import WordVectors, class_word, extend, initial_table, replace_rare

__all__ = [
    "CbowSettings",
    "RnnlmSettings",
    "WordVectors",
    "cached",
    "class_word",
    "extend",
    "initial_table",
    "nearest",
    "out_of_vocabulary",
    "probe_words",
    "random_vectors",
    "read_vectors",
    "replace_rare",
    "train_cbow",
    "train_rnnlm",
]
