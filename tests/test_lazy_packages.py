"""Packages that import their names on first use list them before that, for completion by Tab."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAZY = [
    ".".join(path.relative_to(ROOT).parts[:-1])
    for layer in ("features", "crfdeid", "rnn", "experiments")
    for path in (ROOT / layer).rglob("__init__.py")
    if "def __getattr__" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("package", LAZY)
def test_the_names_of_a_lazy_package_are_listed_and_not_imported(package: str) -> None:
    code = (
        f"import sys, {package} as it\nmissing = {{*it.__all__}} - {{*dir(it)}}\n"
        "sys.exit(sorted(missing) or sorted({'jax', 'numpy'} & sys.modules.keys()) or 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
