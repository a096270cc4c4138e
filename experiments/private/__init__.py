"""Private training data (friedrich2019): substitutes of notes, trained on, scored and attacked.

options.py   settings, sizes of each profile, options    systems.py   systems of the tables and of pooling
learning.py  training of each kind of system             attacks.py   the attacks on each system
experiment.py  from settings to results                  report.py, plots.py   tables, plots and findings
"""
