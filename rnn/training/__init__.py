"""Training a network, or many replicates of it in one program.

phases.py      what is learned from what, and how: `Phase`, schedules, ways to cut updates
loop.py        `train`: phase after phase, scored on dev after each        held_out.py   dev and held-out rows
                                                                            dev_notes.py  dev, read by windows
updates.py     the compiled updates                                        scoring.py    strict entity scores
structure.py   weights by name, some of which move                         draws.py      order, word dropout, masks
replicates.py  taggers trained together, in one program where they can be
"""
