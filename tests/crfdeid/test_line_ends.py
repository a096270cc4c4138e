"""Known values, rules and consistency where a line ends inside a value: at each place, with each gap."""

from collections.abc import Iterator
from itertools import cycle, product

import pytest

import crfdeid
from crfdeid.consistency import make_consistent
from crfdeid.documents import Document, Span
from crfdeid.known_phi import CustomLists, PatientIdentifiers, Pattern, Term
from crfdeid.known_phi.identifiers import identifier_labels
from crfdeid.pipeline import find_known
from crfdeid.redaction.redact import redact

HYPHENS = ("-", "\u00ad", "\u2010", "")
INDENTATIONS = ("", "   ", "\t", " " * 40, "> ")
GAPS = [*map("".join, product(HYPHENS, ("\n", "\r\n"), INDENTATIONS))]
RARE_GAPS = [
    *map("".join, product(HYPHENS, ("\r", "\x85", "\u2028", "\u2029", "\v", "\f", "  \n", "\n\n"), ("", "  > > ")))
]
MARGINS = ["-\n* ", "-\r\n# ", "-\n// ", "-\n; ", "-\n - ", "-\n\u2502 ", "\u2e17\n", "\u2027\n"]
NAMES = ("Zarandona", "Quill, Orla", "Abe Marsh", "O'Neill", "María de la Cruz", "Anne-Marie Tawn")
NUMBERS = ("4822137", "48-2213-7", "TL-204417", "(555) 255-0134")
DATES = ("14/03/1972", "1972-03-14", "14 de marzo de 1972", "March 14, 1972", "3.14.72", "14-III-1972")
TEXTS = ("48 Tawn Street, Marshfield", "orla.quill@tawn.example")
RECORDS = [
    *((value, PatientIdentifiers(names=(value,))) for value in NAMES),
    *((value, PatientIdentifiers(numbers=(value,))) for value in NUMBERS),
    *((value, PatientIdentifiers(dates=("1972-03-14",))) for value in DATES),
    *((value, PatientIdentifiers(texts=(value,))) for value in TEXTS),
]
BEFORE, AFTER = "Seen: ", " and well."


def divided(value: str, gaps: list[str]) -> Iterator[str]:
    """The value with a gap at each place inside it."""
    yield from (value[:i] + gap + value[i:] for i in range(1, len(value)) for gap in gaps)


def left(text: str, spans: list[Span], start: int, end: int) -> str:
    """The letters and digits of a range that no span covers, and all covered characters outside it."""
    covered = {i for span in spans for i in range(span.start, span.end)}
    inside = (text[i] for i in range(start, end) if text[i].isalnum() and i not in covered)
    return "".join(inside) + "".join(text[i] for i in sorted(covered.difference(range(start, end))))


def left_of_known(value: str, known: PatientIdentifiers | None, site: CustomLists) -> str:
    text = BEFORE + value + AFTER
    spans = [finding.span for finding in find_known(text, known, site, identifier_labels(()))]
    return left(text, spans, len(BEFORE), len(text) - len(AFTER))


@pytest.mark.parametrize("gaps", [GAPS, RARE_GAPS, MARGINS], ids=["gaps", "rare-gaps", "margins"])
@pytest.mark.parametrize(("value", "known"), RECORDS, ids=lambda one: one if isinstance(one, str) else "")
def test_a_value_of_the_record_is_found_over_line_ends(value: str, known: PatientIdentifiers, gaps: list[str]) -> None:
    assert [text for text in divided(value, gaps) if left_of_known(text, known, CustomLists())] == []


@pytest.mark.parametrize("gap", ["-<br>\n", "<BR />", "&lt;br&gt;"])
@pytest.mark.parametrize(
    ("value", "known"),
    [RECORDS[0], RECORDS[6], RECORDS[10], RECORDS[16]],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_break_of_html_is_a_line_end(value: str, known: PatientIdentifiers, gap: str) -> None:
    for place in range(1, len(value)):
        text = f"{value[:place]}{gap}{value[place:]}"
        assert left_of_known(text, known, CustomLists()) == "", text


@pytest.mark.parametrize("value", [*NAMES, *NUMBERS, *TEXTS, "王小明"])
def test_a_term_of_a_list_is_found_over_line_ends(value: str) -> None:
    site = CustomLists(deny=(Term(value, "ID"),))
    assert [text for text in divided(value, GAPS) if left_of_known(text, None, site)] == []


def test_a_pattern_matches_over_line_ends() -> None:
    site = CustomLists(patterns=(Pattern("TL-[0-9]{6}", "ID"),))
    assert [text for text in divided("TL-204417", GAPS) if left_of_known(text, None, site)] == []


def test_a_whole_match_of_a_pattern_continues_over_a_hyphen_alone() -> None:
    site = CustomLists(patterns=(Pattern(r"TL-\d+", "ID"),))
    values = {text: [text[a:b] for a, b, _ in site.find(text)] for text in ("TL-20\n44 mg", "TL-20-\n44 mg")}
    assert "TL-20-\n44" in values["TL-20-\n44 mg"]
    assert values["TL-20\n44 mg"] == ["TL-20"]


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (PatientIdentifiers(names=("Jane Quill",)), "Jane Quill\nS: well.\nO: Quil\nA: well"),
        (PatientIdentifiers(names=("Inés Tarn",)), "pain in\nes, an\na"),
        (PatientIdentifiers(numbers=("4822137",)), "4822\n1370 or 14822\n137"),
        (PatientIdentifiers(dates=("1972-03-14",)), "14/03/19\n720 or 14/03/2\n1972"),
        (PatientIdentifiers(texts=("48 Tawn Street",)), "48 Tawn\nStreets"),
    ],
)
def test_other_words_around_line_ends_are_left(known: PatientIdentifiers, text: str) -> None:
    found = {text[start:end] for start, end, _ in known.find(text)}
    assert found <= {"Jane Quill"}


def test_text_around_a_divided_value_is_unchanged() -> None:
    text = "  Seen:\r\n> Zaran-\r\n>    dona\r\n> left.\u00ad\n"
    found = find_known(text, PatientIdentifiers(names=("Zarandona",)), CustomLists(), identifier_labels(()))
    document = redact(Document("1", text, tuple(finding.span for finding in found[:1])))
    assert document.text == "  Seen:\r\n> [PATIENT]\r\n> left.\u00ad\n"


COPIED = [
    *(("Zarandona", "PATIENT"), ("Quillerton Marsh", "DOCTOR"), ("O'Neill", "DOCTOR"), ("Müller", "DOCTOR")),
    *(("48-2213-7", "ID"), ("4822137", "ID"), ("TL-204417", "ID"), ("14/03/1972", "DATE")),
    *(("Tawn List Clinic", "HOSPITAL"), ("48 Tawn Street", "LOCATION")),
    *((name, "PATIENT") for name in ("王小明", "김철수", "כהן", "أحمد علي", "สมชาย")),
]


@pytest.mark.parametrize(("value", "label"), COPIED)
def test_a_value_that_was_found_is_copied_over_line_ends(value: str, label: str) -> None:
    missed = []
    for other in divided(value, GAPS):
        text = f"{value} came. Then {other} left."
        spans = make_consistent(Document("1", text, (Span(0, len(value), label),))).spans
        start = len(value) + len(" came. Then ")
        if left(text, [span for span in spans if span.start], start, start + len(other)):
            missed.append(other)
    assert missed == []


@pytest.mark.parametrize(
    ("text", "spans", "copies"),
    [
        ("Zaran-\n  dona came. Zarandona left.", [(0, 14)], ["Zarandona"]),
        ("Zaran-\n  dona came. Zarandona left.", [(0, 6), (9, 13)], ["Zarandona"]),
        ("Zaran\ndona came. Zarandona left.", [(0, 5), (6, 10)], []),
        ("Ana came. An\na left.", [(0, 3)], []),  # too short without a hyphen
        ("Jane Quill came. Jane\n> Quill left.", [(0, 10)], ["Jane\n> Quill"]),
    ],
)
def test_a_divided_value_is_one_word(text: str, spans: list[tuple[int, int]], copies: list[str]) -> None:
    spans = tuple(Span(start, min(end, text.index(" came")), "PATIENT") for start, end in spans)
    new = make_consistent(Document("1", text, spans)).spans[len(spans) :]
    assert [text[start:end] for start, end, _ in new] == copies


RULED = [
    *(("MRN: ", "48221377"), ("born ", "14/03/1972"), ("el ", "14 de marzo de 1972"), ("Mail ", "quill@tawn.example")),
    *(
        ("seen by Dr. ", "Zarandona"),
        ("Tel. ", "555-255-0134"),
        ("lives at ", "48 Quill Street"),
        ("IP ", "10.0.7.255"),
    ),
]
LONG = "The patient came to the clinic this morning for a visit that had been planned, and "


@pytest.fixture(scope="module")
def rules() -> crfdeid.Deidentifier:
    return crfdeid.load("rules")


@pytest.mark.parametrize(("cue", "value"), RULED)
def test_a_rule_matches_over_a_hyphen_at_a_line_end(rules: crfdeid.Deidentifier, cue: str, value: str) -> None:
    hyphenated = cycle([gap for gap in GAPS if gap[0] in "-\u00ad\u2010"])
    starts = cycle(("", "> Note\n> ", LONG))
    missed = []
    for i, _ in product(range(1, len(value)), range(3)):
        other, start = value[:i] + next(hyphenated) + value[i:], next(starts)
        text = f"{start}{cue}{other}, then home.\n"
        place = len(start + cue)
        if left(text, list(rules.annotate(text).spans), place, place + len(other)):
            missed.append(text)
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "pain 3-\n4 of 10",
        "well-\nbeing, follow-\nup",
        "Na 140-\n145, K 4-\n5",
        "- fever\n- cough -\n- pain",
        "T-\n98.6",
    ],
)
def test_a_hyphen_at_a_line_end_alone_is_no_value(rules: crfdeid.Deidentifier, text: str) -> None:
    assert rules.annotate(text).spans == ()
