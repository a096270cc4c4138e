"""Codecs: sentences to the rows a network reads, and what it says of the rows back to the sentences' tokens.

codec.py         `Codec`, what every codec is
words.py         a token by the number of its word, its casing, its characters and hand-made features
characters.py    characters to numbers
subwords.py      tokens as word pieces, in windows over whole notes
"""
