"""Private training data (friedrich2019): what is trained in the place of notes, and how it is scored and attacked.

settings.py   what is asked for, and the sizes of each profile     systems.py    what is trained
learning.py   raw notes, pseudonyms, representations, DANN          pooling.py    a provider and two hospitals
attacks.py    the attacks on each                                   plan.py       a cell: trained, scored, attacked
experiment.py the whole, from settings to runs
"""
