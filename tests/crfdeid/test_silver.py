"""Silver annotations: what is certain and what is in doubt, and the commands from raw notes to a model."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from crfdeid import load, read_corpus
from crfdeid.cli import main
from crfdeid.corpora import write_corpus
from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import DOUBT, LIST, RECORD, Document, Span, overlapping, tokens_of
from crfdeid.ensembles.ensemble import EnsembleTagger
from crfdeid.evaluation.evaluate import count_leaking_documents
from crfdeid.evaluation.probabilities import tokens_in
from crfdeid.io.records import Note
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.lists import CustomLists, Term
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import create
from crfdeid.silver import label_notes
from crfdeid.tagger import Tagger

KNOWN = PatientIdentifiers.of([("name", "Jane Quill")])


def texts(document: Document, spans: tuple[Span, ...]) -> list[str]:
    return [document.text[span.start : span.end] for span in spans]


def test_records_lists_and_rules_are_certain_and_unknown_names_in_doubt() -> None:
    lists = CustomLists(deny=(Term("Ward Tarn", "HOSPITAL"),))
    model = load("rules", lists=lists)
    notes = [
        Note("1", "Quill came on 03/14/2031 to ward tarn. Marlow and Aspirin helped.", "p1", KNOWN),
        Note("2", "She takes aspirin. Nothing else.", "p2"),
    ]
    first, second = label_notes(model, notes)
    sources = {first.text[span.start : span.end]: evidence.source for span, evidence in first.evidence.items()}
    assert sources["Quill"] == RECORD
    assert sources["ward tarn"] == LIST
    assert sources["03/14/2031"].startswith("rule:")
    assert set(texts(first, first.layers[DOUBT])) == {"Marlow"}, "the other note has aspirin in small letters"
    assert not set(texts(second, second.layers[DOUBT])) & {"aspirin", "takes"}
    assert not second.spans


@pytest.fixture(scope="module")
def model() -> Deidentifier:
    tagger = create("crf", overrides={"max_iterations": 40})
    tagger.fit(Split.of(generate_notes(25, seed=1)).sentences, [])
    return Deidentifier(tagger, consistent=True)


def test_doubt_is_between_certain_phi_and_certain_other(model: Deidentifier) -> None:
    gold = list(generate_notes(15, seed=2))
    labelled = label_notes(model, [Note(note.id, note.text, note.id) for note in gold])
    tables = {note.id: {} for note in gold}
    for note in gold:
        for sentence in note.sentences():
            (table,) = model.tagger.marginals([sentence])
            outside = model.tagger.tags.index("O")
            tables[note.id] |= {
                token.start: 1 - row[outside] for token, row in zip(sentence.tokens, table, strict=True)
            }
    for note in labelled:
        doubt = {i for span in note.layers[DOUBT] for i in range(span.start, span.end)}
        certain = {i for span in note.spans for i in range(span.start, span.end)}
        assert not doubt & certain
        for start, probability in tables[note.id].items():
            if start not in doubt | certain:
                assert probability < 0.02
    assert any(note.layers[DOUBT] for note in labelled)
    assert any(note.spans for note in labelled)


def test_a_value_that_is_certain_in_a_note_is_so_in_the_others_of_the_patient(model: Deidentifier) -> None:
    """A name that the model marks without certainty, and one that it does not mark."""
    gold = list(generate_notes(15, seed=2))
    alone = label_notes(model, [Note(note.id, note.text, note.id) for note in gold])
    unsure = next(
        (note, span)
        for note in model.annotate_documents(gold)
        for span in note.spans
        if span not in next(one for one in alone if one.id == note.id).spans and span.end - span.start > 5
    )
    note, span = unsure
    value = note.text[span.start : span.end]
    known = PatientIdentifiers.of([("text", value)])
    other = Note("other", f"A letter for {value}.", "p", known)
    together = label_notes(model, [Note(note.id, note.text, "p"), other])[0]
    apart = label_notes(model, [Note(note.id, note.text, "q"), other])[0]
    assert value not in texts(apart, apart.spans)
    assert value in texts(together, together.spans)


def test_commands_lead_from_raw_notes_and_ten_gold_ones_to_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, gold, unseen = (list(generate_notes(count, seed=count)) for count in (30, 10, 11))
    rows = [{"id": note.id, "text": note.text, "doctor": "", "patient": note.id} for note in raw]
    (tmp_path / "raw.jsonl").write_text("\n".join(map(json.dumps, rows)))
    write_corpus([replace(note, id=f"g{note.id}") for note in gold], tmp_path / "gold.jsonl", format="jsonl")
    silver, model = tmp_path / "silver", tmp_path / "model"
    command = ["annotate", "silver", str(tmp_path / "raw.jsonl"), "--record-columns", "name=doctor"]
    assert main([*command, "--output", str(silver)]) == 0
    labelled = read_corpus(silver)
    assert [note.id for note in labelled] == [note.id for note in raw]
    assert all(note.evidence.keys() == set(note.spans) for note in labelled)
    assert main([*command, "--output", str(silver)]) == 2, "nothing is overwritten"
    (tmp_path / "page.html").write_text("<html><body><p>Seen by Dr. Quill.</p></body></html>")
    assert main(["annotate", "silver", str(tmp_path / "page.html"), "--output", str(tmp_path / "page")]) == 1
    options = ["--model", "crf", "--set", "max_iterations=15", "--augment", "none", "--with-builtin", "rules", "--gold"]
    assert main(["train", str(silver), *options, str(tmp_path / "gold.jsonl"), "--output", str(model)]) == 0
    issues = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: ")]
    assert issues
    assert not any(str(silver) in line for line in issues), "the annotations that people can correct are checked"
    both, rules = load(model), load("rules")
    leaks = [
        count_leaking_documents(unseen, {one.id: one.spans for one in finder.annotate_documents(unseen)})
        for finder in (both, rules)
    ]
    assert leaks[0] <= leaks[1], "the union misses nothing that a member finds"
    assert isinstance(both.tagger, EnsembleTagger)
    card = json.loads((model / "card.json").read_text())
    assert card["corpus"]["splits"]["train"]["documents"] == 30 + 9 * 5
    assert card["corpus"]["splits"]["dev"]["documents"] == 1


def test_an_ensemble_keeps_a_trained_member_as_it_is() -> None:
    first, second = (Split.of(generate_notes(8, seed=seed)).sentences for seed in (1, 2))
    trained, untrained = (create("crf", overrides={"max_iterations": 10}) for _ in range(2))
    trained.fit(first, [])
    sentences = [item.sentence for item in second]
    before = trained.predict(sentences)
    both = EnsembleTagger.of([("crf", trained), ("crf", untrained)], combine="union")
    both.fit(second, [])
    assert both.members == (trained, untrained)
    assert trained.predict(sentences) == before
    found = both.predict(sentences)
    for row, own in zip(found, before, strict=True):
        assert all(tag != "O" for tag, member in zip(row, own, strict=True) if member != "O")


def crf_of(notes: list[Document]) -> Tagger:
    tagger = create("crf", overrides={"max_iterations": 30})
    tagger.fit(Split.of(notes).sentences, [])
    return tagger


def with_false_spans(note: Document) -> Document:
    """The note with every second of some small words marked as a number."""
    places = [Span(*match.span(), "ID") for match in re.finditer(r"\b(the|of|and|with|is|was)\b", note.text)][::2]
    return replace(note, spans=(*note.spans, *(one for one in places if not overlapping([one], note.spans))))


def test_development_notes_choose_union_or_mean() -> None:
    """The mean hides fewer false spans of one member; it must miss no more than the given member alone."""
    given, few = crf_of(list(generate_notes(20, seed=1))), crf_of(list(generate_notes(2, seed=2)))
    noisy = crf_of([with_false_spans(note) for note in generate_notes(40, seed=2)])
    dev = Split.of(generate_notes(30, seed=5)).sentences
    for member, notes, expected in ((noisy, dev, "mean"), (few, dev, "union"), (noisy, dev[:20], "union")):
        both = EnsembleTagger.of([("crf", given), ("crf", member)])
        both.fit([], notes)
        assert both.settings.combine == expected


@pytest.mark.parametrize("combine", ["union", "mean"])
def test_a_model_with_a_builtin_member_hides_all_that_the_member_hides_by_default(tmp_path: Path, combine: str) -> None:
    """Document consistency is left out: what it adds depends on where spans end."""
    gold, model = tmp_path / "gold.jsonl", tmp_path / "both"
    write_corpus(list(generate_notes(12, seed=3)), gold, format="jsonl")
    command = ["train", str(gold), "--model", "crf", "--set", "max_iterations=15", "--set", f"combine={combine}"]
    assert main([*command, "--augment", "none", "--with-builtin", "english", "--output", str(model)]) == 0
    unseen = list(generate_notes(25, seed=11))
    hidden, default, fewer = (
        [tokens_in(tokens_of(one), one.spans) for one in finder.annotate_documents(unseen)]
        for finder in (
            load(model, consistent=False),
            load("english", consistent=False),
            load("english", consistent=False, sensitivity="none"),
        )
    )
    assert all((own >= needed).all() for own, needed in zip(hidden, default, strict=True))
    assert sum(map(sum, default)) > sum(map(sum, fewer)), "the default hides more than the most probable tags"
    assert load(model, sensitivity="none").threshold is None
