"""Initial word vectors of networks; docs/explanation/vectors-and-encoders.md describes each source.

vectors.py       `WordVectors`, those of unknown words from their n-grams, random vectors, the cache of trained ones
lookup.py        the vector of any word, a network's initial vocabulary and table, concatenation of several sources,
                 nearest neighbours, and the share of words without a vector
word2vec.py      training by gensim: continuous bag of words, fastText's skip-gram
rnnlm.py         training by a recurrent language model
pretrained.py    files of word2vec, GloVe and fastText
"""

from rnn.embeddings.lookup import (
    concatenate,
    extend,
    initial_table,
    matching_scale,
    nearest,
    out_of_vocabulary,
    probe_words,
    unseen_vectors,
)
from rnn.embeddings.pretrained import read_vectors
from rnn.embeddings.rnnlm import RnnlmSettings, train_rnnlm
from rnn.embeddings.vectors import SubwordVectors, WordVectors, cached, class_word, random_vectors, replace_rare
from rnn.embeddings.word2vec import CbowSettings, FasttextSettings, train_cbow, train_fasttext

__all__ = [
    "CbowSettings",
    "FasttextSettings",
    "RnnlmSettings",
    "SubwordVectors",
    "WordVectors",
    "cached",
    "class_word",
    "concatenate",
    "extend",
    "initial_table",
    "matching_scale",
    "nearest",
    "out_of_vocabulary",
    "probe_words",
    "random_vectors",
    "read_vectors",
    "replace_rare",
    "train_cbow",
    "train_fasttext",
    "train_rnnlm",
    "unseen_vectors",
]
