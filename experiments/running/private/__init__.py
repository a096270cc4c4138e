"""Private training data (friedrich2019): substitutes of notes, trained on, scored and attacked.

systems.py    settings, sizes of each profile, systems             learning.py   raw notes, pseudonyms, representations
pooling.py    a provider and two hospitals                         attacks.py    the attacks on each system
experiment.py cells trained, scored and attacked, from settings to runs
"""
