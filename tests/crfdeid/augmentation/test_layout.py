"""Copies of notes in other layouts: every value stays marked, and a model that learned from them finds more."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.augmentation import ALL_COPIES, NO_COPIES, LayoutRewriter, augment_corpus, parse_copy_kinds
from crfdeid.augmentation.layout import KINSHIP_TYPE
from crfdeid.corpora.splits import Split
from crfdeid.documents import CONCEPT, Document, Span
from crfdeid.registry import create
from features.tokenizer import tokenize
from features.tokens import Sentence

BODY = {
    "en": "The pain began in the night and was worse in the morning. She was seen by us. No fever on arrival.",
    "es": "El dolor empezó por la noche y fue a peor en la mañana. La fiebre cedió con los fármacos. No hay más datos.",
    "de": "Die Schmerzen begannen in der Nacht. Am Morgen war das Fieber mit der Medikation weg. Es gibt nichts mehr.",
    "fr": "La douleur a commencé dans la nuit et le matin elle était pire. La fièvre a cédé avec les médicaments.",
    "it": "Il dolore è iniziato nella notte ed è peggiorato al mattino. La febbre è scesa con i farmaci. Non altro.",
    "nl": "De pijn begon in de nacht en was in de ochtend erger. De koorts zakte met de medicatie. Er is niet meer.",
    "pt": "A dor começou à noite e foi pior pela manhã. A febre cedeu com os medicamentos. Não há mais dados.",
    "": "El pacient té dolor des d'ahir amb febre. És una dona de 40 anys i no en té més al servei.",  # Catalan
}
SIGNED = {
    "en": "signed: ",
    "es": "firmado: ",
    "de": "gezeichnet: ",
    "fr": "signé : ",
    "it": "firmato: ",
    "nl": "getekend: ",
    "pt": "assinado: ",
}
FIELDS = [
    ("Name", "PATIENT"),
    ("Surname", "PATIENT"),
    ("Seen by", "DOCTOR"),
    ("Record no.", "ID"),
    ("Town", "LOCATION"),
]


@st.composite
def notes(draw: st.DrawFn) -> Document:
    """A note with a header of fields, several of them on a line at times, and a body; all values differ."""
    text, spans = draw(st.sampled_from(["", "\ufeff", "  "])), []
    words = draw(st.lists(st.from_regex(r"[A-Z][a-z]{3,6}q", fullmatch=True), min_size=10, max_size=10, unique=True))
    for i, (name, label) in enumerate(draw(st.permutations(FIELDS))):
        value = draw(st.sampled_from([words[2 * i], f"{words[2 * i]} {words[2 * i + 1]}", f"{words[2 * i]}, 12"]))
        text += name + draw(st.sampled_from([": ", ":", " : "]))
        spans.append(Span(len(text), len(text) + len(value), label))
        text += value + draw(st.sampled_from([".\n", "\n", "  ", "\r\n", ";\t", "\n\n"]))
    text += BODY[draw(st.sampled_from(list(BODY)))]
    return Document("1", text, tuple(spans), layers={CONCEPT: (Span(len(text) - 5, len(text) - 1, "DRUG"),)})


def folded(text: str) -> str:
    return " ".join(text.split())


DIVIDED = re.compile(r"(?<=\w)-\n(?=\w)")


def undivided(copy: Document, spans: tuple[Span, ...]) -> tuple[str, list[tuple[int, int]]]:
    """The text without the hyphens at line ends, and its covered ranges."""
    left_out = {i for match in DIVIDED.finditer(copy.text) for i in range(*match.span())}
    kept = [i for i in range(len(copy.text)) if i not in left_out]
    covered = {i for start, end, _ in spans for i in range(start, end)}
    marks = "".join("x" if i in covered else " " for i in kept)
    return "".join(copy.text[i] for i in kept), [match.span() for match in re.finditer("x+", marks)]


@given(notes(), st.integers(0, 10_000))
def test_every_value_in_a_copy_is_marked_with_its_type_and_nothing_else_is(note, seed):
    copy = LayoutRewriter({"PATIENT"}, seed=seed)(note)
    values = {folded(note.text[start:end]): label for start, end, label in note.spans}
    words = {word for value in values for word in re.findall(r"\w+q", value)}
    marked = set()
    text, spans = undivided(copy, copy.spans)
    for start, end in spans:
        found = set(re.findall(r"\w+", text[start:end])) - {"12"}
        assert found <= words | {word[0] for word in words}  # a name's initial may take the place of its first word
        assert found or text[start:end] == "12"  # a line end before it
        marked.update(range(start, end))
    for word in re.finditer(r"\w+q\b", text):
        assert word[0] not in words or set(range(*word.span())) <= marked
    text, concepts = undivided(copy, copy.layer(CONCEPT))
    assert [text[start:end] for start, end in concepts] in (
        [],
        [note.text[start:end] for start, end, _ in note.layer(CONCEPT)],
    )


def test_some_words_of_copies_are_divided_by_a_hyphen_and_stay_marked():
    value = "Zarandonaq Quillertonq Marshfieldq Tawnlistq"
    text = f"She was seen by {value} in the morning, and then by nobody else. " * 4
    spans = [Span(match.start(), match.end(), "DOCTOR") for match in re.finditer(value, text)]
    divided = 0
    for seed in range(60):
        copy = LayoutRewriter(set(), seed=seed)(Document("1", text, tuple(spans)))
        plain, marked = undivided(copy, copy.spans)
        covered = {i for start, end in marked for i in range(start, end) if plain[i].isalnum()}
        assert covered >= {i for match in re.finditer(r"\w+q\b", plain) for i in range(*match.span())}
        divided += any(DIVIDED.search(copy.text[start : end + 2]) for start, end, _ in copy.spans)
    assert divided > 0


@given(notes())
def test_the_layouts_that_keep_the_header_keep_every_value(note):
    rewrite = LayoutRewriter(set(), seed=3)
    gold = sorted((folded(note.text[start:end]), label) for start, end, label in note.spans)
    complete = 0
    for _ in range(20):
        copy = rewrite(note)
        found = [(folded(copy.text[start:end]), label) for start, end, label in copy.spans]
        complete += all(value in found for value in gold)
    assert complete >= 5  # prose alone leaves the header out: it is a third of the draws


@given(st.text(), st.integers(0, 100))
def test_any_text_can_be_rewritten(text, seed):
    LayoutRewriter(set(), seed=seed)(Document("1", text))


@pytest.mark.parametrize("language", BODY)
def test_values_are_set_into_sentences_of_the_language_of_the_note_alone(language):
    rewrite = LayoutRewriter(set(), seed=0)
    note = header_note("1", "Aldaq Borunq", "Celtiq Dorvanq", 4821, language)
    copies = [rewrite(note) for _ in range(100)]
    for code, sentence in SIGNED.items():
        begin = sentence.replace(" ", r"\s")
        ends = [(copy, match.end()) for copy in copies for match in re.finditer(begin, copy.text.lower())]
        assert bool(ends) == (code == language)
        for copy, end in ends:
            assert any(start == end and label == "DOCTOR" for start, _, label in copy.spans)


@pytest.mark.parametrize("labels", [{"PATIENT"}, {"PATIENT", KINSHIP_TYPE}])
def test_a_word_for_a_relative_is_marked_where_the_corpus_marks_them(labels):
    rewrite = LayoutRewriter(labels, seed=0)
    copies = [rewrite(header_note("1", "Aldaq", "Celtiq", 4821, "es")) for _ in range(60)]
    marked = {copy.text[start:end] for copy in copies for start, end, label in copy.spans if label == KINSHIP_TYPE}
    assert bool(marked) == (KINSHIP_TYPE in labels)
    assert marked <= {"hija", "esposa", "hermano", "madre", "marido", "hijo"}


def test_tokens_that_came_with_the_data_have_no_layout():
    tokens = tuple(tokenize("Name: Aldaq"))
    note = Document("1", "Name: Aldaq", (Span(6, 11, "PATIENT"),), (Sentence(tokens, "", "", 0, 1, tokens, 0),))
    assert LayoutRewriter(set(), seed=0)(note) is None
    split = Split.of([note] * 4)
    assert augment_corpus(split, "layout") is split


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("all", ALL_COPIES),
        ("none", NO_COPIES),
        ("layout,accents", "accents,layout"),
        ("case", "case"),
        ("case,all", ALL_COPIES),
    ],
)
def test_kinds_of_copies_are_named_in_one_order(text, kinds):
    assert parse_copy_kinds(text) == kinds


@pytest.mark.parametrize("text", ["", "both", "case,", "none,case", "Layout"])
def test_other_names_of_copies_are_refused(text):
    with pytest.raises(ValueError):
        parse_copy_kinds(text)


def header_note(id_: str, patient: str, doctor: str, number: int, language: str = "en") -> Document:
    text, spans = "", []
    fields = (("Name", patient, "PATIENT"), ("Doctor", doctor, "DOCTOR"), ("Record", str(number), "ID"))
    for name, value, label in fields:
        text += f"{name}: "
        spans.append(Span(len(text), len(text) + len(value), label))
        text += f"{value}\n"
    return Document(id_, text + BODY[language], tuple(spans))


def test_a_model_that_learned_from_copies_finds_names_in_sentences_without_a_header():
    heads = ("Al", "Br", "Cor", "Del", "Er", "Fer", "Gal", "Hal")
    names = [f"{head}{tail}q" for head in heads for tail in ("da", "mi", "to", "ve")]
    train = Split.of(header_note(str(i), names[i], names[-i - 1], 48210 + 37 * i) for i in range(len(names)))
    texts = ("Seen by Dr. Nalviq today", "Signed: Ostarq", "Mr. Quelliq was seen by us")
    sentences = [sentence for text in texts for sentence in Document("new", text).sentences()]
    found = {}
    for how in ("none", "layout"):
        tagger = create("crf", overrides={"max_iterations": 50})
        tagger.fit(augment_corpus(train, how).sentences, [])
        rows = zip(sentences, tagger.predict(sentences), strict=True)
        found[how] = [w for sentence, row in rows for w, tag in zip(sentence.words, row, strict=True) if tag != "O"]
    assert "Nalviq" not in found["none"]
    assert found["layout"] == ["Nalviq", "Ostarq", "Quelliq"]
