"""Input and output of notes: folders of text, JSON Lines, CSV and Parquet files, one note at a time.

records.py   NoteFile, Note, NoteResult, Failure,    text.py jsonl.py csv.py parquet.py   one module a format
             rows of tables                          sources.py       files below a folder; NOTE_FORMATS
remote.py    the same by URL (S3, GCS, Azure, HDFS)  date_columns.py  columns of dates next to surrogates
worker.py    what is required of workers, mojibake     annotations.py   formats of `crfdeid tag`, sidecars
runner.py    process_files, in several processes     run_report.py    totals of a run, and its report
output.py    output folder: lock, run state, staging, resume
replacements.py  records of what was replaced, next to the redacted notes
"""
