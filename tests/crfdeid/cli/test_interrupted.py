"""Ctrl-C and SIGTERM at any moment: one line, no traceback, and the exit code that shells know."""

from __future__ import annotations

import subprocess
import sys

import pytest

import crfdeid

# Ctrl-C comes while a module is being imported. A shell lets what it starts in the background ignore it: not here.
_CODE = """
import signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
from crfdeid.cli import main
sys.exit(main(["redact", "model", "-"]))
"""


@pytest.mark.parametrize("module", ["crfdeid.cli.shell", "click", "numpy", "crfdeid.registry"])
def test_while_a_module_is_imported(module: str) -> None:
    command = [sys.executable, "-c", _CODE, module]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr.startswith("error: interrupted: run it again")
    assert done.stderr.count("\n") == 1


# A signal comes where the exception that answers it is lost: Python drops it in a finaliser, or a library catches it.
_LOST = _CODE.replace("            raise KeyboardInterrupt", "            lose(getattr(signal, sys.argv[2]))").replace(
    "class Interrupting",
    """class Removed:
    def __del__(self):
        signal.raise_signal(self.number)

def in_finaliser(number):
    removed = Removed()
    removed.number = number

def in_library(number):
    try:
        signal.raise_signal(number)
    except BaseException:
        pass

lose = globals()[sys.argv[3]]

class Interrupting""",
)


@pytest.mark.parametrize("where", ["in_finaliser", "in_library"])
@pytest.mark.parametrize(("number", "code", "says"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "ended by SIG")])
@pytest.mark.parametrize("module", ["click", "numpy"])
def test_where_the_exception_is_lost(module: str, number: str, code: int, says: str, where: str) -> None:
    command = [sys.executable, "-c", _LOST, module, number, where]
    done = subprocess.run(command, capture_output=True, text=True, check=False, input="")
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert done.stderr.startswith(f"error: {says}")
    assert "run it again" in done.stderr


# Clean-up takes longer than the time after which a lost exception is raised again.
_CLEANING = """
import contextlib, signal, sys, time
from crfdeid.cli.run import run_command

@contextlib.contextmanager
def cleaned():
    try:
        yield
    finally:
        for part in range(6):
            time.sleep(0.1)
        print("cleaned", flush=True)

class Slow:
    def __enter__(self):
        return self
    def __exit__(self, *problem):
        time.sleep(0.5)
        print("slowly", flush=True)

def work():
    with cleaned(), Slow():
        signal.raise_signal(signal.SIGTERM)

sys.exit(run_command(work, interrupted="run it again", out_of_memory=""))
"""


def test_clean_up_is_not_interrupted() -> None:
    done = subprocess.run([sys.executable, "-c", _CLEANING], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (143, "slowly\ncleaned\n"), done.stderr
    assert done.stderr == "error: ended by SIGTERM: run it again\n"


def test_an_error_of_clean_up_is_no_traceback() -> None:
    code = _CLEANING.replace('print("cleaned", flush=True)', 'raise RuntimeError("of clean-up")')
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "error: ended by SIGTERM: run it again\n")


def test_the_package_starts_without_numpy_and_has_all_that_it_names() -> None:
    code = "import sys, crfdeid, crfdeid.cli; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    for name in crfdeid.__all__:
        assert getattr(crfdeid, name).__class__
    with pytest.raises(AttributeError, match="'crfdeid' has no attribute 'nothing'"):
        _ = crfdeid.nothing
