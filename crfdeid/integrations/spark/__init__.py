"""Notes in Spark: `redact` for data frames, and what `crfdeid redact --engine spark` does with files.

frames.py    redact: a data frame in, a redacted one out      sending.py   a model and work, sent to workers
files.py     files of notes: the driver's half                tasks.py     ... the workers' half
pieces.py    how files are shared out among tasks             joining.py   pieces of results, one file again
jobs.py      functions of tasks, done by workers              session.py   a Spark, started or found
connect.py   a session of a Spark Connect server              daemon.py    ... what it forks workers from
fetching.py  files from elsewhere, copied to workers

Nothing here imports Spark before it is used.
"""

from crfdeid.integrations.spark.frames import redact

__all__ = ["redact"]
