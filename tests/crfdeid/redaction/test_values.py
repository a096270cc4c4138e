"""Values over line ends: the surrogate, number and hash of the same value on one line."""

import pytest
import regex

from crfdeid.documents import Document, Span
from crfdeid.redaction import redact

GAPS = ("-\n", "-\n   ", "\u00ad\r\n", "-\r\n> ", "=\n", "&shy;\n", "-&#10;", "-\n\n")
VALUES = {
    "PATIENT": ("Zarandona", "Orla Marsh", "O'Neill", "MARSH, ORLA", "Abe de la Cruz"),
    "HOSPITAL": ("Tawn General Hospital",),
    "CITY": ("Marshfield",),
    "ID": ("48221377", "48-2213-7"),
    "EMAIL": ("orla.quill@tawn.example",),
    "IPADDR": ("10.0.7.255",),
    "DATE": ("14/03/2031", "March 14, 2031", "14 de marzo de 2031"),
}


def replaced(values: list[str], label: str, operator: str, locale: str) -> list[str]:
    """What replaces the values of a note, without white space and signs."""
    text, spans = "", []
    for value in values:
        text += "Seen "
        spans.append(Span(len(text), len(text) + len(value), label))
        text += f"{value} ;\n"
    found = redact(Document("1", text, tuple(spans)), operator, secret=b"x" * 16, patient="7", locale=locale)
    assert regex.fullmatch(r"(?:Seen .*? ;\n)+", found.text, regex.DOTALL)
    return [regex.sub(r"[^\p{L}\p{N}]", "", found.text[a:b]).casefold() for a, b, _ in found.spans]


@pytest.mark.parametrize("operator", ["surrogate", "numbered", "hash"])
@pytest.mark.parametrize(("label", "value"), [(label, value) for label, some in VALUES.items() for value in some])
def test_a_divided_value_is_the_value(label: str, value: str, operator: str) -> None:
    whole = replaced([value], label, operator, "en_US")
    for gap in GAPS:
        places = [i for i in range(2, len(value) - 1) if value[i - 1 : i + 1].isalnum()]
        values = [value, *(value[:i] + gap + value[i:] for i in places)]
        assert {*replaced(values, label, operator, "en_US")} == {*whole}


@pytest.mark.parametrize("locale", ["en_US", "es_ES", "de_DE", "fr_FR"])
@pytest.mark.parametrize(
    ("label", "divided", "value"),
    [
        ("PATIENT", "Zaran-\n  dona", "Zarandona"),
        ("PATIENT", "Anne-\n  Marie Tawn", "Anne-Marie Tawn"),
        ("PATIENT", "Orla\n  Marsh", "Orla Marsh"),
        ("DOCTOR", "O'\nNeill", "O'Neill"),
        ("ID", "48-\n2213-7", "48-2213-7"),
        ("ID", "4822-\n1377", "48221377"),
        ("EMAIL", "orla.quill@\ntawn.example", "orla.quill@tawn.example"),
        ("STREET", "48 Tawn\nStreet", "48 Tawn Street"),
        ("DATE", "2031-\n03-14", "2031-03-14"),
        ("DATE", "14-03-20-\n31", "14-03-2031"),
        ("DATE", "14-\nMarch-2031", "14-March-2031"),
        ("DATE", "March 1-\n4, 2031", "March 14, 2031"),
        ("DATE", "14/03/20\n31", "14/03/2031"),
        ("DATE", "March 14\n2031", "March 14 2031"),
        ("DATE", "2031-03-14 10\n:30", "2031-03-14 10:30"),
    ],
)
def test_a_divided_value_is_the_value_in_another_note(label: str, divided: str, value: str, locale: str) -> None:
    assert replaced([divided], label, "surrogate", locale) == replaced([value], label, "surrogate", locale)


def test_the_other_values_of_a_note_decide_what_a_hyphen_is() -> None:
    for name in ("GARCIA", "GAR-CIA"):
        first, other = replaced([name, "GAR-\nCIA"], "PATIENT", "surrogate", "en_US")
        assert first == other


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Dr. Zaran-\n   dona wrote. Dr. Zarandona left.", ["Zaran-", "dona", "Zarandona"]),
        ("Dr. Zaran\u00ad\r\n> dona wrote. Dr. Zarandona left.", ["Zaran", "dona", "Zarandona"]),
        ("Dr. Za-\nran-\ndona wrote. Dr. Zarandona left.", ["Za-", "ran-", "dona", "Zarandona"]),
    ],
)
def test_spans_around_a_hyphen_at_a_line_end_are_one_value(text: str, parts: list[str]) -> None:
    spans, end = [], 0
    for part in parts:
        start = text.index(part, end)
        end = start + len(part)
        spans.append(Span(start, end, "DOCTOR"))
    note = Document("1", text, tuple(spans))
    numbered = redact(note, "numbered").text
    assert numbered.count("[DOCTOR-1]") == len(parts)
    found = redact(note, "surrogate", secret=b"x" * 16, patient="7", locale="en_US").text
    (first, other) = regex.findall(r"Dr\. (\w+)", found)
    assert first == other != "Zarandona"
    rests = [regex.sub(r"\w+-?\b", "", one.partition(" wrote")[0].removeprefix("Dr. ")) for one in (text, found)]
    assert rests[1].replace("-", "") == rests[0].replace("-", "")


def test_a_list_of_names_with_hyphens_is_no_divided_name() -> None:
    text = "Quill -\n- Marsh; Abe\nTarn"
    spans = tuple(Span(text.index(name), text.index(name) + len(name), "DOCTOR") for name in ("Quill", "Abe", "Tarn"))
    assert redact(Document("1", text, spans), "numbered").text == "[DOCTOR-1] -\n- Marsh; [DOCTOR-2]\n[DOCTOR-3]"


@pytest.mark.parametrize(("label", "word"), [("PATIENT", "Quill "), ("HOSPITAL", "Tawn Hospital "), ("STREET", "4-\n")])
def test_a_span_too_long_for_one_value_gets_a_label(label: str, word: str) -> None:
    text = word * 20_000
    found = redact(Document("1", text, (Span(0, len(text), label),)), "surrogate", secret=b"x" * 16, locale="en_US")
    assert found.text == f"[{label}]"


@pytest.mark.parametrize("operator", ["surrogate", "numbered"])
def test_lines_that_all_continue_one_value_take_no_minutes(operator: str) -> None:
    text = "Zar-\n" * 10_000
    spans = tuple(Span(5 * i, 5 * i + 4, "PATIENT") for i in range(10_000))
    found = redact(Document("1", text, spans), operator, secret=b"x" * 16, locale="en_US")
    assert "Zar" not in found.text
