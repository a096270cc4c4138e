"""A further language is one data file: an invented one works for the models that name it, and changes no other."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from invented_language import NOTE, PACK

from crfdeid import Deidentifier, create
from crfdeid.bio import encode
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span
from crfdeid.errors import SettingError, VersionError
from crfdeid.model_card.card import read_card
from crfdeid.model_card.pretrained import find_model
from crfdeid.model_card.render import render_card
from crfdeid.model_card.training import train_model
from crfdeid.registry import load_tagger
from crfdeid.rules.matcher import find_rules, make_rules
from crfdeid.utils.json import fields_checksum
from features.languages import DEFAULT_LANGUAGES, LANGUAGES, language_of
from features.lexicons import Gazetteers, word_classes
from features.patterns import Patterns
from features.sentences import split_sentences

ENGLISH = [
    Document("1", "Seen by Dr. Quill on 14 May 2031.\nNo pain.", (Span(12, 17, "DOCTOR"), Span(21, 32, "DATE"))),
    Document("2", "The zdoktor zmed. Tawn of Marsh called the clinic.", (Span(18, 22, "DOCTOR"),)),
]
ENGLISH_FILE = "".join(
    json.dumps({"id": note.id, "text": note.text, "spans": [span._asdict() for span in note.spans]}) + "\n"
    for note in ENGLISH
)
QUILLISH = [Document(str(i), NOTE, (Span(12, 24, "PATIENT"),)) for i in range(3)]


@pytest.fixture
def quillish(tmp_path: Path) -> Iterator[Path]:
    """The file of the pack, while it is among the languages."""
    file = tmp_path / "zq.toml"
    file.write_text(PACK, encoding="utf-8")
    LANGUAGES.add(file)
    yield file
    LANGUAGES.remove("zq")


def train(notes: list[Document], folder: Path, **settings: Any) -> str:
    """Train a model; its description, card and tags, as text."""
    split = Split.of(notes)
    tagger = create("hybrid", overrides={"max_iterations": 5, "keep_untried": True, **settings})
    train_model(tagger, Corpus("invented", "synthetic", "all", split, split, None), folder)
    return content(folder)


def content(folder: Path) -> str:
    tagger = load_tagger(folder)
    found = [document.spans for document in Deidentifier(tagger).annotate_documents([*ENGLISH, *QUILLISH])]
    card = render_card(folder, read_card(folder)).partition("\n")[2]
    return f"{(folder / 'model.json').read_text()}{(folder / 'card.json').read_text()}{card}{found}"


def change(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    fields = json.loads((folder / "model.json").read_text())
    edit(fields)
    (folder / "model.json").write_text(json.dumps(fields | {"sha256": fields_checksum(fields)}))


def test_a_further_language_changes_no_model(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    before = train(ENGLISH, tmp_path / "before")
    assert LANGUAGES.keys().isdisjoint({"zq"})
    request.getfixturevalue("quillish")
    assert content(tmp_path / "before") == before
    assert train(ENGLISH, tmp_path / "after") == before


def test_a_model_of_the_language_finds_its_own_sentences_and_names(quillish: Path, tmp_path: Path) -> None:
    train(QUILLISH, tmp_path / "model")  # the language is told from the notes
    tagger = load_tagger(tmp_path / "model")
    assert tagger.languages == ("zq",)
    (found,) = Deidentifier(tagger).annotate_documents([Document("", NOTE + " Zu zerr Zott Zquill.")])
    assert [sentence.words[-4] for sentence in found.sentences()] == ["zmed", "zerr"]
    assert {found.text[span.start : span.end] for span in found.spans} >= {"Zott Zmuller", "Zott Zquill"}
    assert "Quillish" in render_card(tmp_path / "model", read_card(tmp_path / "model"))


@pytest.mark.parametrize("model", ["crf", "rules", "hybrid"])
def test_a_model_whose_own_pack_changed_is_refused(quillish: Path, tmp_path: Path, model: str) -> None:
    tagger = create(model, overrides={"language": "zq"})
    tagger.fit(encode(QUILLISH[0].in_languages(["zq"])).sentences, [])
    tagger.save(tmp_path / "model")
    LANGUAGES.remove("zq")
    try:
        for text in (PACK.replace("zmama", "zoma"), PACK.replace("1234", "1235")):
            quillish.write_text(text, encoding="utf-8")
            LANGUAGES.add(quillish)
            with pytest.raises(VersionError):
                load_tagger(tmp_path / "model")
            LANGUAGES.remove("zq")
        with pytest.raises(VersionError):
            load_tagger(tmp_path / "model")
    finally:
        wrapped = PACK.replace("zmama, zpapa", "zmama,\n  zpapa")  # another line break in a list is no change
        quillish.write_text(wrapped.replace('kin = "zmama,\n  zpapa"', "kin = '''zmama,\n  zpapa'''"), encoding="utf-8")
        LANGUAGES.add(quillish)
    assert load_tagger(tmp_path / "model").languages == ("zq",)


def test_another_pack_that_changed_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tagger = create("crf", overrides={"language": "en", "max_iterations": 5})
    tagger.fit(encode(ENGLISH[0]).sentences, [])
    tagger.save(tmp_path)
    change(tmp_path, lambda fields: fields["packs"].update(de="0"))
    with caplog.at_level(logging.WARNING):
        load_tagger(tmp_path)
    assert "'de'" in caplog.text
    change(tmp_path, lambda fields: fields["packs"].update(en="0"))
    with pytest.raises(VersionError):
        load_tagger(tmp_path)


def test_rules_of_the_librarys_packs_do_not_count() -> None:
    english = LANGUAGES["en"]
    same = {**english.content, "ages": {}, "rules": {}, "surrogates": {}}
    assert replace(english, content=same).digest == english.digest
    for part in ("words", "names", "places"):
        assert replace(english, content={**english.content, part: {}}).digest != english.digest


def test_a_pack_is_read_by_what_names_it_alone(quillish: Path) -> None:
    (sentence,) = split_sentences(NOTE, ["zq"])
    assert len(split_sentences(NOTE)) == 2
    assert language_of(NOTE.split()) == "zq"
    assert language_of(NOTE.split(), DEFAULT_LANGUAGES) is None
    assert word_classes("ZDOKTOR", ("zq",)) == ("title",)
    assert word_classes("ZDOKTOR") == ()
    places = [row[0] for row in Gazetteers(0, ("zq",)).extract(sentence)]
    assert [place for place in places if not place.endswith("=O")] == ["gazetteer[0]=B-town", "gazetteer[0]=E-town"]
    dates = {row[0] for row in Patterns(0, ("zq",)).extract(sentence)} - {
        row[0] for row in Patterns(0).extract(sentence)
    }
    assert dates == {"pattern[0]=B-date", "pattern[0]=I-date", "pattern[0]=E-date"}


def test_the_rules_of_a_pack_find_their_examples(quillish: Path) -> None:
    (sentence,) = split_sentences(NOTE, ["zq"])
    found = {" ".join(sentence.words[a:b]): rule.name for rule, a, b in find_rules(sentence, ("zq",))}
    assert found == {
        "Zott Zmuller": "name after a form of address in Quillish",
        "Zbad Zquill": "town after residence in Quillish",
        "14 . triel 1972": "date",
        "Zvia Quillo 12": "street in Quillish",
    }
    own = [rule for rule in make_rules(("zq",)) if rule.language == "zq"]
    assert len(own) > 15
    for rule in own:
        for example in rule.positive_examples:
            plain = example.replace("[", "").replace("]", "")
            value = example.partition("[")[2].partition("]")[0] or example
            hits = [
                plain[one.tokens[a].start : one.tokens[b - 1].end]
                for one in split_sentences(plain, ["zq"])
                for other, a, b in find_rules(one, ("zq",))
                if other is rule
            ]
            assert hits == [value], rule.name


def test_a_language_that_is_there_is_not_replaced(quillish: Path, tmp_path: Path) -> None:
    for code, text in (("en", PACK), ("zq", PACK), ("zx", "name = "), ("zx", 'name = "Half"')):
        file = tmp_path / "more" / f"{code}.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=f"{code}.toml"):
            LANGUAGES.add(file)
    with pytest.raises(SettingError):
        create("crf", overrides={"language": "zx"})


def test_a_folder_of_packs_is_named_in_the_environment(tmp_path: Path) -> None:
    (tmp_path / "zq.toml").write_text(PACK, encoding="utf-8")
    code = "from features.languages import LANGUAGES; print(LANGUAGES['zq'].name)"
    environment = {**os.environ, "CRFDEID_LANGUAGES": f"/nowhere{os.pathsep}{tmp_path}"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout == "Quillish\n"


@pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe", b'name = "Quillish"'])
@pytest.mark.parametrize("arguments", ["train notes.jsonl --model crf", "redact rules notes.txt"])
def test_a_damaged_pack_of_ones_own_is_one_error(tmp_path: Path, content: bytes, arguments: str) -> None:
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "zq.toml").write_bytes(content)
    find_model("rules")  # in the cache, so that the pack is read by the model's settings and not by its training
    (tmp_path / "notes.jsonl").write_text(ENGLISH_FILE, encoding="utf-8")
    (tmp_path / "notes.txt").write_text("Seen by Dr. Quill.", encoding="utf-8")
    code = "import sys; from crfdeid.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *arguments.split(), "--output", "out"]
    environment = {**os.environ, "CRFDEID_LANGUAGES": str(tmp_path / "packs")}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    errors = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert (ran.returncode, len(errors)) == (2, 1) and "zq.toml" in errors[0] and "Traceback" not in ran.stderr
    assert not (tmp_path / "out").exists()
