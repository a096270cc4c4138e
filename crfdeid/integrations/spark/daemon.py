"""What a Spark on this machine forks its Python workers from: PySpark's own process for that, ready in half the time.

Spark has its workers take PySpark from an archive of sources, which Python compiles anew at each start; installed, it
is on the disk compiled. And what all workers need is imported here, once, before they are forked.
"""

import sys
from importlib import import_module
from pathlib import Path
from runpy import run_module

_ARCHIVE = "pyspark.zip"
_NEEDED = ("pyspark.worker", "crfdeid.pipeline", "crfdeid.integrations.spark.tasks")

if __name__ == "__main__":
    sys.path.sort(key=lambda place: Path(place).name == _ARCHIVE)  # the archive last
    for name in _NEEDED:
        import_module(name)
    run_module("pyspark.daemon", run_name="__main__", alter_sys=True)
