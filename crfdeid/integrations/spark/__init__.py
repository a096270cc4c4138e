"""Redaction on Spark: `redact` for data frames, and files of notes for ``crfdeid redact --spark``.

frames.py    redact: a data frame in, a redacted one out     slices.py    slices of files, and their assignment to tasks
files.py     files of notes, the driver's part               tasks.py     files of notes, the workers' part
jobs.py      jobs on Spark's workers; models for them        session.py   Spark, started or found
daemon.py    the process that forks local workers

Spark is imported on use only.
"""

from crfdeid.integrations.spark.frames import redact

__all__ = ["redact"]
