"""The results of an experiment as data.

measurements.py  every number of the runs in one long table, and measurements.csv
schema.py        shape of results.json, and its validation
view.py          the measurements of some systems in one layer, for tables, plots and findings
folder.py        files of a results folder: their paths, their form, and their readers
store.py         results.json assembled, and the folder of the run that writes it
"""
