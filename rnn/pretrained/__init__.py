"""Pretrained encoders: folders in the layout of the Hugging Face hub.

config.py       sizes of an encoder and labels of a finished token classifier, from config.json
hub.py          a whole folder: sizes, weights under the library's names, tokenizer (words to the ids of their pieces)
subwords.py     sentences to word pieces, in overlapping windows over whole notes
export.py       a trained model as a folder that the library transformers reads
text.py         likewise by the tokenizer's own words, and a classifier's labels as tags of tokens
"""
