"""What the README says a reader can type, typed."""

import re
from pathlib import Path

import pytest

from crfdeid import write_corpus
from crfdeid.corpora.synthetic import generate_notes
from experiments.options import parse

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(name: str) -> list[str]:
    """The commands of the code block after ``<!-- name -->``, as .ci/run reads them."""
    found = re.search(rf"<!-- {name} -->\n```\n(.*?)```", README, re.DOTALL)
    assert found, name
    return found[1].strip().splitlines()


def test_two_commands_set_up_one_runs_the_main_job_one_runs_the_tests():
    assert [len(block(name)) for name in ("set-up", "main-job", "tests")] == [2, 1, 1]


def test_every_compare_command_has_options_that_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^python -m experiments\.compare (.+)$", README, re.MULTILINE)
    assert len(commands) >= 2
    for command in commands:
        for path in re.findall(r"--(?:train|dev|test) (\S+)", command):
            Path(path).mkdir(parents=True, exist_ok=True)
        assert parse(command.split()).models.models == ("crf", "elman", "jordan")


def test_every_linked_page_is_there():
    for path in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / path).is_file(), path


@pytest.mark.slow
def test_the_python_example_runs_and_finds_the_doctor(tmp_path, monkeypatch, capsys):
    (source,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    write_corpus(list(generate_notes(40, seed=0)), tmp_path / "notes", format="brat")
    exec(compile(source, "README.md", "exec"), {"__name__": "readme"})
    out = capsys.readouterr().out
    assert "w[0]=Brown" in out
    assert "DOCTOR Huntington\n" in out
    assert "DATE 03/14/72\n" in out
