"""The commands of the README, tutorials and how-to pages run in order, and print what the pages show.

A page is run in a folder of its own: a tutorial in an empty one, a how-to in one with `annotated/`, `notes/`,
`notes.csv`, `model/` and `secret`. All ``bash`` blocks (but for ``pip install``) and ``python`` blocks are run; a
``text`` block below one is a part of what it prints, where ``...`` stands for any text, and a number for any number,
since models are trained here in few steps. Comments say the rest:

    <!-- not run: REASON -->    the next block is not run
    <!-- exit: CODE -->         the last command of the next block ends with this code
    <!-- file: NAME -->         the next block is the content of this file
    <!-- people: NAME -->       what people do here; `PEOPLE` has it
"""

from __future__ import annotations

import io
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from crfdeid.cli import main
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document
from crfdeid.model_card import pretrained

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("tutorials/*.md")),
    *sorted((ROOT / "docs").glob("how-to/*.md")),
]
NEEDS = {"spacy": "spacy", "presidio": "presidio_analyzer", "scikit-learn": "sklearn"}
"""The module without which a page is skipped; .ci/run installs these extras one by one."""
SMALLER = {
    "--count 40": "--count 8",
    "--model crf --output audit/": "--model crf --canaries 40 --repeats 8 --output audit/",
    "--target-leak-rate 0.05": "--target-leak-rate 0.2",
    "--max-leak-rate 0.05": "--max-leak-rate 0.5",
    "crf,elman,jordan --train": "crf,rules --set max_iterations=20 --train",
}
"""What pages do on many notes is done here on a few."""
QUICK_TRAINING = ["--set", "max_iterations=10", "--augment", "none"]
PART = re.compile(r"^<!-- (?P<mark>[a-z ]+): (?P<value>.+?) -->$|^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")


def notes_of(count: int, seed: int) -> list[Document]:
    return list(generate_notes(count, seed=seed))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that a how-to page begins in; and a small model in the place of `synthetic`."""
    root = tmp_path_factory.mktemp("docs")
    small = Corpus("small", "synthetic", "seven", Split.of(notes_of(60, 0)), Split.of(notes_of(4, 1)), None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRFDEID_CACHE", str(root / "cache"))
        patch.delenv("CRFDEID_SECRET", raising=False)
        patch.setattr(pretrained, "_SETTINGS", {"max_iterations": 40})
        patch.setattr(pretrained, "builtin_corpus", lambda: small)
        folder = root / "how-to"
        write_corpus(notes_of(20, 2), folder / "annotated", format="brat")
        for number, document in enumerate(notes_of(6, 3)):
            path = folder / "notes" / f"p{number // 2:03}" / f"{document.id}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(document.text.encode())
        (folder / "notes.csv").write_text('patient,name,text\np017,Jane Quill,"Ms. Quill, seen on 03/14/2031."\n')
        (folder / "secret").write_text("0123456789abcdef0123456789abcdef\n")
        (folder / "secret").chmod(0o600)
        options = ["--output", str(folder / "model"), "--dev", str(folder / "annotated"), *QUICK_TRAINING]
        assert main(["train", str(folder / "annotated"), *options]) == 0
        yield folder


class Session:
    """A page's commands, one after the other, in one folder and one Python session."""

    def __init__(self, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capture, self._patch = capture, patch
        self._names: dict[str, Any] = {"__name__": "page"}

    def run(self, kind: str, text: str, code: int) -> tuple[str, str]:
        """What a block prints: on standard output, and on standard error."""
        self._capture.readouterr()
        if kind == "python":
            exec(compile(text, "page", "exec"), self._names)
        else:
            lines = text.replace("\\\n", " ").splitlines()
            lines = [line for line in lines if line and not line.startswith(("#", "pip install"))]
            for line in lines:
                ended = self._command(line)
                assert ended == (code if line is lines[-1] else 0), f"{line}\n{self._capture.readouterr()}"
        return self._capture.readouterr()

    def _command(self, line: str) -> int:
        before, _, ours = line.rpartition(" | ")
        if ours.startswith("crfdeid ") and ">" not in ours:
            given = self._shell(before).stdout if before else b""
            self._patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
            arguments = shlex.split(ours, comments=True)[1:]
            return main([*arguments, *(QUICK_TRAINING if arguments[0] == "train" or "--train" in arguments else [])])
        if line.startswith("python -m "):
            arguments = shlex.split(line)[2:]
            jobs = ["--jobs", "1"] if arguments[0] == "experiments.compare" else []
            self._patch.setattr("sys.argv", [*arguments, *jobs])
            if not hasattr(sys.modules.get(arguments[0]), "__path__"):  # another test may have imported it
                self._patch.delitem(sys.modules, arguments[0], raising=False)
            with pytest.raises(SystemExit) as ended:
                runpy.run_module(arguments[0], run_name="__main__")
            return int(ended.value.code or 0)
        done = self._shell(line)
        sys.stdout.write(done.stdout.decode())
        sys.stderr.write(done.stderr.decode())
        return done.returncode

    def _shell(self, line: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["bash", "-c", line], capture_output=True, check=False)


def compared(text: str) -> str:
    """Text in which a number stands for any number, and tables may have other widths."""
    numbers = re.sub(r"\b[\da-f]{12,}\b|\d[\d,.:]*", "0", text)
    return " ".join(re.sub(r"[-─=]{3,}", "---", numbers).split())


def assert_prints(shown: str, printed: tuple[str, str]) -> None:
    pattern = ".*".join(re.escape(compared(piece)) for piece in shown.split("..."))
    if not any(re.search(pattern, compared(one)) for one in printed):
        pytest.fail(f"the page shows:\n{shown}\nprinted:\n{printed[0]}\non standard error:\n{printed[1]}")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_commands_of_a_page(
    page: Path,
    prepared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = NEEDS.get(page.stem)
    if module and not find_spec(module):
        pytest.skip(f"{module} is not installed")
    if page.parent.name == "how-to":
        shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    session = Session(capsys, monkeypatch)
    marks: dict[str, str] = {}
    printed, is_python = None, False
    source = page.read_text(encoding="utf-8")
    for long, short in SMALLER.items():
        source = source.replace(long, short)
    for part in PART.finditer(source):
        kind, text = part["kind"], part["text"]
        if part["mark"] == "people":
            PEOPLE[part["value"]]()
        elif part["mark"]:
            marks[part["mark"]] = part["value"]
        elif "file" in marks:
            Path(marks.pop("file")).write_text(text, encoding="utf-8")
        elif kind in ("bash", "python"):
            run, is_python = "not run" not in marks, kind == "python"
            printed = session.run(kind, text, int(marks.get("exit", 0))) if run else None
            marks.clear()
        elif kind == "text" and printed:
            if is_python:
                assert printed[0] == text
            else:
                assert_prints(text, printed)
            printed = None
    assert not marks, "a comment without its block"


def bring_notes() -> None:
    """A small corpus, and its notes without annotation."""
    for part, count in (("train", 30), ("dev", 5), ("test", 5)):
        documents = [replace(note, id=f"{part}-{note.id}") for note in notes_of(count, seed=len(part))]
        write_corpus(documents, Path("corpus", part), format="brat")
    shutil.copytree("corpus", "texts", ignore=shutil.ignore_patterns("*.ann"))
    Path("notes").mkdir()
    for text in Path("texts").rglob("*.txt"):
        text.rename(Path("notes", text.name))


def read_the_page() -> None:
    """What a reviewer downloads who saw no leak in any note but the first."""
    content = Path("review.html").read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0]
    page, lines = json.loads(content), []
    for number, note in enumerate(page["notes"]):
        found = [*note["spans"], *note["left"]]
        spans = [{"start": start, "end": end, "label": label} for start, end, label, _ in found]
        leak = [{"start": 0, "end": 1, "label": "DOCTOR"}] if number == 0 else []
        kept = {key: note[key] for key in ("id", "text", "sha256")}
        kept |= {"marks": page["version"], "replaced": page["replaced"]}
        lines.append({**kept, "spans": [*spans, *leak], "read": True, "false_negatives": leak, "false_positives": []})
    Path("marks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def other_notes() -> None:
    write_corpus(notes_of(10, 9), Path("other"), format="brat")


def public_vectors() -> None:
    """A file of word vectors, of five words."""
    rows = [
        f"{word} {' '.join(str((seed * place) % 7) for place in range(1, 5))}"
        for seed, word in enumerate(("Quill", "Marsh", "Tarn", "Vole", "Roe"), start=1)
    ]
    Path("public.vec").write_text("5 4\n" + "\n".join(rows) + "\n", encoding="utf-8")


def two_annotators() -> None:
    """Two folders of annotated notes that differ by a span in each."""
    anna = read_corpus("annotated")
    write_corpus(anna, "anna", format="brat")
    write_corpus([replace(note, spans=note.spans[1:]) for note in anna], "ben", format="brat")


PEOPLE: dict[str, Callable[[], None]] = {
    "bring notes": bring_notes,
    "other notes": other_notes,
    "public vectors": public_vectors,
    "read the page": read_the_page,
    "two annotators": two_annotators,
}
