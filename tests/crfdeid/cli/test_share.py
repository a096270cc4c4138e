"""``crfdeid share encode`` and ``crfdeid share fit``: notes leave the house once, and others learn from them."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from commands import error_of, with_usual
from tiny_sharing import NAMES, tiny_notes, tiny_representation

from crfdeid import Document, Span, write_corpus
from crfdeid.cli import main
from crfdeid.errors import EmptyInputError, IntegrityError, MismatchError, NotFoundError, OutputExistsError, UsageError
from crfdeid.model_card.card import model_digest, read_card
from crfdeid.model_card.drift import DriftDetector, NoteReader
from crfdeid.secrets import SECRET_VARIABLE
from crfdeid.serialization import open_model
from rnn.privacy.attack_card import save_card
from rnn.privacy.release import RECORD
from rnn.privacy.shared_file import SharedNotes

pytestmark = pytest.mark.usefixtures("quickly_compiled")

NOTES = tiny_notes(30)
SETTINGS = ("epochs=12", "lr=0.02", "hidden=8", "layers=1", "batch=4", "average=0")
QUICK = [part for setting in SETTINGS for part in ("--set", setting)]


@pytest.fixture(autouse=True)
def _no_secret(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    yield


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A representation, the notes of two hospitals, and development notes."""
    folder = tmp_path_factory.mktemp("house")
    tiny_representation().save(folder / "representation")
    for name, part in (("a", NOTES[:10]), ("b", NOTES[10:20]), ("dev", NOTES[20:])):
        write_corpus(part, folder / f"{name}.jsonl", format="jsonl")
    return folder


def encoding(house: Path, notes: str, out: Path, *more: str) -> list[str]:
    return ["share", "encode", str(house / "representation"), str(house / notes), "--output", str(out), *more]


def encode(house: Path, notes: str, out: Path, *more: str) -> int:
    return main(encoding(house, notes, out, *more))


@pytest.fixture(scope="module")
def files(house: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        assert (
            encode(house, "a.jsonl", folder / "a.npz") == encode(house, "b.jsonl", folder / "b.npz", "--seed", "4") == 0
        )
    return [folder / "a.npz", folder / "b.npz"]


def fitting(house: Path, files: list[Path], out: Path, *more: str) -> list[str]:
    usual = {"--dev": house / "dev.jsonl", "--output": out}
    return ["share", "fit", str(house / "representation"), *map(str, files), *QUICK, *with_usual(usual, *more)]


def train(house: Path, files: list[Path], out: Path, *more: str) -> int:
    return main(fitting(house, files, out, *more))


@pytest.fixture(scope="module")
def model(house: Path, files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "model"
    assert train(house, files, folder) == 0
    return folder


def test_what_leaves_the_house_is_said_and_is_all(
    house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert encode(house, "a.jsonl", tmp_path / "out" / "ours.npz") == 0
    out, err = capsys.readouterr()
    assert err == ""
    for said in ("of 10 notes", "10 DATE", "4 DOCTOR", "left out: 15 sentences", "encode once", "16 numbers a token"):
        assert said in out
    assert "this representation has not been attacked" in out
    assert not [name for name in NAMES if name in out]
    shared = SharedNotes.load(tmp_path / "out" / "ours.npz")
    assert shared.sha256 in out and shared.from_system
    assert stat.S_IMODE((tmp_path / "out" / "ours.npz").stat().st_mode) == 0o600
    found = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert found == [Path("out") / RECORD, Path("out/ours.npz")]


def test_what_the_provider_found_is_said(house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    representation = tmp_path / "representation"
    tiny_representation().save(representation)
    save_card(representation, {"same_sentence": {"fresh": {"count": 52, "total": 100, "low": 0.42, "high": 0.615}}})
    arguments = ["share", "encode", str(representation), str(house / "a.jsonl")]
    assert main([*arguments, "--output", str(tmp_path / "a.npz")]) == 0
    assert "right about 52.00 % of pairs of sentences (at most 61.50 %" in capsys.readouterr().out
    (representation / "attacks.json").unlink()
    assert type(error_of(*[*arguments, "--output", str(tmp_path / "b.npz")])) is NotFoundError


def test_the_same_notes_are_refused_a_second_time(house: Path, tmp_path: Path) -> None:
    assert encode(house, "a.jsonl", tmp_path / "ours.npz") == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert type(error_of(*encoding(house, "a.jsonl", tmp_path / "again.npz"))) is OutputExistsError
    assert type(error_of(*encoding(house, "b.jsonl", tmp_path / "ours.npz"))) is UsageError
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert encode(house, "b.jsonl", tmp_path / "more.npz") == 0
    assert SharedNotes.load(tmp_path / "more.npz").statistics()["spans_by_type"] == {"DATE": 10}  # new days, old names


def test_where_nothing_is_new_nothing_is_shared(house: Path, tmp_path: Path) -> None:
    assert encode(house, "a.jsonl", tmp_path / "ours.npz") == 0
    lines = NOTES[0].text.splitlines()
    again = Document("x", "\n".join([lines[0], *reversed(lines)]), (Span(12, 17, "DOCTOR"),))
    write_corpus([again], tmp_path / "again.jsonl", format="jsonl")
    assert type(error_of(*encoding(house, str(tmp_path / "again.jsonl"), tmp_path / "again.npz"))) is EmptyInputError
    assert not (tmp_path / "again.npz").exists()


def test_what_cannot_be_encoded_leaves_nothing(house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert encode(house, "a.jsonl", tmp_path / "ours.zip") == 2
    plain = tmp_path / "plain.jsonl"
    plain.write_text(json.dumps({"id": "1", "text": "Seen by Dr Quill", "spans": []}) + "\n")
    assert encode(house, str(plain), tmp_path / "out" / "ours.npz") == 1
    assert encode(tmp_path, str(house / "a.jsonl"), tmp_path / "out" / "ours.npz") == 1
    err = capsys.readouterr().err
    assert [line.split(":")[0] for line in err.splitlines()] == ["error"] * 3
    assert "no PHI at all" in err and "Quill" not in err
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["plain.jsonl"]


def test_a_model_learns_from_the_files_of_two_houses(model: Path, files: list[Path]) -> None:
    card = read_card(model)
    assert card is not None
    train = card["corpus"]["splits"]["train"]
    parts = [SharedNotes.load(file) for file in files]
    assert train["spans"] == sum(part.statistics()["spans"] for part in parts)
    assert (train["documents"], train["spans_by_type"]["DATE"]) == (None, 20)
    assert [part["sha256"] for part in card["corpus"]["shared"]] == [part.sha256 for part in parts]
    assert card["corpus"]["name"] == "a.npz, b.npz"
    assert card["dev"]["alone"]["entity_strict"]["micro"]["f1"] > 0.5
    assert card["thresholds"]["dev"]["missed"][-1] == 0


def test_its_folder_holds_the_representation_and_no_word_of_the_notes(model: Path) -> None:
    description = open_model(model).description
    assert (description["model"], description["vocabulary"]) == ("private", "public")
    content = b"".join(path.read_bytes().lower() for path in model.iterdir())
    assert not [name for name in NAMES if name.lower().encode() in content]
    digest = model_digest(model)
    weights = model / "weights.npz"
    weights.write_bytes(weights.read_bytes())
    assert model_digest(model) == digest


def test_it_is_inspected_and_redacts_as_any_other_model(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(model)]) == 0
    page = capsys.readouterr().out
    for said in (
        "Vocabulary: the words in the model's files came with",
        "| train   |           - |",
        "shared as vectors",
    ):
        assert said in page
    (tmp_path / "notes").mkdir()
    for number in (22, 25):
        (tmp_path / "notes" / f"{number}.txt").write_text(NOTES[number].text)
    arguments = ["redact", str(model), str(tmp_path / "notes"), "--sensitivity", "0.9"]
    assert main([*arguments, "--output", str(tmp_path / "out")]) == 0
    assert "26 / 04" not in (tmp_path / "out" / "25.txt").read_text()
    assert "[DATE]" in (tmp_path / "out" / "22.txt").read_text()


def test_a_provider_trains_a_model_on_its_public_notes_to_go_with_its_representation(
    house: Path, model: Path, tmp_path: Path
) -> None:
    """It is used as any other, and its files hold what a model of the pool holds: no word of the notes."""
    representation = ["--set", f"representation={house / 'representation'}"]
    notes = [str(house / "a.jsonl"), "--dev", str(house / "dev.jsonl"), "--augment", "none"]
    out = tmp_path / "model"
    assert main(["train", "--model", "private", *representation, *notes, "--output", str(out), *QUICK]) == 0
    assert open_model(out).description["processor"] == open_model(model).description["processor"]
    (tmp_path / "note.txt").write_text(NOTES[29].text)
    assert main(["redact", str(out), str(tmp_path / "note.txt"), "--output", str(tmp_path / "clean")]) == 0
    assert not [name for name in NAMES if name in (tmp_path / "clean" / "note.txt").read_text()]
    content = b"".join(path.read_bytes() for path in out.iterdir()).lower()
    assert not [name for name in NAMES if name.lower().encode() in content]


def test_likeness_holds_notes_against_the_words_of_the_representation(model: Path) -> None:
    card = read_card(model)
    assert card is not None
    reader, same, other = (
        NoteReader.of(card["drift_profile"], None),
        *(DriftDetector(card["drift_profile"]) for _ in range(2)),
    )
    for note in NOTES[:20]:
        same.add(reader.measure(note.text, {"DATE": 1, "DOCTOR": 1}))
        other.add(reader.measure("Otra nota con palabras que nadie conoce aquí", {}))
    assert same.differences() == []
    assert any("of their words are unknown" in line for line in other.differences())


def test_a_seeded_file_is_told_of(
    house: Path, files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = [replace(note, spans=()) for note in NOTES[20:]]
    write_corpus(plain, tmp_path / "dev.jsonl", format="jsonl")
    assert train(house, files, tmp_path / "model", "--dev", str(tmp_path / "dev.jsonl")) == 1
    *warnings, error = capsys.readouterr().err.splitlines()
    assert ["b.npz: its noise was drawn from a seed" in line for line in warnings] == [True]
    assert "the development notes hold no PHI at all" in error


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--set", "char_dim=3"], "no setting 'char_dim' in private"),
        (["--profile", "yadav2016"], "unknown profile"),
    ],
)
def test_options_that_cannot_work_with_shared_files_are_refused(
    options: list[str], says: str, house: Path, files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(house, files, tmp_path / "model", *options) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["share", "fit", "r", "--dev", "dev"], "FILES"),
        (["share", "fit", "r", "a.npz"], "--dev"),
        (["train", "PLACE", "--set", "representation=r"], "no setting 'representation' in crf + rules"),
        (["train", "PLACE", "--model", "private"], "crfdeid share train makes one; give its folder"),
        (["train"], "NOTES"),
    ],
)
def test_half_of_the_options_is_refused(
    arguments: list[str], says: str, house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(house / "a.jsonl") if argument == "PLACE" else argument for argument in arguments]
    assert main([*arguments, "--output", str(tmp_path / "model")]) == 2
    assert says in capsys.readouterr().err


def test_files_of_another_representation_and_files_given_twice_are_refused(
    house: Path, files: list[Path], tmp_path: Path
) -> None:
    tiny_representation(seed=5).save(tmp_path / "representation")
    write_corpus(NOTES[20:], tmp_path / "dev.jsonl", format="jsonl")
    assert type(error_of(*fitting(tmp_path, files, tmp_path / "model"))) is MismatchError
    (tmp_path / "copy.npz").write_bytes(files[0].read_bytes())
    assert type(error_of(*fitting(house, [files[0], tmp_path / "copy.npz"], tmp_path / "model"))) is MismatchError
    (tmp_path / "copy.npz").write_bytes(files[0].read_bytes()[:-200])
    assert type(error_of(*fitting(house, [tmp_path / "copy.npz"], tmp_path / "model"))) is IntegrityError
    assert not (tmp_path / "model").exists()
