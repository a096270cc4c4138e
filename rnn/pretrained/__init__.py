"""Pretrained encoders: folders in the layout of the Hugging Face hub.

config.py       sizes of an encoder, from config.json
hub.py          a whole folder: sizes, weights under the library's names, tokenizer
wordpiece.py    words to the ids of their pieces
small.py        the default encoder, small and English: its folder, and its download
"""
