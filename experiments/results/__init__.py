"""The results of an experiment as data.

schema.py     shape of results.json, and its validation      assemble.py   results.json of an experiment
views.py      systems scored on one dataset and layer        lines.py      reading and writing of JSON and JSON Lines
folder.py     files of a results folder, for readers and for the run that writes them
"""
