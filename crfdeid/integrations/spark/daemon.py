"""Process that forks the Python workers of a local Spark: PySpark's own daemon, ready in half the time.

Spark lets its workers import PySpark from an archive of sources, which Python compiles at each start, although the
installed package is compiled already. All modules that workers need are imported here once, before the first fork.
"""

import sys
from importlib import import_module
from pathlib import Path
from runpy import run_module

_ARCHIVE = "pyspark.zip"
_NEEDED = ("pyspark.worker", "crfdeid.pipeline", "crfdeid.integrations.spark.tasks")

if __name__ == "__main__":
    sys.path.sort(key=lambda path: Path(path).name == _ARCHIVE)  # the archive last
    for name in _NEEDED:
        import_module(name)
    run_module("pyspark.daemon", run_name="__main__", alter_sys=True)
