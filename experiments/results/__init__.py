"""The results of an experiment as data.

schema.py    shape of results.json, its validation, and views of the systems scored on one dataset and layer
assemble.py  results.json of an experiment
lines.py     reading and writing of JSON and JSON Lines
folder.py    files of a results folder, for readers and for the run that writes them
"""
