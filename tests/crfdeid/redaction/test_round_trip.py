"""Numbered tokens with a map: what comes back after a language model, and what is never confused."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crfdeid import restore
from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError, MarkupError, MismatchError, OptionConflictError
from crfdeid.redaction import redact, redact_recorded

TOKEN = re.compile(r"\[([^\W\d]+(?:-[^\W\d]+)*)-([0-9]+)([a-z]*)\]")
# Text that is near to a token, on its own and around values.
PIECES = st.sampled_from(
    [*"[](){}<>-_ 12ab\\\n", "PATIENT", "patient", "ID", "[PATIENT-1]", "PATIENT-1", "id_2", "LITERAL-1", "Quill", "İ"]
)
NEAR = st.lists(PIECES, max_size=8).map("".join)
PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | NEAR
VALUES = PLAIN.filter(bool)
LABELS = st.sampled_from(["PATIENT", "Patient", "ID", "DATE", "LOCATION-OTHER", "HL7_ID", "1", "LITERAL", "STRAßE"])
PARTS = st.lists(st.tuples(PLAIN, VALUES, LABELS), max_size=8)

# Prose without signs that could be taken for brackets of a token.
PROSE = st.text("abc .,;\n", min_size=1, max_size=8).map(lambda text: f" {text} ")
NAMES = st.sampled_from(["Jane Quill", "Quill", "John Roe", "3/14", "48-22", "a\nb", "[PATIENT-1]"])
PROSE_PARTS = st.lists(st.tuples(PROSE, NAMES, st.sampled_from(["PATIENT", "ID", "LOCATION-OTHER"])), max_size=8)


def note_of(parts: list[tuple[str, str, str]], end: str = "") -> Document:
    """A note of parts: text, and a value with its type after it."""
    text, spans = "", []
    for before, value, label in parts:
        start = len(text) + len(before)
        text += before + value
        spans.append(Span(start, start + len(value), label))
    return Document("1", text + end, tuple(spans))


def numbered(document: Document, mapping: dict[str, str]) -> str:
    return redact(document, "numbered", mapping=mapping, markup="plain").text


def text_of(text: str, *spans: tuple[str, str]) -> Document:
    """A note with a span for the first occurrence of each value."""
    return Document("1", text, tuple(Span(text.index(v), text.index(v) + len(v), label) for v, label in spans))


REWRITES: dict[str, Callable[[re.Match[str]], str]] = {
    "lower case": lambda m: m[0].lower(),
    "upper case": lambda m: m[0].upper(),
    "other brackets": lambda m: f"{{{m[0][1:-1]}}}",
    "parentheses": lambda m: f"({m[0][1:-1]})",
    "no brackets": lambda m: m[0][1:-1],
    "a space for the hyphen": lambda m: f"[{m[1]} {m[2]}{m[3]}]",
    "spaces around all": lambda m: f"[ {m[1]} - {m[2]}{m[3]} ]",
    "a line end": lambda m: f"[{m[1]}-\n{m[2]}{m[3]}]",
    "no space": lambda m: f"<{m[1]}{m[2]}{m[3]}>",
    "underscores": lambda m: f"[{m[1].replace('-', '_')}_{m[2]}{m[3]}]",
    "another hyphen": lambda m: m[0].replace("-", "\u2011"),
    "escaped Markdown": lambda m: rf"\[{m[0][1:-1].lower()}\]",
    "escaped hyphens": lambda m: rf"\[{m[0][1:-1]}\]".replace("-", r"\-"),
    "escaped underscores": lambda m: m[0][1:-1].replace("-", r"\_"),
}


@given(PARTS, PLAIN)
@example([("ID-", "1", "ID"), ("-", "2", "ID")], "]")
@example([("[", "Quill", "PATIENT")], "]")
@example([("C:\\", "Quill", "PATIENT")], "\\]")
@example([("", "X", "PATIENT"), ("", "Y", "PATIENT")], "PATIENT-2")
def test_a_redacted_text_is_restored_exactly(parts: list[tuple[str, str, str]], end: str) -> None:
    note, mapping = note_of(parts, end), {}
    redacted = numbered(note, mapping)
    done = restore(redacted, mapping)
    assert (done.text, done.missing, done.unknown) == (note.text, (), ())
    assert done.restored == sum(token in mapping for token in re.findall(r"\[[^\[\]\s]*\]", redacted))


@given(st.lists(st.tuples(PARTS, PLAIN), min_size=2, max_size=3))
def test_the_texts_of_a_conversation_are_restored_by_its_last_map(texts: list) -> None:
    mapping: dict[str, str] = {}
    notes = [note_of(*text) for text in texts]
    redacted = [numbered(note, mapping) for note in notes]
    assert [restore(text, mapping).text for text in redacted] == [note.text for note in notes]
    given_again = dict(sorted(mapping.items(), reverse=True))  # Other languages sort the keys of an object.
    assert [restore(numbered(note, given_again), given_again).text for note in notes] == [note.text for note in notes]
    assert given_again.items() >= mapping.items()


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
@given(PROSE_PARTS)
def test_tokens_are_found_however_a_model_writes_them(rewrite: Callable, parts: list[tuple[str, str, str]]) -> None:
    note, mapping = note_of(parts), {}
    answer = TOKEN.sub(rewrite, numbered(note, mapping))
    assert restore(answer, mapping).text == note.text


@given(PROSE_PARTS, st.randoms(use_true_random=False), st.data())
def test_a_model_may_reorder_repeat_and_leave_out_tokens(parts: list, random: object, data: st.DataObject) -> None:
    mapping: dict[str, str] = {}
    tokens = TOKEN.findall(numbered(note_of(parts), mapping))
    said = data.draw(st.lists(st.sampled_from(tokens), max_size=9)) if tokens else []
    rewrites = list(REWRITES.values())
    answer = "; ".join(TOKEN.sub(random.choice(rewrites), "[{}-{}{}]".format(*parts)) for parts in said)
    done = restore(answer, mapping)
    assert done.text == "; ".join(mapping["[{}-{}{}]".format(*parts)] for parts in said)
    assert set(done.missing) == mapping.keys() - {"[{}-{}{}]".format(*parts) for parts in said}


def test_spellings_of_a_person_share_the_number_and_have_tokens_of_their_own() -> None:
    mapping: dict[str, str] = {}
    assert numbered(text_of("Jane Quill", ("Jane Quill", "PATIENT")), mapping) == "[PATIENT-1]"
    later = note_of([("", "QUILL, JANE", "PATIENT"), (" ", "Roe", "PATIENT"), (" ", "Jane Quill", "DOCTOR")])
    assert numbered(later, mapping) == "[PATIENT-1b] [PATIENT-2] [PATIENT-1]"
    assert mapping == {"[PATIENT-1]": "Jane Quill", "[PATIENT-1b]": "QUILL, JANE", "[PATIENT-2]": "Roe"}


def test_other_dates_with_the_same_digits_have_other_numbers() -> None:
    mapping: dict[str, str] = {}
    assert numbered(text_of("1/12 and 11/2", ("1/12", "DATE"), ("11/2", "DATE")), mapping) == "[DATE-1] and [DATE-2]"
    assert redact(text_of("1/12, 11/2", ("1/12", "DATE"), ("11/2", "DATE")), "numbered").text == "[DATE-1], [DATE-2]"


def test_a_value_of_the_map_is_hidden_in_later_texts_where_no_model_found_it() -> None:
    mapping: dict[str, str] = {}
    numbered(text_of("Jane Quill, MRN 4822137.", ("Jane Quill", "PATIENT"), ("4822137", "ID")), mapping)
    later = numbered(Document("2", "Is Jane Quill (4822137) well? Ms. Quill asks."), mapping)
    assert later == "Is [PATIENT-1] ([ID-1]) well? Ms. [PATIENT-1b] asks."
    assert mapping["[PATIENT-1b]"] == "Quill"


def test_what_a_person_typed_like_a_token_is_never_taken_for_one() -> None:
    mapping: dict[str, str] = {}
    note = text_of("[PATIENT-1] and patient-2 wrote; Quill (age 45).", ("Quill", "PATIENT"))
    redacted = numbered(note, mapping)
    assert redacted == "[LITERAL-1] and [LITERAL-2] wrote; [PATIENT-1] (age 45)."
    answer = "[patient-1], not [literal-1]"
    assert restore(answer, mapping).text == "Quill, not [PATIENT-1]"


def test_what_may_be_prose_or_a_token_of_no_map_stays_and_is_named() -> None:
    mapping = {"[AGE-1]": "91", "[PATIENT-1]": "Quill"}
    answer = "At age 1 (age 1, age 45), [PATIENT-7] and PATIENT-1-2."
    done = restore(answer, mapping)
    assert done.text == answer
    assert [answer[start:end] for start, end in done.ambiguous] == ["age 1", "age 1"]
    assert [answer[start:end] for start, end in done.unknown] == ["[PATIENT-7]"]
    assert (done.restored, done.missing) == (0, ("[AGE-1]", "[PATIENT-1]"))


@pytest.mark.parametrize(
    ("answer", "text", "ambiguous"),
    [
        ("PATIENT-11, then patient-1's", "Roe, then Quill's", []),
        ("_PATIENT-1_ and __[PATIENT-11]__", "_Quill_ and __Roe__", []),
        ('{"by": "[PATIENT-1]", "[PATIENT-11]": 1}', '{"by": "Quill", "Roe": 1}', []),
        ("my_PATIENT-1, xPATIENT-1, PATIENT-111", "my_PATIENT-1, xPATIENT-1, PATIENT-111", []),
        ("Seen: [PATIENT-1", "Seen: [PATIENT-1", ["PATIENT-1"]),  # cut off; it can be [PATIENT-11]
        ("[PATIENT-1] [PATIENT-11", "Quill [PATIENT-11", ["PATIENT-11"]),
        ("[PACIENTE-1] [PATIENT-11]", "[PACIENTE-1] Roe", ["[PACIENTE-1]"]),
        ("[covid-1] [PATIENT-1]", "[covid-1] Quill", []),
        ("[PATIENT]-1 and patient (11)", "[PATIENT]-1 and patient (11)", ["PATIENT]-1", "patient (11"]),
    ],
)
def test_a_token_is_never_taken_for_a_part_of_another(answer: str, text: str, ambiguous: list[str]) -> None:
    done = restore(answer, {"[PATIENT-1]": "Quill", "[PATIENT-11]": "Roe"})
    assert (done.text, [answer[start:end] for start, end in done.ambiguous]) == (text, ambiguous)


def test_restored_values_are_not_searched_for_tokens() -> None:
    mapping = {"[LITERAL-1]": "[PATIENT-1]", "[PATIENT-1]": "[LITERAL-1]"}
    assert restore("[LITERAL-1][PATIENT-1]", mapping).text == "[PATIENT-1][LITERAL-1]"


@pytest.mark.parametrize(
    "mapping",
    [
        {"PATIENT-1": "Quill"},
        {"[PATIENT-0]": "Quill"},
        {"[-1]": "Quill"},
        {"[_-1]": "Quill"},
        {"[PATIENT-1]": ""},
        {"[PATIENT-1]": 1},
        {"[PATIENT-1]": "Quill", "[patient-1]": "Roe"},
        {"[PATIENT-" + "1" * 5000 + "]": "Quill"},
        ["[PATIENT-1]"],
        None,
    ],
    ids=str,
)
def test_what_is_no_map_is_refused_without_a_quotation(mapping: object) -> None:
    with pytest.raises(FormatError) as problem:
        restore("[PATIENT-1]", mapping)
    assert "Roe" not in str(problem.value)


def test_a_map_that_is_refused_or_a_text_that_fails_changes_no_map() -> None:
    mapping = {"[PATIENT-1]": "Quill"}
    with pytest.raises(OptionConflictError):
        redact(text_of("Roe", ("Roe", "PATIENT")), {"DATE": "mask"}, mapping=mapping)
    with pytest.raises(MarkupError):
        redact(Document("1", r"{\rtf1 Roe}"), "numbered", mapping=mapping)
    with pytest.raises(MismatchError):  # "remove" would join the parts of a token
        redact(
            text_of("[ID-xx1] Roe", ("xx", "DATE"), ("Roe", "ID")),
            {"DATE": "remove", "ID": "numbered"},
            mapping=mapping,
        )
    assert mapping == {"[PATIENT-1]": "Quill"}


def test_other_types_keep_their_operators() -> None:
    mapping: dict[str, str] = {}
    note = text_of("Quill on 3/14: [ID-1]", ("Quill", "PATIENT"), ("3/14", "DATE"))
    made = redact_recorded(note, {"PATIENT": "numbered", "DATE": "keep"}, mapping=mapping)
    assert made.document.text == "[PATIENT-1] on 3/14: [LITERAL-1]"
    assert restore(made.document.text, mapping).text == note.text
    assert [span.label for span in made.record.spans] == ["PATIENT", "DATE", "LITERAL"]


def test_hostile_texts_take_no_long_time() -> None:
    mapping = {"[PATIENT-1]": "Quill", "[LOCATION-OTHER-1]": "Tawn"}
    for unit in ("[", "[ ", "[PATIENT", "PATIENT-", "( PATIENT - ", "LOCATION-", "[LOCATION - ", "PATIENT 0", " ", "1"):
        assert restore(unit * 20_000, mapping).restored == 0
