"""Redaction on Spark: `redact` for data frames, and files of notes for ``crfdeid redact --spark``.

frames.py    redact: a data frame in, a redacted one out
files.py     files of notes, the driver's part               tasks.py     slices of files, and the workers' part
jobs.py      Spark, started or found; its jobs; models for them
daemon.py    the process that forks local workers

Spark is imported on use only.
"""

from crfdeid.integrations.spark.frames import redact

__all__ = ["redact"]
