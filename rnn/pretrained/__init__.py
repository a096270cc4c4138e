"""Pretrained encoders: folders as the Hugging Face hub lays them out, read as they are.

config.py     the sizes of an encoder, from config.json
hub.py        a whole folder: sizes, weights by our names, tokenizer
pieces.py     words to the numbers of their word pieces
small.py      the small one that is there by default: where it lies, and how it is fetched
"""
