"""``crfdeid train`` and ``inspect``: what they write and print, and what they refuse; and the built-in model."""

import argparse
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from crfdeid import DataError, Deidentifier, Document, UsageError, load, write_corpus
from crfdeid.augmentation import in_small_letters
from crfdeid.cli import main
from crfdeid.cli.train import add_options, model_and_settings
from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate
from crfdeid.corpora.synthetic.generate import Splits
from crfdeid.model_card.card import read_card, threshold_for
from crfdeid.scoring import score_tokens
from crfdeid.scoring.evaluation import count_leaking, predict_spans
from crfdeid.secrets import VARIABLE, vocabulary_key

SECRET = "a secret of more than 16 bytes"
QUICK = ["--set", "max_iterations=25"]


@pytest.fixture(scope="module")
def corpus() -> Splits:
    """Forty training notes, and twelve each to choose by and to score, of the synthetic corpus."""
    whole = generate("default", seed=3)
    return Splits(whole.train[:40], whole.dev[:12], whole.test[:12])


@pytest.fixture(scope="module")
def notes(corpus: Splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The training and development notes in brat's format."""
    folder = tmp_path_factory.mktemp("notes")
    write_corpus(corpus.train, folder / "train", format="brat")
    write_corpus(corpus.dev, folder / "dev", format="brat")
    return folder


def train(notes: Path, out: Path, *more: str) -> int:
    return main(
        ["train", "--train", str(notes / "train"), "--dev", str(notes / "dev"), "--out", str(out), *QUICK, *more]
    )


@pytest.fixture(scope="module")
def model(notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "model"
    assert train(notes, folder) == 0
    return folder


def test_the_card_holds_what_was_measured(model: Path, corpus: Splits) -> None:
    card = read_card(model)
    assert card is not None
    assert {name: part["documents"] for name, part in card["corpus"]["splits"].items()} == {"train": 40, "dev": 12}
    split = Split.of(corpus.dev)
    alone = predict_spans(load(model).tagger, split)
    micro = score_tokens(split.documents, alone, binary=True).micro
    assert card["dev"]["alone"]["token_binary"]["micro"] == micro.to_dict()
    assert card["dev"]["alone"]["leaking_documents"] == count_leaking(split.documents, alone) > 0
    used = {d.id: d.spans for d in load(model).annotate_documents(split.documents)}
    assert (
        card["dev"]["consistent"]["token_binary"]["micro"]
        == score_tokens(split.documents, used, binary=True).micro.to_dict()
    )


def test_rewritten_copies_are_learned_from_unless_they_are_refused(
    model: Path, notes: Path, corpus: Splits, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "plain"
    assert train(notes, plain, "--augment", "none") == 0
    assert "- Rewritten copies: none: expect it to miss more" in capsys.readouterr().out
    assert [read_card(folder)["augment"] for folder in (model, plain)] == ["both", "none"]
    small = [in_small_letters(document) for document in corpus.test]
    recall = {}
    for folder in (model, plain):
        found = {document.id: document.spans for document in load(folder).annotate_documents(small)}
        recall[folder] = score_tokens(small, found, binary=True).micro.recall
    assert recall[model] > recall[plain]


@pytest.mark.parametrize("required", [99.0, 99.7, 99.9])
def test_a_threshold_reaches_its_sensitivity_where_it_was_chosen(model: Path, required: float, corpus: Splits) -> None:
    split = Split.of(corpus.dev)
    found = {
        d.id: d.spans for d in load(model, sensitivity=required, consistent=False).annotate_documents(split.documents)
    }
    micro = score_tokens(split.documents, found, binary=True).micro
    assert micro.recall >= required / 100 - 1e-9
    (point,) = [p for p in read_card(model)["operating_points"] if p["required"] == pytest.approx(required / 100)]
    assert (point["sensitivity"], point["ppv"]) == (micro.recall, micro.precision)


def test_a_sensitivity_without_a_threshold_is_refused(model: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"sensitivity of 98 %: there are 99, 99\.7, 99\.9"):
        load(model, sensitivity=98)
    load(model).tagger.save(tmp_path)
    with pytest.raises(UsageError, match="no card, so no thresholds"):
        load(tmp_path, sensitivity=99)


def test_inspect_prints_the_card(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "--model", str(model)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# Model card: model\n")
    for part in (
        "- Model: crf",
        "readable: words of the training notes",
        "| train ",
        "| all ",
        "| 99.7 ",
        "notes with a miss",
    ):
        assert part in printed


def test_a_model_without_a_card_says_so(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(model).tagger.save(tmp_path)
    assert main(["inspect", "--model", str(tmp_path)]) == 0
    assert "It has no card" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not a model's card"), ("[]", "damaged, or of another version"), ("{}", "damaged, or of another version")],
)
def test_a_damaged_card_is_refused(content: str, message: str, model: Path, tmp_path: Path) -> None:
    load(model).tagger.save(tmp_path)
    (tmp_path / "card.json").write_text(content)
    with pytest.raises(DataError, match=message):
        threshold_for(tmp_path, 99)


def test_a_private_vocabulary_needs_its_secret_everywhere(
    corpus: Splits,
    notes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert train(notes, tmp_path / "none", "--private-vocabulary") == 2
    key = tmp_path / "key"
    key.write_text(SECRET)
    out = tmp_path / "model"
    assert train(notes, out, "--private-vocabulary", "--key-file", str(key)) == 0
    assert "words are stored as keyed hashes" in capsys.readouterr().out
    names = {d.text[s.start : s.end].split()[0].lower() for d in corpus.train for s in d.spans if s.label == "DOCTOR"}
    content = (out / "weights.npz").read_bytes().lower()
    assert len(names) > 20
    assert not [name for name in names if len(name) > 4 and name.encode() in content]
    note = tmp_path / "in" / "a.txt"
    note.parent.mkdir()
    note.write_text("Seen by Dr. Quill on 03/14/72.")
    command = ["redact", "--model", str(out), "--input", str(note.parent), "--output"]
    assert main([*command, str(tmp_path / "1")]) == 2
    assert "a secret is needed" in capsys.readouterr().err
    assert main([*command, str(tmp_path / "2"), "--key-file", str(key)]) == 0
    with pytest.raises(UsageError, match="not the secret"):
        load(out, key=vocabulary_key(b"another secret of bytes"))
    assert load(out, key=vocabulary_key(SECRET.encode())).annotate("on 03/14/72").spans


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--model", "bert"], "unknown model 'bert'"),
        (["--model", "crf,rules"], "several models need --combine"),
        (["--combine", "union"], "needs several models"),
        (["--set", "epochs"], "'epochs' is no setting with a value"),
        (["--set", "epochs=3"], "no setting 'epochs'"),
        (["--model", "hybrid", "--set", "max_iteration=3"], "no setting 'max_iteration' in crf + rules: did you mean"),
        (["--model", "crf,rules", "--combine", "union", "--set", "epohcs=3"], "no setting 'epohcs' in crf + rules"),
        (["--model", "rules", "--min-documents", "2"], "no setting 'min_documents' in rules"),
        (["--profile", "lange2020"], "unknown profile 'lange2020' of crf: choose from default, yadav2016"),
        (["--sensitivities", "0.99,101"], "is no list of per cents"),
        (["--key-file", "x"], "--key-file is for --private-vocabulary"),
        (["--min-documents", "0"], "not a whole number from 1"),
    ],
)
def test_options_that_cannot_work_are_refused(
    more: list[str], message: str, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "--train", str(notes / "train"), "--out", str(tmp_path / "out"), *more]
    assert main(command) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_with_hashed_words_three_documents_are_asked_for_unless_another_number_is_given() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)

    def settings(*more: str) -> dict[str, Any]:
        options = parser.parse_args(["--train", "notes", "--out", "model", *more])
        return model_and_settings(options)[1]

    assert settings() == {}
    assert settings("--private-vocabulary") == {"min_documents": 3}
    assert settings("--private-vocabulary", "--min-documents", "5") == {"min_documents": 5}
    assert settings("--private-vocabulary", "--set", "min_documents=2") == {"min_documents": 2}
    assert settings("--private-vocabulary", "--model", "rules") == {}
    assert settings("--private-vocabulary", "--model", "hybrid") == {"min_documents": 3}


def test_nothing_is_overwritten(model: Path, notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(notes, model) == 2
    assert "not an empty folder" in capsys.readouterr().err


def test_models_joined_are_one_model(notes: Path, tmp_path: Path) -> None:
    assert train(notes, tmp_path / "model", "--model", "crf,rules", "--combine", "union") == 0
    assert load(tmp_path / "model").annotate("on 03/14/1972").spans


def test_several_threads_share_a_model(model: Path, corpus: Splits) -> None:
    texts = [document.text for document in corpus.test]
    shared = load(model)
    expected = [document.spans for document in shared.annotate_all(texts)]
    found: dict[int, list] = {}

    def work(number: int) -> None:
        found[number] = [shared.annotate(text).spans for text in texts]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number] == expected for number in range(6))


def test_texts_are_taken_as_they_are_needed(model: Path) -> None:
    taken = 0

    def texts():
        nonlocal taken
        while True:
            taken += 1
            yield "Seen on " + "x" * 65_536

    results = load(model).annotate_all(texts())
    for number in range(6):
        assert next(results).id == str(number)
        assert taken <= number + 2


def test_a_lone_surrogate_is_refused(model: Path) -> None:
    with pytest.raises(DataError, match=r"n1, offset 3: a lone surrogate"):
        load(model).annotate("see\ud800n", id="n1")
    assert load(model).annotate("") == Document("", "")


class Empty:
    tags = ("O",)

    def predict(self, sentences):
        return [["O"] * len(sentence.tokens) for sentence in sentences]


def test_spans_that_a_document_had_are_dropped(corpus: Splits) -> None:
    note = corpus.dev[0]
    (found,) = Deidentifier(Empty()).annotate_documents([note])
    assert (found.text, found.spans) == (note.text, ())


def test_the_crf_needs_neither_jax_nor_scikit_learn(model: Path) -> None:
    code = f"""
import sys, crfdeid
print(crfdeid.redact(crfdeid.load({str(model)!r}).annotate("on 03/14/1972")).text)
print([name for name in ("jax", "sklearn", "faker", "pandas", "pyarrow", "gensim", "nltk") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "on [DATE]\n[]\n"
