"""What the README and the pages in docs/ and benchmarks/ say a reader can type, typed; and where their links lead."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from crfdeid.registry import model_settings
from experiments.core.command import parse

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "benchmarks").rglob("*.md"))]
OUTSIDE = [page for page in PAGES if not page.is_relative_to(ROOT / "docs")]
"""Pages that are not in the documentation, whose build checks links."""
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(name: str) -> list[str]:
    """The commands of the code block after ``<!-- name -->``, as .ci/run reads them."""
    found = re.search(rf"<!-- {name} -->\n```\n(.*?)```", README, re.DOTALL)
    assert found, name
    return found[1].strip().splitlines()


def test_two_commands_set_up_one_runs_the_main_job_one_runs_the_tests():
    assert [len(block(name)) for name in ("set-up", "main-job", "tests")] == [2, 1, 1]


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Name and arguments of each experiment in a code block."""
    text = text.replace("\\\n", "")  # a command over several lines
    found = re.findall(r"^(?:\$ )?python -m experiments\.(compare|joint|private) ([^$\n]+)$", text, re.MULTILINE)
    return [(name, arguments.split()) for name, arguments in found]


def test_the_main_job_compares_the_core_models():
    (command,) = block("main-job")
    ((name, arguments),) = commands(command)
    assert parse(name, arguments).models.models == ("crf", "elman", "jordan")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_experiment_has_options_that_exist(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, arguments in commands(page.read_text(encoding="utf-8")):
        for option, value in pairwise(arguments):
            if option in ("--train", "--dev", "--test", "--concepts", "--dev-concepts"):
                Path(value).mkdir(parents=True, exist_ok=True)
            elif option == "--embeddings" and value.endswith(".vec"):
                Path(value).touch()
            elif option == "--variants":
                Path(value).write_text('[variant]\nmodel = "crf"\n')
        settings = parse(name, arguments)
        if name == "compare":
            for model in settings.models.models:
                model_settings(model, profile=settings.profile)


@pytest.mark.parametrize("page", OUTSIDE, ids=lambda page: page.name)
def test_every_link_leads_to_a_page_and_a_heading(page):
    for path, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8")):
        target = page.parent / path if path else page
        assert target.is_file(), path
        assert not heading or heading in headings(target), f"{path}#{heading}"


def headings(page: Path) -> set[str]:
    """The names by which a page's headings are linked."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_the_example_that_trains_a_network_learns_its_sentences(capsys):
    (source,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "explanation" / "networks.md").read_text(encoding="utf-8"), re.DOTALL
    )
    exec(compile(source, "networks.md", "exec"), {"__name__": "networks"})
    assert capsys.readouterr().out == "[['O', 'B-DOCTOR'], ['B-DOCTOR', 'O']]\n"
