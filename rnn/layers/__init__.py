"""Parts that networks share.

windows.py       context windows, and what is the same in all networks over them
recurrence.py    the run of a cell over a sentence; initial weights
lstm.py          the bidirectional LSTM                crf.py           the linear-chain CRF
characters.py    a word's characters as a vector    noise.py         Gaussian noise, its deviation learned
reversal.py      the gradient reversal layer
"""
