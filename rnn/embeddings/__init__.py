"""Word vectors to start a network from; docs/embeddings.md says what each is.

vectors.py           `WordVectors`, and how a network's vocabulary and table are made from them
subwords.py          vectors for words that have none, from their parts
lookup.py            the vector of any word, as the vectors' readers read it
concatenated.py      several kinds of vectors side by side
random.py, cbow.py, fasttext.py, rnnlm.py, pretrained.py     one source of vectors each
gensim_text.py       what cbow.py and fasttext.py share
language_model.py    the equations of the language model behind rnnlm.py
fasttext_file.py     the binary files behind pretrained.py that gensim does not read
cache.py             vectors that were trained once are kept on disk
neighbours.py        nearest neighbours, and how many words have no vector
"""

from rnn.embeddings.lookup import concatenate
from rnn.embeddings.neighbours import nearest, out_of_vocabulary, probe_words
from rnn.embeddings.pretrained import read_vectors
from rnn.embeddings.rnnlm import RnnlmSettings, train_rnnlm
from rnn.embeddings.subwords import SubwordVectors
from rnn.embeddings.vectors import (
    WordVectors,
    cached,
    class_word,
    extend,
    initial_table,
    matching_scale,
    random_vectors,
    replace_rare,
    unseen_vectors,
)
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
