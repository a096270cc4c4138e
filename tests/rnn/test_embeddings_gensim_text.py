"""What holds for all vectors that gensim trains."""

import os
import subprocess
import sys

from rnn.embeddings.word2vec import CbowSettings, FasttextSettings, train_cbow, train_fasttext

SENTENCES = [["fever", "and", "cough"], ["cough", "and", "Doe"]] * 9


def trained():
    """All that is learned from a text, as text."""
    words = train_cbow(SENTENCES, CbowSettings(dim=5, epochs=2))
    parts = train_fasttext(SENTENCES, FasttextSettings(dim=5, epochs=2, buckets=30))
    tables = (words.table, parts.table, parts.subwords.buckets)
    return f"{words.words} {parts.words} {' '.join(table.tobytes().hex() for table in tables)}"


def test_the_hash_seed_of_the_process_changes_nothing():
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    there = subprocess.run([sys.executable, __file__], env=environment, check=True, capture_output=True, text=True)
    assert there.stdout == trained() + "\n"


if __name__ == "__main__":
    print(trained())
