"""The report of an experiment.

kinds.py      tables, plots and findings of each kind of experiment
files.py      all files of a report: tables, plots, report.html
page.py       report.html, from templates/            error_browser.py   its browser of errors
explanations.py  a page for each document with errors, which explains the tag of any word
findings.py   the results in sentences                private, joint, transfer   likewise, of these experiments
"""
