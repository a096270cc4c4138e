"""Training the systems of an experiment.

systems.py        which systems there are: models, embeddings, settings, seeds
runs.py           train, tag and score them, in one process or several
embeddings.py     the word vectors they start from      device.py      CPU or GPU
significance.py   which differences hold                progress.py    progress bars
"""
