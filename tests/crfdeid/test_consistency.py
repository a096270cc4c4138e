"""Document consistency: what it adds, what it leaves alone, and what must hold for any note."""

import string
import time
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.consistency import TokenTable, make_consistent
from crfdeid.documents import LIST, Document, Finding, Span, positions_in, tokens_of
from features.lexicons import fold_name
from features.tokenizer import tokenize


def marked(text: str) -> Document:
    """ "Pt: [Jane Quill|PATIENT]" as a document."""
    plain, spans = "", []
    for i, part in enumerate(text.replace("]", "[").split("[")):
        value, _, label = part.partition("|")
        if i % 2:
            spans.append(Span(len(plain), len(plain) + len(value), label))
        plain += value
    return Document("1", plain, tuple(spans))


def added(text: str) -> list[tuple[str, str]]:
    """The words and types that are found besides those that are marked."""
    document = marked(text)
    new = [span for span in make_consistent(document).spans if span not in document.spans]
    return [(document.text[span.start : span.end], span.label) for span in new]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Pt: [Jane Quill|PATIENT]. Later Quill slept, and Jane ate.", [("Quill", "PATIENT"), ("Jane", "PATIENT")]),
        ("Pt: [Jane Quill|PATIENT]. JANE QUILL signed.", [("JANE QUILL", "PATIENT")]),
        ("Pt: [Jane Quill|PATIENT]\nQUILL, JANE\n", [("QUILL, JANE", "PATIENT")]),
        ("[Dr. Sorrelby|DOCTOR] came. Sorelby left.", [("Sorelby", "DOCTOR")]),
        ("[Sorrelby|DOCTOR] came; Sorrelbyy; Sorreby; Sorrelyb; Sarrelby left.", 4),
        ("MRN [48-2213-7|ID]; the label 48-2213-7 was lost.", [("48-2213-7", "ID")]),
        ("From [Tawn List Clinic|HOSPITAL]. Tawn List Clinic called.", [("Tawn List Clinic", "HOSPITAL")]),
        ("[Ann Roe|DOCTOR] and [Ann Lark|PATIENT] met. Lark left.", [("Lark", "PATIENT")]),
        ("[Hospital Tawn|HOSPITAL] called. Hospital Tawn wrote.", [("Hospital Tawn", "HOSPITAL")]),
        ("[Jane Tawnby Lark|PATIENT]. Tawnby-Lark, Lark,Jane", [("Tawnby-Lark, Lark,Jane", "PATIENT")]),
        ("[Jane Quillan|PATIENT]. Then JaneQuillan.", [("JaneQuillan", "PATIENT")]),
        ("[Jane Tawn Lark|PATIENT]. Lark; Jane", [("Lark", "PATIENT"), ("Jane", "PATIENT")]),
        ("[Tawnby|PATIENT] and Tawmby.", [("Tawmby", "PATIENT")]),  # as short as a misspelt part can be
        ("[Tawnby|PATIENT] and Tawby.", [("Tawby", "PATIENT")]),
        (f"[Quill{'o' * 35}|PATIENT] and Quill{'o' * 36}.", 1),  # and as long
        ("The applicant, [Jane Quill|PERSON]. Mrs Quill won.", [("Quill", "PERSON")]),
        ("[Tawn List|HOSPITAL] and [Tawn List|HOSPITAL]. Tawn List, Tawn List.", 2),  # half of them were found
        ("MRN [48-2213|ID]; 48-2213, 48-2213.", 2),
        ("[MARISOL|NOMBRE_SUJETO_ASISTENCIA] vive sola. Marisol come.", [("Marisol", "NOMBRE_SUJETO_ASISTENCIA")]),
    ],
)
def test_what_was_found_once_is_found_everywhere(text: str, found: list[tuple[str, str]] | int) -> None:
    assert added(text) == found if isinstance(found, list) else len(added(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "Mr. [Brown|PATIENT] coughs brown sputum. Brown crusts.",  # an ordinary word in this note
        "Nurse [May|DOCTOR] called on May 3.",  # a month
        "[Jo Quill|PATIENT] and Jo.",  # two letters
        "[Quill|PATIENT], see quillwork and Quillwork.",  # inside a longer word
        "[Quill|DOCTOR]: Quill.j@example.org, Quill@example.org",  # accounts
        "[Roe|PATIENT] and Rye.",  # one slip away, but short
        "[Tawny|PATIENT] and Tawmy.",
        f"[Quill{'o' * 36}|PATIENT] and Quill{'o' * 37}.",  # longer than any name
        "[Sorrelby|PATIENT] and Torrelby, and Sarrilby.",  # another first letter; two slips
        "[Sorrelby|PATIENT] and Srrelbyo.",  # a letter left out, and one added elsewhere
        "[Ann January|PATIENT] and Janury.",  # a slip in a month
        "From [Tawn List Clinic|HOSPITAL]. Tawn called.",  # a part of what is no name
        "His [family|RELATIVE] and the family doctor.",
        "[9 pm|DATE] and 9 pm.",
        "[Room 4|ID] and room 4.",
        "In [Madrid|LOCATION], Hospital de Madrid.",  # a word of a list says too little
        "The [Tawn Court|ORG]; the Tawn Court, the Tawn Court.",  # found less often than not
        "Nothing is marked: Quill, Quill.",
    ],
)
def test_what_does_not_look_like_the_same_thing_is_left_alone(text: str) -> None:
    assert added(text) == []


def test_a_known_value_is_copied_however_rarely_it_was_found() -> None:
    document = marked("Ward: [Tawn List|HOSPITAL]. Tawn List, Tawn List.")
    known = replace(document, findings=(Finding(document.spans[0], LIST),))
    assert len(make_consistent(document).spans) == 1
    assert len(make_consistent(known).spans) == 3


def test_a_longer_value_goes_before_a_shorter_one() -> None:
    text = "[Tawn List|HOSPITAL], [Tawn List Annex|HOSPITAL]. At Tawn List Annex, at Tawn List."
    assert added(text) == [("Tawn List Annex", "HOSPITAL"), ("Tawn List", "HOSPITAL")]


def test_a_part_of_several_types_has_the_commonest() -> None:
    text = "[Lark|DOCTOR] [Ann Lark|PATIENT] [Bea Lark|PATIENT] and Lark"
    assert added(text) == [("Lark", "PATIENT")]


def test_words_of_any_length_cost_little() -> None:
    """Every word with one letter left out, of a word of 100,000 letters, would be ten billion letters."""
    document = marked(f"[Quillan|PATIENT] and Q{'x' * 100_000}, [Q{'y' * 100_000}|DOCTOR]")
    tracemalloc.start()
    try:
        assert make_consistent(document) == document
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 << 20


# Notes of few words, so that repeats, slips and capitals meet often.
WORDS = st.sampled_from(["Quillan", "Quilan", "QUILLAN", "quillan", "Ann", "Roe", "May", "12345", "12", "-", ",", "@"])
LABELS = st.sampled_from(["PATIENT", "DOCTOR", "ID", "HOSPITAL", "OTHER"])
GAPS = st.sampled_from([" ", "", "\n", "  ", "\u200b"])


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = "".join(draw(st.lists(st.one_of(WORDS, GAPS, st.text(string.printable, max_size=4)), max_size=30)))
    cuts = draw(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12), LABELS), max_size=5))
    spans = [Span(start, min(start + size, len(text)), label) for start, size, label in cuts if start < len(text)]
    return Document("1", text, tuple(spans))


@given(documents())
def test_spans_are_only_added_at_the_edges_of_tokens_and_where_none_was(document: Document) -> None:
    result = make_consistent(document)
    assert replace(result, spans=document.spans) == document
    new = list(result.spans)
    for span in document.spans:
        new.remove(span)
    tokens = tokens_of(document)
    starts, ends = {token.start for token in tokens}, {token.end for token in tokens}
    assert all(span.start in starts and span.end in ends for span in new)
    taken = [i for span in new for i in range(span.start, span.end)]
    assert len(taken) == len(set(taken))
    assert not set(taken) & {i for span in document.spans for i in range(span.start, span.end)}
    assert {span.label for span in new} <= {span.label for span in document.spans}
    assert make_consistent(document) == result


@given(documents())
def test_the_order_of_the_given_spans_does_not_matter(document: Document) -> None:
    turned = Document(document.id, document.text, tuple(reversed(document.spans)))
    assert make_consistent(turned) == make_consistent(document)


TEXTS = st.text("aB1 .\n\u0301\u200b", max_size=40)


@given(TEXTS, st.integers(0, 40), st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=5))
def test_it_says_what_the_tokens_say(text: str, cut: int, places: list[tuple[int, int]]) -> None:
    tokens = tokenize(text)
    table = TokenTable(tokens[:cut])
    table.add(tokens[cut:])
    assert table.words == [token.text for token in tokens]
    assert list(zip(table.starts, table.ends, strict=True)) == [token[1:] for token in tokens]
    assert table.small == {token.text: fold_name(token.text) for token in tokens}
    assert all(table.small.values())
    for start, length in places:
        span = Span(start, start + length, "ID")
        assert table.positions(span) == positions_in(tokens, span)


@pytest.mark.parametrize(
    ("found", "other"),
    [
        *(("Müller", "Müllers"), ("Müllers", "Müller"), ("Müller", "MUELLER"), ("Mueller", "Müllers")),
        *(("Groß", "GROSS"), ("Lefœuvre", "Lefoeuvre"), ("Quilﬁn", "QUILFIN"), ("Décarié", "Decarie")),
    ],
)
def test_spellings_of_a_name_are_one_name(found: str, other: str) -> None:
    text = f"Patient: {found}. Entlassung: {other} gut."
    marked = make_consistent(Document("1", text, (Span(9, 9 + len(found), "PATIENT"),)))
    assert [text[start:end] for start, end, _ in marked.spans] == [found, other]


@pytest.mark.parametrize(
    "address",
    ["[jane.quill@example.org|EMAIL]", "[www.quill.example|URL]", "jane.quill@example.org", "jane_quill@ward"],
)
@pytest.mark.parametrize(
    "order", ["{0} Pt: [Jane Quill|PATIENT]. Ms. Quill slept.", "[Jane Quill|PATIENT]; Quill. {0}"]
)
def test_an_address_with_a_name_does_not_make_it_a_common_word(address: str, order: str) -> None:
    assert ("Quill", "PATIENT") in added(order.format(address))


def test_a_particle_of_a_name_is_no_part_of_it() -> None:
    assert added("[Ann dorn Quill|PATIENT]. Dorn geht; Quill geht.") == [("Quill", "PATIENT")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mr. [王小明|PATIENT] was seen. 王小明 agreed.", [("王小明", "PATIENT")]),
        ("患者：[王小明|PATIENT]。王小明同意，和王小明的母亲。", [("王小明", "PATIENT")] * 2),
        ("[王小明|PATIENT]和王小明。王\n小明", [("王小明", "PATIENT"), ("王\n小明", "PATIENT")]),
        ("Dr. [王小明先生|DOCTOR]; 王小明", [("王小明", "DOCTOR")]),
        (
            "[山田 太郎|PATIENT]様。山田さん、太郎、山田太郎は",
            [(name, "PATIENT") for name in ("山田", "太郎", "山田太郎")],
        ),
        ("[マリア|PATIENT]。マリアは、マリアナ海溝", [("マリア", "PATIENT")]),
        ("[김철수|PATIENT] 환자. 김철수는 왔다. 이김철수", [("김철수", "PATIENT")]),
        ("[민수|PATIENT]. 민수가 왔다; 민수련", [("민수", "PATIENT")]),
        ("Mr. [כהן|PATIENT]. Then כהן agreed; וכהן; כהנא", [("כהן", "PATIENT")] * 2),
        ("[דוד כהן|PATIENT]. כהן, דוד", [("כהן", "PATIENT"), ("דוד", "PATIENT")]),
        ("[أحمد علي|PATIENT]. وأحمد، احمد، أَحمد، محمد", [(one, "PATIENT") for one in ("أحمد", "احمد", "أَحمد")]),
        ("[สมชาย|PATIENT]และสมชายมา", [("สมชาย", "PATIENT")]),
        ("[नीलिमा|PATIENT] आई। नीलिमा गई, नीलिमाजी", [("नीलिमा", "PATIENT")]),
        ("[ნინო|PATIENT] მოვიდა; ნინო წავიდა", [("ნინო", "PATIENT")]),
        ("[仁愛医院|HOSPITAL]。仁愛医院に", [("仁愛医院", "HOSPITAL")]),
        ("[仁愛医院|HOSPITAL]に。仁愛医院、仁愛医院", []),  # no name, and found less often than not
        ("[家人|RELATIVE]、家人", []),  # too short for a value
        ("[王|PATIENT]。王様", []),  # for a name
        ("[Quill 王小明|PATIENT]. Quill; 王小明", [("Quill", "PATIENT"), ("王小明", "PATIENT")]),
        ("[1ª|ID] y 1ª", []),
    ],
)
def test_values_without_capitals_are_found_everywhere(text: str, found: list[tuple[str, str]]) -> None:
    assert added(text) == found


CASELESS_NAMES = st.sampled_from(["王小明", "欧阳修文", "山田太郎", "김철수", "כהן", "محمود", "สมชาย", "नीलिमा"])
FILLERS = st.sampled_from([" ", "\n", ", ", "。", " came ", " 3 ", ". ", "; "])


@given(CASELESS_NAMES, CASELESS_NAMES, st.lists(st.tuples(FILLERS, st.booleans()), min_size=1, max_size=12))
def test_each_occurrence_of_a_name_without_capitals_is_covered(
    name: str, other: str, pieces: list[tuple[str, bool]]
) -> None:
    text = name + "".join(filler + (name if first else other) for filler, first in pieces)
    document = Document("1", text, (Span(0, len(name), "PATIENT"),))
    result = make_consistent(document)
    covered = [any(span.start <= i < span.end for span in result.spans) for i in range(len(text))]
    expected = [False] * len(text)
    for i in range(len(text)):
        if text.startswith(name, i):
            expected[i : i + len(name)] = [True] * len(name)
    assert covered == expected
    taken = [i for span in result.spans for i in range(span.start, span.end)]
    assert len(taken) == len(set(taken))


@given(st.text("王小明同意 。山ーマリア김는ו כהن١\u0301\u200bA1\n", max_size=40), st.data())
def test_any_text_without_capitals_keeps_its_spans(text: str, data: st.DataObject) -> None:
    places = st.lists(st.tuples(st.integers(0, len(text)), st.integers(1, 6), LABELS), max_size=4)
    spans = [Span(a, min(a + size, len(text)), label) for a, size, label in data.draw(places) if a < len(text)]
    document = Document("1", text, tuple(spans))
    result = make_consistent(document)
    assert replace(result, spans=document.spans) == document
    new = list(result.spans)
    for span in document.spans:
        new.remove(span)
    assert all(0 <= span.start < span.end <= len(text) for span in new)
    taken = [i for span in new for i in range(span.start, span.end)]
    assert len(taken) == len(set(taken))
    assert not set(taken) & {i for span in spans for i in range(span.start, span.end)}
    assert make_consistent(document) == result == make_consistent(replace(document, spans=tuple(spans)))


def test_the_time_for_a_text_without_spaces_is_linear() -> None:
    def seconds(size: int) -> float:
        text = "".join(chr(0x4E00 + i) for i in range(150)) + "一 " * size + "\u0640" * size + "一"
        names = tuple(Span(i, i + 3, "PATIENT") for i in range(0, 150, 3))
        document, tokens = Document("1", text, names), TokenTable()
        make_consistent(document, tokens)
        started = time.process_time()
        make_consistent(document, tokens)
        return time.process_time() - started

    assert seconds(80_000) < 32 * seconds(5_000) + 0.1  # 16 times the text; quadratic time is 256 times as much


def test_a_short_word_with_an_s_is_no_genitive() -> None:
    note = Document("1", "Pt: Jane Bau. Baus here.", (Span(4, 12, "PATIENT"),))
    assert make_consistent(note).spans == note.spans


def test_long_and_many_values_without_capitals_take_no_minutes() -> None:
    value = "王小明同意" * 1_000
    document = Document("1", f"{value}。{value}", (Span(0, 5_000, "ID"),))
    assert make_consistent(document).spans[1:] == (Span(5_001, 10_001, "ID"),)
    names = [f"王{chr(0x5000 + i)}{chr(0x6000 + i % 99)}" for i in range(2_000)]
    spans = tuple(Span(4 * i, 4 * i + 3, "PATIENT") for i in range(2_000))
    twice = Document("1", "".join(f"{name}。" for name in names * 2), spans)
    assert len(make_consistent(twice).spans) == 4_000
