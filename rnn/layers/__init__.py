"""Parts that networks share.

windows.py       context windows, and what is the same in all networks over them
recurrence.py    the run of a cell over a sentence; initial weights
tokens.py        what is read of each token         characters.py    a word's characters as a vector
lstm.py          bidirectional LSTM layers          crf.py           the linear-chain CRF
noise.py         Gaussian noise, its deviation learned
representation.py    a BiLSTM with noise before and after it: the private representation
transformer.py   the encoder of BERT and RoBERTa
reversal.py      the gradient reversal layer        masked.py        the masked embedding layer
"""
