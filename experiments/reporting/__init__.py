"""The report of an experiment.

files.py      all files of a report: tables, plots, report.html
page.py       report.html, from templates/            error_browser.py   every error at its place, for that page
browsed.py    the runs that this shows                private, joint     what the results of these experiments say
findings.py   what the results say, in sentences      examples.py        some errors in their text, for the terminal
"""
