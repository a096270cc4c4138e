"""``python -m experiments.joint --help``."""

import sys

from experiments.core.command import main

if __name__ == "__main__":
    sys.exit(main("joint"))
