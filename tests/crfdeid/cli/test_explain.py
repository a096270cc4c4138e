"""The command explain: what a model learned, why a text is hidden, and pages of both."""

import io
import json
import stat

import pytest
from commands import error_of

from crfdeid.cli import main
from crfdeid.crf import CrfTagger
from crfdeid.documents import LabelledSentence
from crfdeid.ensembles.hybrid import HybridTagger
from crfdeid.errors import OptionConflictError, ReadError, UnknownNameError, UsageError
from features.sentences import split_sentences

TEXT = "Seen by Dr Quill on 3/14/72. No pain."


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two trained models: a hybrid and a CRF."""
    (sentence,) = split_sentences("Seen by Dr Quill on 3/14/72")
    tags = ("O", "O", "O", "B-DOCTOR", "O", "B-DATE", *["I-DATE"] * 4)
    folder = tmp_path_factory.mktemp("models")
    for name, tagger in (("hybrid", HybridTagger()), ("crf", CrfTagger())):
        tagger.fit([LabelledSentence(sentence, tags)] * 3, [])
        tagger.save(folder / name)
    return folder


def said(capsysbinary, *arguments: object) -> str:
    assert main(["explain", *map(str, arguments)]) == 0
    return capsysbinary.readouterr().out.decode()


def test_without_a_text_it_says_what_the_model_learned(models, capsysbinary):
    out = said(capsysbinary, models / "hybrid", "--labels", "DOCTOR", "--top", 2)
    assert "What hybrid learned" in out
    assert "What speaks most for B-DOCTOR" in out
    assert "B-DATE:" not in out
    assert "date in digits" not in out  # a rule of another type


def test_notes_give_each_kind_of_feature_its_share(models, capsysbinary, tmp_path):
    (tmp_path / "dev.jsonl").write_text(json.dumps({"id": "1", "text": TEXT, "spans": []}))
    out = said(capsysbinary, models / "crf", "--dev", tmp_path / "dev.jsonl", "--output-format", "json")
    assert sum(kind["share"] for kind in json.loads(out)["crf"]["crf"]["kinds"]) == pytest.approx(1)


def test_a_text_is_hidden_for_reasons_and_its_words_are_numbered(models, capsysbinary):
    out = said(capsysbinary, models / "hybrid", "--text", TEXT)
    assert "the model found it" in out
    assert "0:Seen 1:by 2:Dr 3:Quill" in out


def test_a_word_of_a_later_sentence_is_found_by_its_number(models, capsysbinary):
    out = said(capsysbinary, models / "crf", "--text", TEXT, "--token", 12, "--output-format", "json")
    found = json.loads(out)["crf"]
    assert (found["words"], found["token"]) == (["No", "pain", "."], 1)
    for token in (12, "pain"):
        assert said(capsysbinary, models / "crf", "--text", TEXT, "--token", token).startswith("pain: O, and not")


def test_other_words_are_tried_by_their_number_in_the_text(models, capsysbinary):
    arguments = ["--token", 3, "--tag", "B-DOCTOR", "--contrast-tag", "O", "--replace", "2=", "--replace", "3=quill"]
    out = said(capsysbinary, models / "crf", "--text", TEXT, *arguments)
    assert "With other words (Seen by quill on 3 / 14 / 72 .)" in out


def test_standard_input_and_a_file_are_read(models, capsysbinary, monkeypatch, tmp_path):
    (tmp_path / "note.txt").write_text(TEXT)
    expected = said(capsysbinary, models / "crf", "--text", TEXT)
    assert said(capsysbinary, models / "crf", tmp_path / "note.txt") == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert said(capsysbinary, models / "crf", "-") == expected


def test_two_models_stand_side_by_side_in_every_format(models, capsysbinary):
    both = [models / "crf", "--compare", models / "hybrid", "--text", TEXT]
    assert set(json.loads(said(capsysbinary, *both, "--output-format", "json"))) == {"crf", "hybrid"}
    out = said(capsysbinary, *both, "--output-format", "markdown")
    assert out.index("# What crf hides") < out.index("# What hybrid hides")
    alike = [models / "crf", "--compare", models / "crf", "--output-format", "json"]
    with_folders = json.loads(said(capsysbinary, *alike))
    assert list(with_folders) == [f"crf ({models / 'crf'})"]


@pytest.mark.parametrize(("name", "begins"), [("page.html", "<!DOCTYPE html>"), ("a.md", "# "), ("a.json", "{")])
def test_the_name_of_the_file_says_its_format_and_only_its_owner_can_read_it(models, tmp_path, name, begins):
    out = tmp_path / name
    assert main(["explain", str(models / "crf"), "--text", TEXT, "--output", str(out)]) == 0
    assert out.read_text().startswith(begins)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["b", "--text", "a"], UsageError),
        (["--token", "1"], OptionConflictError),
        (["--no-consistency"], OptionConflictError),
        (["--text", "a", "--labels", "DATE"], OptionConflictError),
        (["--text", "a", "--contrast-tag", "O"], OptionConflictError),
        (["--text", "a", "--token", "1"], UsageError),
        (["--text", TEXT, "--token", "3", "--replace", "12=x"], UsageError),
        (["--text", TEXT, "--token", "3", "--replace", "x"], UsageError),
        (["--text", TEXT, "--token", "3", "--tag", "B-NURSE"], UnknownNameError),
        (["--text", TEXT, "--token", "3", "--methods", "guess"], UnknownNameError),
        (["--labels", "NURSE"], UnknownNameError),
        (["--text", "a", "--sensitivity", "0.99"], UsageError),
        (["none.txt"], ReadError),
        (["--text", "a", "--top", "3"], OptionConflictError),
        (["--text", TEXT, "--token", "pain", "--tag", "O", "--output", "x.html"], OptionConflictError),
    ],
)
def test_what_cannot_work_is_refused(models, arguments, error):
    assert type(error_of("explain", models / "crf", *arguments)) is error


def test_nothing_is_overwritten(models, capsys, tmp_path):
    (tmp_path / "out.txt").write_text("mine")
    assert main(["explain", str(models / "crf"), "--output", str(tmp_path / "out.txt")]) == 2
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "out.txt").read_text() == "mine"
