"""The model 'synthetic': what it says of itself, to a command's user and to Python's, and when it is trained."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from crfdeid import DataError, load
from crfdeid.cli import main
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.corpora.synthetic import generate_all_types, generate_notes
from crfdeid.errors import NotFoundError
from crfdeid.model_card import pretrained
from crfdeid.model_card.card import model_digest, read_card
from crfdeid.model_card.pretrained import MERGED_TYPES, builtin_corpus, find_model


def quick_built_in_model(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Train the built-in model in few steps, and keep it in this folder."""
    monkeypatch.setenv("CRFDEID_CACHE", str(cache))
    monkeypatch.setattr(pretrained, "_SETTINGS", {"max_iterations": 8})


def learn_from_few_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    train, dev = list(generate_notes(8)), list(generate_notes(4, seed=1))
    small = Corpus("small", "synthetic", "seven", Split.of(train), Split.of(dev), None)
    monkeypatch.setattr("crfdeid.model_card.pretrained.builtin_corpus", lambda: small)


@pytest.mark.slow
def test_the_built_in_model_learns_from_the_built_in_corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The whole of it is what is asked for; a twentieth is learned from here."""
    made = generate_all_types()
    monkeypatch.setattr("crfdeid.corpora.synthetic.generate_all_types", lambda: made)
    whole = builtin_corpus()
    assert [len(split.documents) for split in (whole.train, whole.dev)] == [len(made.train), len(made.dev)]
    types = set(whole.statistics()["types"])
    assert {"ID", "EMAIL", "STREET", "ORGANIZATION", "ZIP"} < types and not types & set(MERGED_TYPES)
    few = replace(whole, train=whole.part(0.05), dev=Split.of(whole.dev.documents[::20]))
    monkeypatch.setattr("crfdeid.model_card.pretrained.builtin_corpus", lambda: few)
    quick_built_in_model(monkeypatch, tmp_path)
    assert load("synthetic").annotate("Discharged on 03/14/1992.").spans
    card = read_card(next(tmp_path.glob("model-synthetic-*")))
    assert card is not None and card["corpus"]["sha256"] == few.statistics()["sha256"]


def test_the_built_in_model_is_trained_once_and_says_what_it_is(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    quick_built_in_model(monkeypatch, tmp_path)
    learn_from_few_notes(monkeypatch)
    assert main(["info", "synthetic"]) == 0
    first = capsys.readouterr().err.splitlines()
    assert first[0].startswith("warning: the model 'synthetic'")
    assert first[1].startswith("first use") and str(next(tmp_path.glob("model-synthetic-*"))) in first[1]
    model = load("synthetic")
    assert capsys.readouterr() == ("", ""), "a library prints nothing"
    assert model.annotate("Discharged on 03/14/1992.").spans
    caplog.clear()
    with caplog.at_level("INFO"):
        again = load("synthetic")
    assert [(r.name.partition(".")[0], r.levelname) for r in caplog.records] == [("crfdeid", "WARNING")]
    assert "has not been validated" in caplog.text
    assert again.annotate("Discharged on 03/14/1992.") == model.annotate("Discharged on 03/14/1992.")
    (folder,) = tmp_path.glob("model-synthetic-*")
    (folder / "members.zip").write_bytes(b"x")
    with caplog.at_level("INFO"):
        assert load("synthetic").annotate("Discharged on 03/14/1992.").spans
    assert "first use" in caplog.text


def test_of_several_first_uses_at_once_one_trains_and_the_others_wait(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    quick_built_in_model(monkeypatch, tmp_path)
    learn_from_few_notes(monkeypatch)
    quick, trained, waiting = pretrained.create, [], threading.Event()

    def counted(name: str, **options: Any) -> Any:
        trained.append(name)
        assert waiting.wait(60)  # the others have come to wait
        return quick(name, **options)

    monkeypatch.setattr(pretrained, "create", counted)
    caplog.set_level(logging.INFO, "crfdeid")
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(model_digest(find_model("synthetic")))) for _ in range(3)]
    for thread in threads:
        thread.start()
    while caplog.text.count("another process is training it: waiting") < 2:
        threads[0].join(0.05)
        assert any(thread.is_alive() for thread in threads), caplog.text
    waiting.set()
    for thread in threads:
        thread.join()
    assert len(trained) == 1
    assert len(found) == 3 and len(set(found)) == 1


@pytest.mark.parametrize(
    ("name", "meant"), [("syntetic", "synthetic"), ("Synthetic", "synthetic"), ("rule", "rules"), ("model", None)]
)
def test_a_mistyped_name_of_a_model_is_corrected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, meant: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("note.txt").write_text("Seen by Dr. Quill.")
    with pytest.raises(NotFoundError) as problem:
        load(name)
    assert (f"'{meant}'" in str(problem.value)) == (meant is not None)
    assert main(["redact", name, "note.txt", "--output", "out"]) == 1
    assert (f"'{meant}'" in capsys.readouterr().err) == (meant is not None)
    Path(name).mkdir()
    with pytest.raises(NotFoundError) as problem:
        load(name)
    assert f"'{meant}'" not in str(problem.value), "a folder that is there is meant"


def test_the_digest_depends_on_no_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    learn_from_few_notes(monkeypatch)
    digests = set()
    for year in (2030, 2031):
        clock = type("Clock", (datetime,), {"now": classmethod(lambda cls, tz=None, year=year: cls(year, 1, 2))})
        monkeypatch.setattr("crfdeid.model_card.training.datetime", clock)
        quick_built_in_model(monkeypatch, tmp_path / str(year))
        digests.add(model_digest(find_model("synthetic")))
    assert len(digests) == 1
    assert len(list(tmp_path.glob("*/model-synthetic-*"))) == 2


def test_the_model_is_kept_under_all_that_it_was_made_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    quick_built_in_model(monkeypatch, tmp_path)
    learn_from_few_notes(monkeypatch)
    pretrained.build_fingerprint.cache_clear()
    first = find_model("synthetic").path
    assert find_model("synthetic").path == first
    known = importlib.metadata.version
    monkeypatch.setattr(pretrained, "version", lambda name: "99" if name == "Faker" else known(name))
    pretrained.build_fingerprint.cache_clear()
    second = find_model("synthetic").path
    monkeypatch.undo()
    pretrained.build_fingerprint.cache_clear()
    assert second != first
    assert [folder.parent for folder in (first, second)] == [tmp_path, tmp_path]


@pytest.mark.parametrize("file", ["crfdeid/corpora/synthetic/notes.py", "crfdeid/corpora/synthetic/new.txt"])
def test_other_code_or_data_make_another_model(file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for package in ("crfdeid/corpora/synthetic", "crfdeid/model_card", "features"):
        (tmp_path / package).mkdir(parents=True)
    (tmp_path / "crfdeid/corpora/synthetic/notes.py").write_text("")
    monkeypatch.setattr(pretrained, "__file__", str(tmp_path / "crfdeid/model_card/pretrained.py"))
    pretrained.build_fingerprint.cache_clear()
    before = pretrained.build_fingerprint()
    (tmp_path / file).write_text("x")
    pretrained.build_fingerprint.cache_clear()
    after = pretrained.build_fingerprint()
    (tmp_path / "crfdeid" / "notes.pyc").write_text("compiled")
    pretrained.build_fingerprint.cache_clear()
    assert pretrained.build_fingerprint() == after != before
    pretrained.build_fingerprint.cache_clear()


def test_the_name_is_the_built_in_model_and_a_path_is_a_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick_built_in_model(monkeypatch, tmp_path / "cache")
    learn_from_few_notes(monkeypatch)
    built_in = find_model("synthetic").path
    monkeypatch.chdir(tmp_path)
    load(built_in).tagger.save(Path("synthetic"))
    assert find_model("synthetic").path == built_in
    assert find_model("./synthetic").path == find_model(Path("synthetic")).path == Path("synthetic")
    Path("note.txt").write_text("Discharged on 03/14/1992.")
    for name, digest in (("synthetic", model_digest(built_in)), ("./synthetic", model_digest(Path("synthetic")))):
        capsys.readouterr()
        assert main(["info", name]) == 0
        printed = capsys.readouterr()
        assert f"- Digest: {digest}" in printed.out
        assert ("warning: the model 'synthetic'" in printed.err) == (name == "synthetic")
        out = f"out-{digest[:4]}"
        assert main(["redact", name, "note.txt", "--output", out]) == 0
        assert digest in Path(out, ".crfdeid", "settings.json").read_text()
        assert ("warning: the model 'synthetic'" in capsys.readouterr().err) == (name == "synthetic")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    quick_built_in_model(monkeypatch, tmp_path)
    tmp_path.chmod(0o500)
    with pytest.raises(DataError):
        find_model("synthetic")
    tmp_path.chmod(0o700)


def test_the_built_in_rules_need_no_training(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CRFDEID_CACHE", str(tmp_path))
    note = load("rules").annotate("Seen by Dr. Huntington on 03/14/1992, SSN 219-09-9999, jane.roe@example.org")
    found = {note.text[span.start : span.end]: span.label for span in note.spans}
    assert found == {
        "Huntington": "DOCTOR",
        "03/14/1992": "DATE",
        "219-09-9999": "SSN",
        "jane.roe@example.org": "EMAIL",
    }
    assert [folder.name.startswith("model-rules-") for folder in tmp_path.glob("model-*")] == [True]
