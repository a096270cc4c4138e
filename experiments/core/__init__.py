"""What all experiments share.

experiment.py   the protocol of an experiment, and its preparation     command.py    its command: training and output
options.py      options and their values                               settings.py   settings that they become
systems.py      systems, cells, sweeps                                 training.py   cells trained and scored
embeddings.py   word vectors                                           significance.py   tests of differences
"""
