"""``crfdeid train`` and ``inspect``: what they write and print, and what they refuse; and the built-in model."""

import io
import json
import os
import re
import stat
import subprocess
import sys
import threading
from importlib.metadata import version
from pathlib import Path

import pytest
from commands import with_usual
from full_disk import file_size_limit

from crfdeid import DataError, Deidentifier, Document, Span, UsageError, create, load, write_corpus
from crfdeid.augmentation import in_small_letters
from crfdeid.cli import main
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.corpora.synthetic import generate
from crfdeid.corpora.synthetic.generate import Splits
from crfdeid.crf import CrfTagger
from crfdeid.errors import WriteError
from crfdeid.evaluation import score_tokens
from crfdeid.evaluation.evaluate import count_leaking_documents, predict_spans
from crfdeid.model_card.card import model_digest, read_card
from crfdeid.model_card.render import render_card
from crfdeid.model_card.training import train_model
from crfdeid.rules import RulesTagger
from crfdeid.secrets import SECRET_VARIABLE, vocabulary_key
from crfdeid.thresholds import operating_point, usual_points
from crfdeid.utils.folders import whole_folder

SECRET = "a secret of more than 16 bytes"
QUICK = ["--set", "max_iterations=15"]


@pytest.fixture(scope="module")
def corpus() -> Splits:
    """Twenty-four training notes, and twelve each to choose by and to score, of the synthetic corpus."""
    whole = generate("default", seed=3)
    return Splits(whole.train[:24], whole.dev[:12], whole.test[:12])


@pytest.fixture(scope="module")
def notes(corpus: Splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The training and development notes in brat's format, the test notes in another."""
    folder = tmp_path_factory.mktemp("notes")
    write_corpus(corpus.train, folder / "train", format="brat")
    write_corpus(corpus.dev, folder / "dev", format="brat")
    write_corpus(corpus.test, folder / "test.jsonl", format="jsonl")
    return folder


def train(notes: Path, out: Path, *more: str) -> int:
    usual = {"--dev": notes / "dev", "--output": out}
    return main(["train", str(notes / "train"), *QUICK, *with_usual(usual, *more)])


@pytest.fixture(scope="module")
def model(notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "model"
    assert train(notes, folder, "--test", str(notes / "test.jsonl")) == 0
    return folder


def test_the_card_holds_what_was_measured(model: Path, corpus: Splits) -> None:
    card = read_card(model)
    assert card is not None
    sizes = {name: part["documents"] for name, part in card["corpus"]["splits"].items()}
    assert sizes == {"train": 24, "dev": 12, "test": 12}
    split = Split.of(corpus.dev)
    alone = predict_spans(load(model).tagger, split)
    micro = score_tokens(split.documents, alone, binary=True).micro
    assert card["dev"]["alone"]["token_binary"]["micro"] == micro.to_dict()
    leaking = card["dev"]["alone"]["leaking_documents"]
    assert (leaking["count"], leaking["total"]) == (count_leaking_documents(split.documents, alone), 12)
    missed = card["dev"]["alone"]["leaks_by_type"]
    assert sum(leak["count"] for leak in missed.values()) == micro.fn > 0
    assert sum(leak["total"] for leak in missed.values()) == micro.tp + micro.fn
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
    assert [read_card(folder)["augment"] for folder in (model, plain)] == ["accents,case,layout,values", "none"]
    small = [in_small_letters(document) for document in corpus.test]
    recall = {}
    for folder in (model, plain):
        found = {document.id: document.spans for document in load(folder).annotate_documents(small)}
        recall[folder] = score_tokens(small, found, binary=True).micro.recall
    assert recall[model] > recall[plain]


def test_the_card_shows_held_out_notes_beside_those_that_chose(model: Path, corpus: Splits) -> None:
    card = read_card(model)
    assert card is not None
    test = Split.of(corpus.test)
    alone = score_tokens(test.documents, predict_spans(load(model).tagger, test), binary=True).micro
    assert card["test"]["alone"]["token_binary"]["micro"] == alone.to_dict() != card["dev"]["alone"]["token_binary"]
    point = operating_point(card, 0.99)
    hidden = load(model, sensitivity=0.99, consistent=False).annotate_documents(test.documents)
    micro = score_tokens(test.documents, {d.id: d.spans for d in hidden}, binary=True).micro
    assert (point["test"]["sensitivity"], point["test"]["ppv"]) == (micro.recall, micro.precision)
    page = render_card(model, card)
    assert "## On the held-out test notes" in page and "test reached %" in page
    without = {name: part for name, part in card.items() if name != "test"}
    assert "held-out" not in render_card(model, without)


def test_each_corpus_is_read_in_its_own_format_and_named_by_the_end_of_its_path(model: Path, notes: Path) -> None:
    card = read_card(model)
    assert card is not None
    assert (card["corpus"]["format"], card["corpus"]["name"]) == ("brat, jsonl", "train")
    assert str(notes) not in (model / "card.json").read_text()


@pytest.mark.parametrize("required", [0.9, 0.97, 0.985, 0.99])
def test_a_threshold_reaches_its_sensitivity_where_it_was_chosen(model: Path, required: float, corpus: Splits) -> None:
    split = Split.of(corpus.dev)
    found = {
        d.id: d.spans for d in load(model, sensitivity=required, consistent=False).annotate_documents(split.documents)
    }
    micro = score_tokens(split.documents, found, binary=True).micro
    assert micro.recall >= required - 1e-9
    card = read_card(model)
    assert card is not None
    point = operating_point(card, required)
    assert (point["sensitivity"], point["ppv"]) == (micro.recall, micro.precision)


def test_a_sensitivity_without_a_card_is_refused(model: Path, tmp_path: Path) -> None:
    load(model).tagger.save(tmp_path)
    with pytest.raises(UsageError):
        load(tmp_path, sensitivity=0.99)


def test_inspect_prints_the_card(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(model)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# Model card: model\n")
    for part in (
        "- Model: hybrid",
        "readable: words of the training notes",
        "| train ",
        "| all ",
        "| 0.99 ",
        "notes with a miss",
        "PHI tokens missed",
    ):
        assert part in printed


def test_a_model_without_a_card_says_so(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(model).tagger.save(tmp_path)
    assert main(["info", str(tmp_path)]) == 0
    assert "It has no card" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["{", "[]", "{}"])
def test_a_damaged_card_is_refused(content: str, model: Path, tmp_path: Path) -> None:
    load(model).tagger.save(tmp_path)
    (tmp_path / "card.json").write_text(content)
    with pytest.raises(DataError) as refused:
        read_card(tmp_path)
    assert refused.value.path == tmp_path / "card.json"


def test_a_private_vocabulary_needs_its_secret_everywhere(
    corpus: Splits,
    notes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    assert train(notes, tmp_path / "none", "--private-vocabulary") == 2
    key = tmp_path / "key"
    key.write_text(SECRET)
    out = tmp_path / "model"
    options = ["--model", "crf", "--augment", "none", "--private-vocabulary", "--key-file", str(key)]
    assert train(notes, out, *options) == 0
    assert "words are stored as keyed hashes" in capsys.readouterr().out
    names = {d.text[s.start : s.end].split()[0].lower() for d in corpus.train for s in d.spans if s.label == "DOCTOR"}
    content = (out / "weights.npz").read_bytes().lower()
    assert len(names) > 20
    assert not [name for name in names if len(name) > 4 and name.encode() in content]
    note = tmp_path / "in" / "a.txt"
    note.parent.mkdir()
    note.write_text("Seen by Dr. Quill on 03/14/72.")
    command = ["redact", str(out), str(note.parent), "--output"]
    assert main([*command, str(tmp_path / "1")]) == 2
    assert "a secret is needed" in capsys.readouterr().err
    assert main([*command, str(tmp_path / "2"), "--key-file", str(key)]) == 0
    with pytest.raises(UsageError):
        load(out, key=vocabulary_key(b"another secret of bytes"))
    assert load(out, key=vocabulary_key(SECRET.encode())).annotate("on 03/14/72").spans


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--model", "none"], "unknown model 'none'"),
        (["--model", "hybird"], "did you mean 'hybrid'"),
        (["--model", "crf,rules"], "several models need --set combine"),
        (["--model", "crf", "--set", "combine=union"], "no setting 'combine'"),
        (["--set", "epochs"], "'epochs' is not a setting with a value"),
        (["--set", "epochs=3"], "no setting 'epochs'"),
        (["--model", "hybrid", "--set", "max_iteration=3"], "no setting 'max_iteration' in crf + rules: did you mean"),
        (["--model", "crf,rules", "--set", "combine=union", "--set", "epohcs=3"], "no setting 'epohcs' in crf + rules"),
        (["--model", "rules", "--set", "min_documents=2"], "no setting 'min_documents' in rules"),
        (["--profile", "lange2020"], "unknown profile 'lange2020' of crf: choose from default, yadav2016"),
        (["--key-file", "x"], "--key-file is for --private-vocabulary"),
        (["--concepts", "x"], "--model hybrid learns PHI alone: leave out --concepts"),
        (["--dev-concepts", "x"], "--dev-concepts is for --concepts"),
        (["--disjoint"], "--disjoint is for --concepts"),
        (["--set", "encoder=x"], "no setting 'encoder' in crf + rules"),
        (["--model", "bert", "--private-vocabulary"], "the files of the model bert hold no words of the notes"),
        (["--set", "min_documents=0"], "min_documents is 0"),
    ],
)
def test_options_that_cannot_work_are_refused(
    more: list[str], message: str, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", str(notes / "train"), "--output", str(tmp_path / "out"), *more]
    assert main(command) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", 1),
        ("--private-vocabulary", 3),
        ("--private-vocabulary --set min_documents=5", 5),
        ("--private-vocabulary --model crf", 3),
        ("--private-vocabulary --model rules", 1),
    ],
)
def test_with_hashed_words_three_documents_are_asked_for_unless_another_number_is_given(
    more: str, expected: int, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    command = ["train", str(notes / "train"), "--output", str(tmp_path / "out")]
    assert main([*command, *([] if "rules" in more else QUICK), "--augment", "none", *more.split()]) == 0
    description = json.loads((tmp_path / "out" / "model.json").read_text())
    assert (f'"min_documents": {expected}' in json.dumps(description["settings"])) is (expected > 1)


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a training begins."""
    monkeypatch.setattr(CrfTagger, "fit", lambda *_, **__: pytest.fail("it was trained"))


@pytest.mark.usefixtures("no_training")
def test_what_can_fail_fails_before_the_training(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path / "here")
    without = [Document("1", "Seen on Monday.")]
    write_corpus(without, tmp_path / "without.jsonl", format="jsonl")
    for more, code, message in (
        (["--output", "."], 2, "is the current folder, or a mount point: name a new folder inside it"),
        (["--output", str(tmp_path / "file" / "model")], 1, "the model cannot be saved: Not a directory"),
        (["--dev", str(tmp_path / "without.jsonl")], 1, "the development notes hold no PHI at all"),
        (["--test", str(tmp_path / "without.jsonl")], 1, "the test notes hold no PHI at all"),
        (["--seed", "12345678901234567890123456"], 2, "is not a whole number from 0 to 4294967295"),
        (["--set", "c1=abc"], 2, "c1 is abc: give a number of 0 or more"),
    ):
        assert train(notes, tmp_path / "model", *more) == code
        (line,) = (one for one in capsys.readouterr().err.splitlines() if not one.startswith("note: "))
        assert line.startswith("error: ") and message in line
    assert main(["train", str(tmp_path / "without.jsonl"), "--dev", str(notes / "dev"), "--output", "x"]) == 1
    assert "the training notes hold no PHI at all" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "here", "without.jsonl"]


@pytest.mark.usefixtures("no_training")
def test_the_second_training_to_one_folder_is_refused(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with whole_folder(tmp_path / "model"):
        assert train(notes, tmp_path / "model") == 1
    assert "model: another process is writing this folder: wait for it" in capsys.readouterr().err


@pytest.mark.usefixtures("no_training")
def test_a_training_that_had_to_wait_for_the_first_does_not_replace_its_model(tmp_path: Path, corpus: Splits) -> None:
    split = Split.of(corpus.dev)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.json").write_text("another model")
    with pytest.raises(UsageError):
        train_model(create("crf"), Corpus("dev", "brat", "all", split, split, None), tmp_path / "model")
    assert (tmp_path / "model" / "model.json").read_text() == "another model"


@pytest.mark.parametrize("name", ["crf", "rules", "hybrid"])
def test_a_model_is_its_owners_alone(name: str, tmp_path: Path) -> None:
    split = Split.of([Document("1", "Seen on 03/14/72.", (Span(8, 16, "DATE"),))])
    for mask in (0o022, 0):
        before = os.umask(mask)
        try:
            folder = tmp_path / str(mask)
            train_model(create(name), Corpus("notes", "brat", "all", split, split, None), folder)
        finally:
            os.umask(before)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
        assert modes.pop(folder.name) == 0o700
        assert len(modes) == 3 and set(modes.values()) == {0o600}


def test_notes_without_what_a_model_learns_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    phi = Document("1", "Seen on 03/14/72.", (Span(8, 16, "DATE"),), source="a")
    concepts = Document("2", "No fever.", layers={"concept": (Span(3, 8, "X"),)}, phi_annotated=False, source="b")

    def train(*documents: Document) -> None:
        split = Split.of(documents)
        train_model(create("rules"), Corpus("notes", "brat", "all", split, split, None), tmp_path / "model")

    with pytest.raises(DataError) as refused:
        train(phi, concepts)
    assert refused.value.path == "b"
    traits = create("rules").traits(None)
    monkeypatch.setattr(RulesTagger, "traits", lambda settings: traits._replace(layers=("phi", "concept")))
    with pytest.raises(DataError):
        train(phi)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("most", [1000, 3000])
def test_a_full_disk_leaves_nothing_behind(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split = Split.of([Document("1", "Seen on 03/14/72.", (Span(8, 16, "DATE"),))])
    save = CrfTagger.save

    def full(tagger: CrfTagger, folder: Path, *, key: bytes | None = None) -> None:
        with file_size_limit(most):
            save(tagger, folder, key=key)

    monkeypatch.setattr(CrfTagger, "save", full)
    with pytest.raises(WriteError):
        train_model(create("crf"), Corpus("notes", "brat", "all", split, split, None), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_train_sums_up_where_the_card_does_not_stand(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "train",
        str(notes / "train"),
        "--dev",
        str(notes / "dev"),
        "--output",
        str(tmp_path / "model"),
    ]
    assert main([*command, "--model", "rules"]) == 0
    printed = capsys.readouterr()
    lines = [line for line in printed.err.splitlines() if not line.startswith(("training", "note: "))]
    assert re.fullmatch(r"trained rules in \d:\d\d:\d\d", lines[0])
    assert lines[1].startswith("train: 24 notes, ") and " DATE" in lines[1]
    assert re.fullmatch(r"dev: strict F [\d.]+; \d+ of \d+ PHI tokens missed, in \d+ of 12 notes", lines[3])
    digest = model_digest(tmp_path / "model")
    points = usual_points(read_card(tmp_path / "model"))
    each = [f"{one['required']:g} on {one['missed']} (PPV {100 * one['ppv']:.1f} %)" for one in points]
    assert lines[4] == f"thresholds rest on the PHI tokens they miss, of {points[0]['phi_tokens']}: {', '.join(each)}"
    assert lines[5] == f"model: {tmp_path / 'model'}, digest {digest}"
    assert f"- Digest: {digest}\n" in printed.out


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"crfdeid {version('crfdeid')}\n"


def test_nothing_is_overwritten(model: Path, notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(notes, model) == 2
    assert "not an empty folder" in capsys.readouterr().err


def test_models_joined_are_one_model(notes: Path, tmp_path: Path) -> None:
    assert train(notes, tmp_path / "model", "--model", "crf,rules", "--set", "combine=union", "--augment", "none") == 0
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
    with pytest.raises(DataError) as refused:
        load(model).annotate("see\ud800n", id="n1")
    assert (refused.value.path, refused.value.offset) == ("document 1", 3)
    assert load(model).annotate("") == Document("", "")


class Empty:
    tags, languages = ("O",), ()

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


@pytest.mark.parametrize(("command", "jobs"), [("redact", "2"), ("tag", "1")])
def test_redact_and_tag_say_when_notes_are_unlike_the_training_notes(
    model: Path, corpus: Splits, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, jobs: str
) -> None:
    for name, change in (("alike", str), ("unlike", lambda text: text.translate(str.maketrans("aeiou", "uoiea")))):
        source, audit = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.json"
        source.write_text("".join(json.dumps({"text": change(document.text)}) + "\n" for document in corpus.test))
        options = [model, source, "--output", tmp_path / name, "--report", audit, "--jobs", jobs]
        assert main([command, *map(str, options)]) == 0
        said = [line for line in capsys.readouterr().err.splitlines() if "unlike the training notes" in line]
        assert [" of their words are unknown (" in line for line in said] == [True] * (name == "unlike")
        assert bool(json.loads(audit.read_text())["summary"]["drift_warnings"]) == (name == "unlike")


def test_the_audit_names_the_notes_in_another_layout_and_resuming_keeps_them(
    model: Path,
    corpus: Splits,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two notes of all are on one line each: too few for the run's means."""
    source, output = tmp_path / "notes", tmp_path / "out"
    source.mkdir()
    for number, document in enumerate(corpus.test):
        text = " ".join(document.text.split()) if number < 2 else document.text
        (source / f"{number}.txt").write_text(text)
    audits = []
    for resume in ([], ["--resume"]):
        audits.append(tmp_path / f"audit{len(audits)}.json")
        options = [model, source, "--output", output, "--report", audits[-1], *resume]
        assert main(["redact", *map(str, options)]) == 0
        said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("drift: ")]
        notes, summary = (json.loads(audits[-1].read_text())[name] for name in ("notes", "summary"))
        listed = {one["file"]: one["drift_warnings"] for one in notes if "drift_warnings" in one}
        assert {"0.txt", "1.txt"} <= set(listed)
        assert all("line" in listed[name] for name in ("0.txt", "1.txt"))
        assert len(listed) < len(notes) / 4
        assert summary["notes_with_drift"] == len(listed)
        assert [f"{len(listed)} of {len(notes)} notes unlike" in line for line in said] == [True]
    note = (source / "0.txt").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(note)))
    assert main(["redact", str(model), "-"]) == 0
    said = capsys.readouterr().err
    assert "unlike the training notes" in said
    assert "--report" not in said, "one note from standard input has none"
