"""Input and output of notes: folders of text, JSON Lines, CSV and Parquet files, one note at a time.

records.py   NoteFile, Note, NoteResult, Failure     text.py jsonl.py csv.py parquet.py   one module a format
rows.py      notes of the rows of a table            sources.py       files below a folder; NOTE_FORMATS
worker.py    workers, and their refusal of mojibake  date_columns.py  columns of dates next to surrogates
runner.py    process_files, in several processes     annotations.py   formats of `crfdeid tag`, sidecars
output.py    lock, staging, resume of a run          run_report.py    totals of a run, and its report
journal.py   notes and files that a run finished     replacements.py  records of replacements, next to the notes
table_layouts.py   columns of standard tables        documents.py     DOCX and PDF
"""
