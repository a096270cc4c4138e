"""The results of an experiment as data.

assemble.py       makes them, in one go                 schema.py     what they hold, and whether a file holds it
private.py, joint.py  likewise, of these experiments
environment.py    versions, device, processor           store.py      keeps finished runs, for --resume
folder.py         writes them and all that goes with them
"""
