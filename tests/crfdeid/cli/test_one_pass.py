"""One `redact` of one note opens each file of the model once and few modules; its report names sources of spans."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from notes_samples import tiny_model

from crfdeid.cli import main
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span
from crfdeid.known_phi.lists import CustomLists, Term
from crfdeid.model_card.card import save_lists, write_card
from crfdeid.model_card.training import make_card
from crfdeid.pipeline import load
from crfdeid.registry import create, load_tagger

# Runs a command, and prints the names of the opened files of a folder and the number of our modules.
RUN = """
import json, os, sys
folder, *arguments = sys.argv[1:]
opened = []

def see(event, details):
    if event == "open" and isinstance(details[0], (str, os.PathLike)) and os.fspath(details[0]).startswith(folder):
        opened.append(os.path.basename(details[0]))

sys.addaudithook(see)
from crfdeid.cli import main
code = main(arguments)
print(json.dumps([opened, sum(name.partition(".")[0] in ("crfdeid", "features") for name in sys.modules)]))
sys.exit(code)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model with all optional files of a model that redacts."""
    folder = tiny_model(tmp_path / "model")
    save_lists(folder, CustomLists(deny=(Term("Port", "LOCATION"),)))
    notes = Split.of([Document("1", "Seen by Dr. Quill.", (Span(12, 17, "DOCTOR"),))])
    card = make_card(load_tagger(folder), Corpus("notes", "jsonl", "all", notes, notes, None))
    write_card(folder, {**card, "augment": "none"})
    return folder


@pytest.mark.parametrize("command", ["redact", "tag"])
def test_a_command_opens_each_file_of_the_model_once_and_few_modules(command: str, model: Path, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Seen by Dr. Quill.\n")
    options = [model, tmp_path / "note.txt", "--output", tmp_path / "out"]
    arguments = [sys.executable, "-c", RUN, f"{model}/", command, *options]
    done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=True, timeout=300)
    opened, modules = json.loads(done.stdout.splitlines()[-1])
    assert Counter(opened) == dict.fromkeys(("model.json", "weights.npz", "card.json", "site.json"), 1)
    assert modules <= 80 or command == "tag"  # which also needs the corpus formats


@pytest.mark.parametrize("name", ["rules", "hybrid"])
def test_a_model_with_rules_executes_few_modules(name: str, tmp_path: Path) -> None:
    notes = [Document(str(i), f"Seen on 3/{i}/2031 by Dr. Quill.", (Span(8, 16, "DATE"),)) for i in range(1, 10)]
    tagger = create(name)
    tagger.fit(Split.of(notes).sentences, [])
    tagger.save(tmp_path / "model")
    (tmp_path / "note.txt").write_text("Seen by Dr. Quill.\n")
    options = [tmp_path / "model", tmp_path / "note.txt", "--output", tmp_path / "out"]
    arguments = [sys.executable, "-c", RUN, "", "redact", *options]
    done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=True, timeout=300)
    assert json.loads(done.stdout.splitlines()[-1])[1] <= 88


def test_the_report_has_the_number_and_lowest_score_of_each_source(model: Path, tmp_path: Path) -> None:
    text = "Patient Quill was seen in Port.\nAttending: Dr. Quill, call 555-1037. Leg pain.\n"
    (tmp_path / "note.txt").write_text(text)
    options = [model, tmp_path / "note.txt", "--output", tmp_path / "out", "--report"]
    assert main(["redact", *map(str, options), str(tmp_path / "report.json")]) == 0
    (note,) = json.loads((tmp_path / "report.json").read_text())["notes"]
    evidence = load(model).annotate(text).evidence.values()
    assert note["sources"].keys() == {one.source for one in evidence} >= {"model", "list"}
    for source, found in note["sources"].items():
        scores = [one.score for one in evidence if one.source == source]
        lowest = min((score for score in scores if score is not None), default=None)
        assert found == {"spans": len(scores), "lowest_score": None if lowest is None else round(lowest, 6)}
