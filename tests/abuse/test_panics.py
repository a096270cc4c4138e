"""Panics of libraries in Rust, which are no `Exception`: a note fails, or a command, and its text is not quoted."""

import asyncio
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from attack import NOTE, REDACT, Attack, carry_out, name, write

from crfdeid.cli import main
from crfdeid.crf import CrfTagger
from crfdeid.errors import PanicError
from crfdeid.integrations.arrow import RedactBatches
from crfdeid.io.worker import isolate_failures
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor
from crfdeid.serve.service import Service
from features.tokens import Sentence

WORD = "Zann"  # of the note that fails
BAD = f"{WORD} was seen on 3/14/2031, call 555-1037.\n"
GOLD = {"id": "1", "text": BAD, "spans": [{"start": 0, "end": 4, "label": "PATIENT"}]}


class PanicException(BaseException):
    """As PyO3 makes it."""


@pytest.fixture
def panics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the model panic at a note, with its text in the message."""
    predict = CrfTagger.predict

    def panicking(self: CrfTagger, sentences: Sequence[Sentence]) -> list[list[str]]:
        for sentence in sentences:
            if WORD in sentence.words:
                raise PanicException(f"byte index 3 is out of bounds of `{BAD}`")
        return predict(self, sentences)

    monkeypatch.setattr(CrfTagger, "predict", panicking)


RUNS = [
    Attack(
        "a note of three", write("notes/bad.txt", BAD), REDACT, 1, r"failed: bad.txt: the library failed on it \(Pan"
    ),
    Attack("a note alone", write("notes/note.txt", BAD), REDACT, 1, "failed: note.txt: the library failed"),
    Attack("tags", write("notes/bad.txt", BAD), "tag model notes --output out", 1, "failed: bad.txt: the library"),
    Attack(
        "two rows of a table",
        write("notes/table.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in (NOTE, BAD, NOTE, BAD))),
        f"{REDACT} --text-column text",
        1,
        "failed: table.jsonl, row 2: .*\n.*failed: table.jsonl, row 4: ",
    ),
    Attack(
        "an evaluation",
        write(
            "gold.jsonl",
            json.dumps(GOLD) + "\n",
        ),
        "evaluate model gold.jsonl",
        1,
        r"^error: a library panicked \(PanicException\), below crfdeid\.",
    ),
]


@pytest.mark.usefixtures("panics")
@pytest.mark.parametrize("attack", RUNS, ids=name)
def test_a_panic_fails_its_note_and_quotes_nothing(
    attack: Attack, box: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    carry_out(attack, box, capsys)
    assert WORD not in caplog.text
    assert not (box / "out" / "bad.txt").exists()
    if attack.what == "a note of three":
        assert "[DATE]" in (box / "out" / "note.txt").read_text()


@pytest.mark.usefixtures("panics")
def test_a_panic_fails_a_row_of_arrow(box: Path) -> None:
    found = RedactBatches("model", Policy(), text_column="text")(pa.table({"text": [NOTE, BAD, NOTE]}))
    assert found["status"].to_pylist() == ["done", "failed", "done"]
    assert found["text"].to_pylist()[1] is None


@pytest.mark.usefixtures("panics")
def test_a_panic_in_the_service_fails_its_caller_alone(box: Path) -> None:
    async def ask() -> list[Any]:
        service = Service(Redactor("model", evidence=True).start())
        asked = [service.annotate([text]) for text in (NOTE, BAD, NOTE)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        with pytest.raises(PanicError):
            await service.run(service.preview, BAD)
        service.close()
        return found

    first, failed, last = asyncio.run(ask())
    assert isinstance(failed, PanicError) and WORD not in str(failed)
    assert first == last and first[0].spans


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_program_is_no_panic(end: type[BaseException]) -> None:
    def ended(notes: object) -> list[Any]:
        raise end

    with pytest.raises(end):
        isolate_failures(ended)([])


def test_an_interrupted_run_ends(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: CrfTagger, sentences: Sequence[Sentence]) -> list[list[str]]:
        raise KeyboardInterrupt

    monkeypatch.setattr(CrfTagger, "predict", interrupted)
    assert main(shlex.split(REDACT)) == 130
