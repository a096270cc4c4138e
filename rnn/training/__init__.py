"""Training of a network.

schedules.py   `Phase`, division of rows into updates, schedules of phases
loop.py        phase after phase, scored on dev after each
steps.py       the compiled steps
validation.py  F on dev sentences
held_out.py    loss of held-out rows
replicates.py  several trainings at once, by `jax.vmap` around the step
"""
