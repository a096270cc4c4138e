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
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.lists import CustomLists, Pattern, Term
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction import Operators, redact
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor
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


UNREAD = (
    *(
        "XCIII",
        "ⅩⅭⅢ",
        "XC",
        "tenth decade",
        "10th decade",
        "nine decades",
        "9 decades",
        "nueve décadas",
        "décima década",
    ),
    *("neuf dizaines", "neun Jahrzehnte", "hundred", "a century", "1 century", "four score", "4 score and 13", "93½"),
    *("٩٣", "९३", "80 and 13", "eighty and thirteen", "eighty-thirteen", "thirteen and eighty", "ochenta y trece"),
    *("quatre-vingt 13", "quatre vingts et treize", "soixante trente", "achtzig und dreizehn", "trois fois trente"),
    *("9 3", "9-3", "9, 3", "9O", "9l", "9o", "9\u200b3", "9³", "1e2", "0x5D", "2x45", "2×45", "89+4", "√8649", "8.93"),
    *("80 years and 13 years", "80 years 156 months", "90 and 3", "ninety and three", "ninety, three", "93 diabetic"),
    *(
        "birthday: 93",
        "Monday, 93",
        "mujer de 93 diabética",
        "ninty-three",
        "nіnety",
        "novantatré",
        "89 1/2",
        "of Tawn",
    ),
)
YOUNGER = (
    *(
        "89",
        "forty-five",
        "eightynine",
        "45 años",
        "45 y.o.",
        "45yoM",
        "45/F",
        "ein 45 Jahre alter",
        "in his 80s",
    ),
    *(
        "6 años y 3 meses",
        "tres años y diez meses",
        "tres meses y medio",
        "ninth decade",
        "sexta década de la vida",
        "elderly",
    ),
    *(
        "fünfundvierzigjährige",
        "45-jährige",
        "achtzig Jahre",
        "quatre-vingts ans",
        "quatre-vingt-neuf ans",
        "soixante et onze",
    ),
    *("ochenta y nueve años", "12 y 15 años", "3, 5 y 7 años", "15 y 12 años", "25 a los 33 años", "2-3 years", "85th"),
)


@pytest.mark.parametrize("age", UNREAD)
def test_an_age_that_no_list_reads_as_one_below_ninety_becomes_its_label(age: str) -> None:
    for label, what in (("AGE", age), ("FAMILIARES_SUJETO_ASISTENCIA", f"padre de {age}")):
        text = f"Seen: {what}."
        found = redact(Document("1", text, (Span(6, 6 + len(what), label),)), {label: "keep"}).text
        shown = found.removeprefix("Seen: ").removesuffix(".")
        assert shown == f"[{label}]" or ("3" not in shown.replace("90+", "") and "three" not in shown)


@pytest.mark.parametrize("age", YOUNGER)
def test_an_age_that_was_read_stays_in_every_language(age: str) -> None:
    for before in ("Der Patient ist ", "Le patient a ", "El paciente tiene ", "The patient is "):
        note = Document("1", before + age, (Span(len(before), len(before + age), "AGE"),))
        assert redact(note, {"AGE": "keep"}).text == note.text


@given(
    st.integers(0, 140), st.sampled_from(["{}", "{} years", "{}-year-old", "{} años", "{} Jahre", "{}yo", "aged {}"])
)
def test_a_number_of_years_stays_below_ninety_alone(age: int, form: str) -> None:
    text = form.format(age)
    found = redact(Document("1", text, (Span(0, len(text), "AGE"),)), {"AGE": "keep"}).text
    assert found == form.format(age if age < 90 else "90+")


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
    languages = ()
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
    model = Deidentifier(Scripted(labels), lists=site, evidence=False)  # type: ignore[arg-type]
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
    model = Deidentifier(Scripted(labels), lists=CustomLists(deny=tuple(deny)), evidence=False)  # type: ignore[arg-type]
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
    work = Redactor(model, Policy({"DATE": "keep"})).start()
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
    (result,) = Redactor(tmp_path / "model", Policy({"AGE": "keep"})).start()([Note("1", text, None)])
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
