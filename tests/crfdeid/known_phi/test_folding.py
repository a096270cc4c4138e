"""Values found however they are spelled: case, accents, signs, marks; and never inside another word or number."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.known_phi.folding import FoldedText, PhraseMatcher, find_number, fold_to_alnum


def found(value: str, text: str) -> list[str]:
    return [text[start:end] for start, end, _ in PhraseMatcher([(value, None)]).find(FoldedText(text))]


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("Tawn List Clinic", "From the TAWN LIST CLINIC.", ["TAWN LIST CLINIC"]),
        ("Tawn List Clinic", "Tawn-List\n   clinic; tawnlistclinic", ["Tawn-List\n   clinic", "tawnlistclinic"]),
        ("Múgica", "MUGICA, Mu\u0301gica, múgica", ["MUGICA", "Mu\u0301gica", "múgica"]),
        ("Mugica", "Múgica", ["Múgica"]),
        ("O'Neill", "ONeill, O’Neill, O Neill", ["ONeill", "O’Neill", "O Neill"]),
        ("Marys", "St. Mary's", ["Mary's"]),
        ("Quillerton", "Quil-\nlerton", ["Quil-\nlerton"]),
        ("Quill", "Qu\u200bi\u00adll\u200b ate", ["Qu\u200bi\u00adll\u200b"]),
        ("Quill", "Qu\0i\x1bll\x08 ate", ["Qu\0i\x1bll\x08"]),
        ("TL42", "TL-42, TL 42", ["TL-42", "TL 42"]),
        ("Łukasz", "Lukasz", ["Lukasz"]),
        ("Straße", "STRASSE", ["STRASSE"]),
        ("Quill", "QuillPhone: 4, MRSQuill4", ["Quill"]),
        ("王小明", "患者王小明来院", ["王小明"]),
        ("Quill", "Quillwork, tranquill, McQuill", []),
        ("therapist", "the rapist", []),
        ("Tawn List", "Tawn" + "." * 30 + "List", []),
    ],
)
def test_a_value_is_found_however_it_is_spelled(value: str, text: str, expected: list[str]) -> None:
    assert found(value, text) == expected


@pytest.mark.parametrize(
    ("number", "text", "expected"),
    [
        ("4822137", "MRN 48-2213-7, 4822137, 48 22137", ["48-2213-7", "4822137", "48 22137"]),
        ("4822137", "MRN4822137X", ["4822137"]),
        ("4822137", "0004822137", ["0004822137"]),
        ("4822137", "14822137 48221375 4-8-2-2-1-3", []),
        ("12345678z", "12.345.678-Z", ["12.345.678-Z"]),
        ("4822137", "48, dose 2213 of 7", []),
        ("007", "007 0007 07", ["007"]),
        ("4822137", "٤٨٢٢١٣٧, ४८-२२१३७", ["٤٨٢٢١٣٧", "४८-२२१३७"]),
    ],
)
def test_a_number_is_found_with_and_without_separators(number: str, text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in find_number(FoldedText(text), number)] == expected


@given(st.text(max_size=40))
def test_folding_knows_where_every_letter_comes_from(text: str) -> None:
    folded = FoldedText(text)
    assert folded.text == fold_to_alnum(text)
    for i in range(len(folded.text)):
        start, end = folded.span(i, i + 1)
        assert folded.text[i] in fold_to_alnum(text[start:end])


@given(st.text(alphabet="aÁñß 4-.'\u0301\u200b", max_size=12), st.sampled_from(["NFC", "NFD"]))
def test_a_value_is_found_in_its_own_text_in_any_case(value: str, form: str) -> None:
    if fold_to_alnum(value):
        text = f"- {unicodedata.normalize(form, value).upper()} -"
        assert any(fold_to_alnum(hit) == fold_to_alnum(value) for hit in found(value, text))
