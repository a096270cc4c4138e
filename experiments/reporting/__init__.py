"""The report of an experiment.

files.py          all files of a report: tables, plots, report.html, and a page for each document that explains its tags
error_browser.py  the browser of errors in report.html
findings.py       the results in sentences
"""
