"""Training a network, or many replicates of it in one program.

phases.py      `Phase`, schedules of phases, division of rows into updates
loop.py        `train`: phase after phase, scored on dev after each
held_out.py    F on dev sentences, loss of held-out rows
dev_notes.py   F on dev notes that are read by windows
updates.py     compiled updates
scoring.py     strict entity scores of arrays of tag ids
structure.py   weights by name, trained or frozen
draws.py       random numbers: order, word dropout, masks, noise
replicates.py  training of taggers, several in one program
"""
