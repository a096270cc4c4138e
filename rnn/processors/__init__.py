"""Processors: sentences to the rows a network reads, and what it says of the rows back to the sentences' tokens.

processor.py         `Processor`, what every processor is
words.py         a token by the number of its word; casing.py, characters.py, features.py: what it reads beside that
stacked.py       two readings of a sentence: one of all that is there, and one for what must not see PHI
subwords.py      tokens as word pieces, in windows over whole notes
"""
