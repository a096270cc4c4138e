"""An experiment's work.

settings.py       what is asked for                     experiment.py   the whole of it, in its order
systems.py        what is compared, in cells of work    runs.py         cells trained and scored, side by side
embeddings.py     the word vectors to start from        device.py       CPU or GPU, and how many at a time
significance.py   which differences hold
"""
