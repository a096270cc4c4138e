"""``python -m experiments.private --help``."""

import sys

from experiments.core.command import main

if __name__ == "__main__":
    sys.exit(main("private"))
