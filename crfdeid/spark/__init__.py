"""Notes in Spark: `redact` for data frames, and what `crfdeid redact --engine spark` does with files.

frames.py    redact: a data frame in, a redacted one out      session.py   sessions, a model sent to workers, jobs
files.py     files of notes: the driver's half                tasks.py     ... the workers' half
pieces.py    how files are shared out among tasks             joining.py   pieces of results, one file again

Nothing here imports Spark before it is used.
"""

from crfdeid.spark.frames import redact

__all__ = ["redact"]
