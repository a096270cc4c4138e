"""Pretrained encoders: folders in the layout of the Hugging Face hub.

config.py       sizes of an encoder, from config.json
hub.py          a whole folder: sizes, weights under the library's names, tokenizer; the small default encoder
wordpiece.py    words to the ids of their pieces
subwords.py     sentences to word pieces, in overlapping windows over whole notes
"""
