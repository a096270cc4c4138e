"""How models travel between corpora (johnson2020, Tables 2 to 6): each trained on each corpus, and tested on all.

settings.py   what is asked for                          corpora.py      which corpora, read in the types they share
systems.py    each model on each corpus                  plan.py         cells trained, and tagging every test corpus
scores.py     tokens found and missed, with intervals    experiment.py   the whole, from settings to runs
"""
