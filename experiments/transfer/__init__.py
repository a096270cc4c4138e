"""Transfer of models between corpora (johnson2020).

options.py   settings, and options with the names of corpora   scores.py   scores in the test documents of a corpus
experiment.py  from settings to results                        report.py   tables, matrices and findings
"""
