"""Transfer of models between corpora (johnson2020, Tables 2 to 6): each trained on each corpus, and tested on all.

systems.py    settings, and each model on each corpus    corpora.py      corpora, read in the types they share
scores.py     tokens found and missed, with intervals    experiment.py   training and tagging, from settings to runs
"""
