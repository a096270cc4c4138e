"""The results of an experiment as data.

assemble.py       makes them, in one go                 schema.py     what they hold, and whether a file holds it
environment.py    versions, device, processor           shapes.py     the shapes that the schema is made of
folder.py         writes them and all that goes with them
store.py          keeps finished runs, for --resume
"""
