"""Data files of the packages: setup.py installs every one of them."""

import ast
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
CODE = {".py", ".pyc", ".pyi"}


def installed() -> dict[str, list[str]]:
    """The patterns of `package_data` in setup.py, by package."""
    for node in ast.walk(ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "package_data":
            found: dict[str, list[str]] = ast.literal_eval(node.value)
            return found
    raise AssertionError("setup.py has no package_data")


def data_files() -> list[PurePosixPath]:
    files = (path for name in ("crfdeid", "features", "rnn", "experiments") for path in (ROOT / name).rglob("*.*"))
    return sorted(PurePosixPath(path.relative_to(ROOT)) for path in files if path.is_file() and path.suffix not in CODE)


def package_of(file: PurePosixPath) -> PurePosixPath:
    return next(folder for folder in file.parents if (ROOT / folder / "__init__.py").exists())


@pytest.mark.parametrize("file", data_files(), ids=str)
def test_each_data_file_is_installed(file: PurePosixPath) -> None:
    package = package_of(file)
    patterns = installed().get(".".join(package.parts), [])
    assert any(ROOT / file in (ROOT / package).glob(pattern) for pattern in patterns)


def test_there_are_data_files() -> None:
    assert PurePosixPath("crfdeid/corpora/synthetic/words.txt") in data_files()
