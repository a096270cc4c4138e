"""Private training data (friedrich2019): substitutes of notes, trained on, scored and attacked.

options.py     settings, options, and the systems of the tables and of pooling
learning.py    training of each kind of system
experiment.py  from settings to results: scores and attacks    report.py, plots.py   tables, plots and findings
"""
