"""A limit on the size of files, which makes writing fail as a full disk does."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Let no file that this process writes grow beyond ``size`` bytes.

    Python does not check whether it has written a module's bytecode in full (before 3.14). A module that is imported
    for the first time under the limit would leave a damaged file, so no bytecode is written here.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    no_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = no_bytecode
