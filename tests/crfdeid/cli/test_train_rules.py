"""What ``crfdeid train`` trains by default: a CRF and the rules, those too that the notes hold nothing for."""

from pathlib import Path

import pytest

from crfdeid import Document, Span, load, write_corpus
from crfdeid.cli import main
from crfdeid.pipeline import Deidentifier

NOTE = "Seen by Dr. Quill on 3/14/72.\n"
NEW = "j.quill@tawn.org, 482-21-3448, card 4929 5260 1815 9081, MRN 48-2213, 2001:db8::8a2e:7"


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Notes with names and dates and no other PHI."""
    folder = tmp_path_factory.mktemp("notes") / "train"
    spans = (Span(12, 17, "DOCTOR"), Span(21, 28, "DATE"))
    notes = [Document(str(number), f"{NOTE}Pulse {number + 60}.\n", spans) for number in range(20)]
    write_corpus(notes, folder, format="brat")
    return folder


def trained(train: Path, out: Path, *more: str) -> Deidentifier:
    assert main(["train", str(train), "--output", str(out), *more]) == 0
    return load(out)


def test_notes_without_e_mail_addresses_make_a_model_that_finds_them(train: Path, tmp_path: Path) -> None:
    model = trained(train, tmp_path / "model")
    found = {NEW[start:end] for start, end, _ in model.annotate(NEW).spans}
    assert found == {"j.quill@tawn.org", "482-21-3448", "4929 5260 1815 9081", "48-2213", "2001:db8::8a2e:7"}
    assert model.annotate("to j.quill@tawn.org").spans[0].label == "EMAIL"
    seen = {NOTE[start:end]: label for start, end, label in model.annotate(NOTE).spans}
    assert seen == {"Quill": "DOCTOR", "3/14/72": "DATE"}


def test_a_crf_by_itself_and_rules_that_must_prove_themselves_are_to_be_had(train: Path, tmp_path: Path) -> None:
    assert trained(train, tmp_path / "crf", "--model", "crf").tagger.tags == ("B-DATE", "B-DOCTOR", "I-DATE", "O")
    strict = trained(train, tmp_path / "strict", "--set", "keep_untried=false")
    assert strict.tagger.tags == (
        "B-DATE",
        "B-DOCTOR",
        "I-DATE",
        "I-DOCTOR",
        "O",
    )  # names after titles are proven there
