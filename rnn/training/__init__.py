"""Training of a network.

schedules.py   `Phase`, schedules of phases
loop.py        phase after phase, F on dev sentences after each
steps.py       the compiled step, and one update a sentence
minibatches.py one update of an optimiser for several sentences; loss of held-out rows
replicates.py  several trainings at once, by `jax.vmap` around the step
"""
