"""The results of an experiment as data.

assemble.py       makes them, in one go                 schema.py     what they and the files beside them hold
private.py, joint.py, transfer.py  likewise, of these experiments
schema_private.py, schema_joint.py, schema_transfer.py  likewise     schema_parts.py  what all of them have
checks.py         whether a file holds that
environment.py    versions, device, processor           store.py      keeps finished runs, for --resume
folder.py         where each file of an experiment lies     lines.py      JSON and JSON Lines, written and read back
"""
