"""Training a network, or many replicates of it in one program.

phases.py      what is learned from what, and how: `Phase`, schedules, ways to cut updates
loop.py        `train`: phase after phase, scored on dev after each        held_out.py   the dev sentences
updates.py     the compiled updates                                        scoring.py    strict entity scores
draws.py       all that is drawn: order, word dropout, dropout masks
replicates.py  taggers trained together, in one program where they can be
"""
