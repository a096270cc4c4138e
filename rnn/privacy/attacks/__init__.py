"""Attacks on what is shared in the place of text; docs/sharing.md says what came of them.

targets.py      what is attacked: the names in annotated sentences
averaging.py    which name stands behind a published vector, by trying one after the other
linking.py      whether published vectors of one name find each other
inversion.py    words read out of vectors                decoder.py     what has learned to
every.py        all of them, with their controls
noise.py        how much noise an encoder adds           encoders.py    what to measure by: word vectors, pseudonyms
"""
