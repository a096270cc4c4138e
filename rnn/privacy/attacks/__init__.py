"""Attacks on shared vectors; benchmarks/results/privacy.md has results, and `rnn.privacy.attack_card` makes them all.

encoders.py         interface of attacked encoders, reference encoders, the noise of an encoder
names.py            names by averaging candidates, and linking of vectors of the same name
inversion.py        words read out of vectors by a decoder
same_sentence.py    adversaries that classify pairs of sentences, with controls
"""
