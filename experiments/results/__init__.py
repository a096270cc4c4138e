"""The results of an experiment as data.

assemble.py       results.json of a comparison           schema.py        shape of results.json
private.py, joint.py, transfer.py  likewise, of these experiments
checks.py         validation of results.json             lines.py         reading and writing of JSON and JSON Lines
store.py          finished runs, for --resume            folder.py        files of an experiment's folder
"""
