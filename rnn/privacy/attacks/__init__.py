"""Attacks on shared vectors; docs/sharing.md gives their results.

encoders.py         interface of attacked encoders, reference encoders, the noise of an encoder
targets.py          attacked names of annotated sentences
averaging.py        inversion by averaging: the name of a vector, by trying candidates
inversion.py        learned inversion: words read out of vectors by a decoder
linking.py          recognition of vectors of the same name
same_sentence.py    adversaries that classify pairs of sentences, with controls
suite.py            all attacks, for a card and for experiments
"""
