"""Ctrl-C at any moment: one line, no traceback, and the exit code that shells know."""

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
sys.exit(main(["redact", "--model", "model", "--input", "-"]))
"""


@pytest.mark.parametrize("module", ["crfdeid.cli.shell", "argparse", "numpy", "crfdeid.models"])
def test_while_a_module_is_imported(module: str) -> None:
    command = [sys.executable, "-c", _CODE, module]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr.startswith("error: interrupted: run it again")
    assert done.stderr.count("\n") == 1


# Ctrl-C comes while Python removes an object, as it may at any time: there Python drops what is raised.
_DROPPED = _CODE.replace("            raise KeyboardInterrupt", "            Removed()").replace(
    "class Interrupting",
    """class Removed:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

class Interrupting""",
)


@pytest.mark.parametrize("module", ["argparse", "numpy"])
def test_where_python_would_drop_it(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _DROPPED, module], capture_output=True, text=True, check=False, input=""
    )
    assert (done.returncode, done.stderr.count("\n")) == (130, 1)
    assert done.stderr.startswith("error: interrupted: run it again")


def test_the_package_starts_without_numpy_and_has_all_that_it_names() -> None:
    code = "import sys, crfdeid, crfdeid.cli; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    for name in crfdeid.__all__:
        assert getattr(crfdeid, name).__class__
    with pytest.raises(AttributeError, match="'crfdeid' has no attribute 'nothing'"):
        _ = crfdeid.nothing
