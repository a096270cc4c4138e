"""Notes in, results out: folders of text, JSON Lines, CSV and Parquet, one note after the other.

records.py   NoteFile, Record, Note, Failure       text.py jsonl.py csv.py parquet.py   one module per kind of file
sources.py   which files there are: KINDS          tagged.py     what `crfdeid tag` writes
arrow.py     the note of a row of Arrow's
work.py      what is done with a note              workers.py    ... in several processes, results in order
damage.py    notes in mojibake, which fail
patients.py  which values name one patient         journal.py    the list of what is done
account.py   totals and the audit, from that list   begun.py    what it was begun with, for --resume
beside.py    concepts of redacted notes, in one file beside them
output.py    the output folder: lock, resume       pipeline.py   `process_files`: all of it, one file after the other
"""
