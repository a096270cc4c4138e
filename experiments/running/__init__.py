"""The work of an experiment.

settings.py       settings                              experiment.py   a comparison, from its settings to its runs
systems.py        systems, cells, sweeps                runs.py         cells trained and scored
embeddings.py     word vectors                          workers.py      cells in several processes
device.py         CPU or GPU, and number of jobs        prepared.py     steps that all experiments share
significance.py   tests of differences
private/          the experiment on private data        joint/          the experiment on PHI and concepts
transfer/         the experiment on transfer between corpora
"""
