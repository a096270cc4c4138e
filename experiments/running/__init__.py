"""An experiment's work.

settings.py       what is asked for                     experiment.py   the whole of a comparison, in its order
systems.py        what is compared, in cells of work    runs.py         cells trained and scored, side by side
embeddings.py     the word vectors to start from        device.py       CPU or GPU, and how many at a time
prepared.py       what all experiments have in common   private/        the experiment on private training data
significance.py   which differences hold                joint/          the experiment on PHI and concepts
"""
