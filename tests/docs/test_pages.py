"""The hand-written pages of docs/ keep their lengths and the house style."""

import contextlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

from crfdeid.errors import MissingExtraError
from features import FEATURE_SETS

ROOT = Path(__file__).parents[2]
CHECKS = runpy.run_path(str(ROOT / "docs" / "checks.py"))
PAGES = CHECKS["pages"]()


def test_pages_keep_their_lengths():
    lengths = {page.relative_to(ROOT).as_posix(): len(page.read_text(encoding="utf-8").split()) for page in PAGES}
    print(*(f"{length:6,}  {name}" for name, length in lengths.items()), sep="\n")  # with pytest -s
    assert CHECKS["too_long"](lengths) == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_a_page_has_the_house_style(page):
    assert list(CHECKS["problems"](page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"It has {'very ' * 30}long sentences.", id="sentence"),
        pytest.param("Whoever reads this.", id="phrase"),
        pytest.param("The CRF reaches 97.32 in the test.", id="F"),
        pytest.param("It is 2.5 times faster.", id="speed"),
    ],
)
def test_what_breaks_the_style_is_found(text):
    assert len(list(CHECKS["problems"](f"# Title\n\n{text} A short one.\n"))) == 1


@pytest.mark.parametrize(
    "text",
    ["```python\nf1 = 97.32  # whoever\n```", "| F | 97.32 |\n| --- | --- |", "`97.32` is code.", "95 % of 300 notes."],
)
def test_code_and_tables_are_left(text):
    assert list(CHECKS["problems"](f"# Title\n\n{text}\n")) == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_names_and_files_of_the_library_exist(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\b(?:crfdeid|features|rnn|experiments)(?:\.[A-Za-z_]\w*)+", text):
        if not name.endswith((".py", ".md", ".NAME")):
            with contextlib.suppress(MissingExtraError):
                pkgutil.resolve_name(name)
    for path in re.findall(r"`((?:crfdeid|features|rnn|experiments|benchmarks|tests|docs)/[\w/.-]*)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", ["explanation/crf-and-features.md", "explanation/vectors-and-encoders.md", "reference/synthetic-corpus.md"]
)
def test_the_code_of_a_page_runs(page, monkeypatch, capsys):
    monkeypatch.setattr("features.extractor.FEATURE_SETS", dict(FEATURE_SETS))  # a page adds one
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(compile(block, page, "exec"), {"__name__": "page"})
