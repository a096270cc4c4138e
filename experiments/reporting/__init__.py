"""The report of an experiment.

files.py      all files of a report: tables, plots, report.html
page.py       report.html, from templates/            error_browser.py   every error at its place, for that page
explanations.py  a page for each document with errors, to ask its words on
browsed.py    the runs that this shows                examples.py        some errors in their text, for the terminal
findings.py   what the results say, in sentences      private, joint, transfer   likewise, of these experiments
"""
