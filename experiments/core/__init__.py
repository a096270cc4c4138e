"""Parts that all experiments share.

experiment.py   the protocol of an experiment, and its preparation     command.py    its command: training and output
options.py      options and their values                               training.py   cells trained and scored
systems.py      systems, cells, sweeps                                 embeddings.py word vectors
"""
