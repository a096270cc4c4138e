"""The results of an experiment as data.

assemble.py       results.json of a comparison           schema.py        shapes of results.json
private.py, joint.py, transfer.py  likewise, of these experiments         schema_parts.py  parts that the shapes share
checks.py         validation of results.json
store.py          finished runs, for --resume
folder.py         files of an experiment's folder        lines.py         reading and writing of JSON and JSON Lines
"""
