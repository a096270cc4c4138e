"""Redaction on Spark: `redact` for data frames, and tables of files or a catalog for ``crfdeid redact --spark``.

frames.py    data frames                       tables.py    Spark's readers and writers
sessions.py  sessions, and models for workers

Spark is imported on use only.
"""

from crfdeid.integrations.spark.frames import redact

__all__ = ["redact"]
