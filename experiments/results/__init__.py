"""The results of an experiment as data.

schema.py   shape of results.json, its validation, and views of the systems scored on one dataset and layer
folder.py   files of a results folder: their paths, their form, and their readers
store.py    results.json assembled, and the folder of the run that writes it
"""
