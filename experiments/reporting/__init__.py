"""The report of an experiment.

files.py      all files of a report: tables, plots, report.html, and a page for each document that explains its tags
page.py       report.html, from templates/            error_browser.py   its browser of errors
findings.py   the results in sentences
"""
