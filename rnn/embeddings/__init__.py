"""Word vectors to start a network from; docs/embeddings.md says what each is.

vectors.py           `WordVectors`, and how a network's vocabulary and table are made from them
"""

from rnn.embeddings.vectors import WordVectors, class_word, extend, initial_table, replace_rare, scaled

__all__ = ["WordVectors", "class_word", "extend", "initial_table", "replace_rare", "scaled"]
