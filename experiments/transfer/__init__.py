"""Transfer of models between corpora (johnson2020).

options.py     settings, options, and the corpora that they name, in the types that they share
experiment.py  from settings to results: scores and intervals    report.py   tables, matrices and findings
"""
