"""Processors: sentences to the rows that a network reads, and results of rows back to the sentences' tokens.

base.py        `Processor`, the interface
inputs.py      further inputs of a token: casing class, characters, hand-made features
stacked.py     the rows of a stacked model, with inputs for a part that must not see PHI
subwords.py    word pieces, in overlapping windows over whole notes
"""
