"""An experiment's work.

settings.py       what is asked for                     experiment.py   the whole of a comparison, in its order
systems.py        what is compared, in cells of work    runs.py         cells trained and scored
embeddings.py     the word vectors to start from        workers.py      many of them side by side
device.py         CPU or GPU, and how many at a time    prepared.py     what all experiments have in common
significance.py   which differences hold                sweeps.py       settings that are tried
private/          the experiment on private data        joint/          the experiment on PHI and concepts
transfer/         models that travel between corpora
"""
