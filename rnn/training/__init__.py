"""Training of a network.

schedules.py   `Phase`, schedules of phases
losses.py      the loss of tags by its name in settings
loop.py        phase after phase, F on dev sentences after each
turns.py       batches of several layers in turn
steps.py       the compiled step, and one update a sentence
minibatches.py one update of an optimiser for several sentences; loss of held-out rows
replicates.py  several trainings at once, by `jax.vmap` around the step
"""
