"""The operator "keep": what stays, and that it never shows what another component marked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid import create
from crfdeid.bio import decode, encode
from crfdeid.documents import LIST, Document, Finding, Span, merge, overlapping
from crfdeid.io.records import Note, NoteResult
from crfdeid.io.worker import NoteTask
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.lists import CustomLists, Pattern, Term
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction import Operators, redact
from crfdeid.redaction.policy import Policy
from crfdeid.tagger import Traits
from features.tokens import Sentence

NOTE = Document("1", "Jane Quill, 45 years, 3/14.", (Span(0, 10, "PATIENT"), Span(12, 20, "AGE"), Span(22, 26, "DATE")))


def test_values_of_kept_types_stay() -> None:
    found = redact(NOTE, {"AGE": "keep", "DATE": "keep"})
    assert found.text == "[PATIENT], 45 years, 3/14."
    assert [found.text[start:end] for start, end, _ in found.spans] == ["[PATIENT]", "45 years", "3/14"]


@pytest.mark.parametrize(
    ("age", "text"),
    [
        ("89", "89"),
        ("forty-five", "forty-five"),
        ("45\u00a0años", "45\u00a0años"),
        ("45 Jahre", "45 Jahre"),
        ("90", "90+"),
        ("93 Jahre", "90+ Jahre"),
        ("&#57;3 years", "90+ years"),
        ("９３ years", "90+ years"),
        ("95 years 3 months", "90+ years 3 months"),
        ("one hundred and four", "ninety-something"),
        ("nonagenarian", "ninety-something"),
        ("99 weeks", "99 weeks"),
        ("1931", "[AGE]"),
        ("٩٣", "[AGE]"),
    ],
)
def test_ages_of_ninety_and_more_become_a_group(age: str, text: str) -> None:
    for label in ("AGE", "EDAD_SUJETO_ASISTENCIA"):
        note = Document("1", f"aged {age}.", (Span(5, 5 + len(age), label),))
        assert redact(note, {label: "keep"}).text == f"aged {text}.".replace("[AGE]", f"[{label}]")


def test_ages_of_relatives_become_a_group_too() -> None:
    note = Document("1", "su padre de 91 años", (Span(3, 19, "FAMILIARES_SUJETO_ASISTENCIA"),))
    assert redact(note, {"FAMILIARES_SUJETO_ASISTENCIA": "keep"}).text == "su padre de 90+ años"


def test_concepts_in_a_kept_value_stay_unless_it_was_changed() -> None:
    for age, expected in (("45", (Span(0, 2, "SIGN"), Span(8, 11, "SIGN"))), ("95", (Span(9, 12, "SIGN"),))):
        layers = {"concept": (Span(0, 2, "SIGN"), Span(8, 11, "SIGN"))}
        note = Document("1", f"{age} Quill sign", (Span(0, 2, "AGE"),), layers=layers)
        assert redact(note, {"AGE": "keep"}).layer("concept") == expected


SPANS = st.lists(
    st.builds(lambda a, n, label: Span(a, a + n, label), st.integers(0, 30), st.integers(1, 9), st.sampled_from("ABC")),
    max_size=8,
)
TEXT = "".join(map(chr, range(0x4E00, 0x4E00 + 40)))  # each character once, so that what stays is known


@given(SPANS, SPANS, st.sampled_from(["label", "mask", "remove", "numbered"]))
def test_an_overlap_never_shows_what_another_component_marked(spans: list[Span], never: list[Span], other: str) -> None:
    findings = tuple(Finding(span, LIST) for span in never)
    found = redact(Document("1", TEXT, tuple(spans), findings=findings), Operators(other, {"A": "keep"}))
    shown = set(found.text) & set(TEXT)
    for whole in merge(spans):
        parts = [span for span in spans if whole.start <= span.start < whole.end]
        stays = {span.label for span in parts} == {"A"} and not overlapping([whole], never)
        assert shown & set(TEXT[whole.start : whole.end]) == (set(TEXT[whole.start : whole.end]) if stays else set())
    covered = {c for span in spans for c in TEXT[span.start : span.end]}
    assert set(TEXT) - covered <= shown


class Scripted:
    """A tagger that marks the words of a table."""

    tags = ("B-AGE", "I-AGE", "B-DATE", "I-DATE", "B-PATIENT", "I-PATIENT", "O")
    settings = None

    def __init__(self, labels: dict[str, str]) -> None:
        self._labels = labels

    @staticmethod
    def traits(settings: object) -> Traits:
        return Traits()

    def predict(self, sentences: list[Sentence]) -> list[list[str]]:
        return [[self._labels.get(word, "O") for word in sentence.words] for sentence in sentences]


KEEP = {"AGE": "keep", "DATE": "keep", "PATIENT": "keep"}
RECORD = PatientIdentifiers(names=("Jane Quillan",), dates=("1972-03-14",), numbers=("4821337",))


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("Born 03/14/1972, seen 05/06/2031.", {"03/14/1972": "B-DATE"}, "Born [DATE], seen 05/06/2031."),
        ("Quillan, seen by Marsh.", {"Quillan": "B-PATIENT", "Marsh": "B-PATIENT"}, "[PATIENT], seen by Marsh."),
        ("Case 45 of 4821337.", {"45": "B-AGE", "of": "I-AGE", "4821337": "I-AGE"}, "Case [AGE]."),
        ("The ward Tawn List.", {"ward": "B-AGE", "Tawn": "I-AGE"}, "The [AGE]."),
        ("Seen in TL-48.", {"in": "B-DATE", "TL": "I-DATE", "-": "I-DATE", "48": "I-DATE"}, "Seen [DATE]."),
        ("Quillan; Qiullan called.", {"Quillan": "B-PATIENT"}, "[PATIENT]; [PATIENT] called."),
    ],
)
def test_the_record_and_the_lists_are_hidden_in_values_of_kept_types(
    text: str, labels: dict[str, str], expected: str
) -> None:
    site = CustomLists(deny=(Term("Tawn List", "WARD"),), patterns=(Pattern(r"TL-[0-9]+", "DATE"),))
    model = Deidentifier(Scripted(labels), site=site, evidence=False)  # type: ignore[arg-type]
    found = redact(model.annotate(text, known=RECORD), KEEP).text
    assert found == expected


WORDS = ["Aldra", "Bermo", "Cintu", "Dalvi", "Ervok", "Fasto", "Gelim", "Hupra"]


@given(
    st.dictionaries(st.sampled_from(WORDS), st.sampled_from(Scripted.tags)),
    st.lists(st.builds(Term, st.sampled_from(WORDS), st.sampled_from(["AGE", "DATE", "WARD"])), max_size=3),
    st.lists(st.sampled_from(WORDS), max_size=2),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12),
)
def test_no_component_hides_in_vain(
    labels: dict[str, str], deny: list[Term], names: list[str], text: list[str]
) -> None:
    model = Deidentifier(Scripted(labels), site=CustomLists(deny=tuple(deny)), evidence=False)  # type: ignore[arg-type]
    record = PatientIdentifiers(names=tuple(names))
    found = redact(model.annotate(" ".join(text), known=record), {"AGE": "keep", "DATE": "keep"}).text
    assert not {term.text for term in deny}.union(names) & set(found.split())
    assert not {word for word, tag in labels.items() if tag.endswith("PATIENT")} & set(found.split())
    plain = {word for word in text if labels.get(word, "O") == "O"} - {term.text for term in deny} - set(names)
    assert plain <= set(found.split())


def test_a_result_counts_what_was_kept(tmp_path: Path) -> None:
    from notes_samples import tiny_model  # noqa: PLC0415

    model = tiny_model(tmp_path / "model")
    text = "Patient Quill was seen on 3/4/2031.\nAttending: Dr. Marsh, call 555-2000."
    work = NoteTask(model, Policy({"DATE": "keep"})).start()
    (result,) = work([Note("1", text, None)])
    assert isinstance(result, NoteResult)
    assert "3/4/2031" in result.document.text and "Quill" not in result.document.text
    assert result.kept == {"DATE": 1}
    assert result.hidden_words == sum(result.found.values()) - 1 + 1  # a telephone number has two words


def test_what_a_member_of_a_combined_model_marked_is_hidden_too(tmp_path: Path) -> None:
    """The hybrid has the model's type for all of these words; the rules alone mark a date among them."""
    notes = [f"Seen on {day:02}/14/2031 again." for day in range(1, 10)] + [f"aged {n} on 03/14/2031" for n in (45, 46)]
    spans = [Span(8, 18, "DATE") for _ in range(9)] + [Span(5, 21, "AGE") for _ in range(2)]
    documents = [Document(str(i), *one) for i, one in enumerate(zip(notes, ((span,) for span in spans), strict=True))]
    model = create("hybrid", overrides={"max_iterations": 50})
    sentences = [sentence for document in documents for sentence in encode(document).sentences]
    model.fit(sentences, [])
    text = notes[-1]
    assert Deidentifier(model).annotate(text).spans == (Span(5, 21, "AGE"),)
    model.save(tmp_path / "model")
    assert redact(Deidentifier(model).annotate(text), {"AGE": "keep"}).text == "aged [AGE]"
    (result,) = NoteTask(tmp_path / "model", Policy({"AGE": "keep"})).start()([Note("1", text, None)])
    assert isinstance(result, NoteResult)
    assert (result.document.text, result.kept) == ("aged [AGE]", {})


class Combined(Scripted):
    """A scripted tagger with members."""

    def __init__(self, labels: dict[str, str], members: list[dict[str, str]]) -> None:
        super().__init__(labels)
        self._members = [Scripted(member) for member in members]

    def marginals(self, sentences: list[Sentence]) -> list[np.ndarray]:
        return [np.full((len(sentence.words), len(self.tags)), 1 / len(self.tags)) for sentence in sentences]

    def member_spans(self, sentences: list[Sentence]) -> list[list[Span]]:
        found = [[decode(*pair) for pair in zip(sentences, m.predict(sentences), strict=True)] for m in self._members]
        return [[span for spans in own for span in spans] for own in zip(*found, strict=True)]


LABELS = st.dictionaries(st.sampled_from(WORDS), st.sampled_from(Scripted.tags))


@given(LABELS, st.lists(LABELS, min_size=1, max_size=3), st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_keep_shows_nothing_that_a_member_marked_otherwise(
    labels: dict[str, str], members: list[dict[str, str]], text: list[str]
) -> None:
    model = Deidentifier(Combined(labels, members), consistent=False)  # type: ignore[arg-type]
    found = redact(model.annotate(" ".join(text)), {"AGE": "keep"}).text.split()
    marked = {word for word in text if labels.get(word, "O") != "O"}
    otherwise = {word for member in members for word, tag in member.items() if not tag.endswith(("O", "AGE"))}
    assert not marked & otherwise & set(found)
