"""Parts that networks share.

lstm.py            bidirectional LSTM layers
softmax.py, crf.py scores of the tags: loss, best path, probabilities
dropout.py         dropout of units and words
transformer.py     the encoder of BERT and RoBERTa
"""
