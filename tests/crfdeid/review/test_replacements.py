"""What was replaced: put back, it gives the redacted text, however that was made."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid import redact
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.review.page import TextChange, find_replacements

texts = st.lists(st.sampled_from(["Dr", ".", " ", "Roe", "Ann", "\r\n", "é", "😀", "3", "/", "[", "]"])).map("".join)


def put_back(text: str, found: list[TextChange]) -> str:
    for start, end, by in reversed(found):
        text = text[:start] + by + text[end:]
    return text


@given(texts.filter(bool), texts)
def test_what_was_replaced_put_in_its_place_gives_the_redacted_text(before, after):
    found = find_replacements(before, after)
    assert put_back(before, found) == after
    assert all(one.start < one.end for one in found)
    assert all(one.end < other.start for one, other in pairwise(found))


@pytest.mark.parametrize("how", ["label", "numbered", "mask", "remove"])
def test_all_that_was_hidden_is_found(how):
    for document in generate_notes(2, seed=5):
        after = redact(document, how).text
        found = find_replacements(document.text, after)
        assert put_back(document.text, found) == after
        covered = {place for one in found for place in range(one.start, one.end)}
        hidden = [place for start, end, _ in document.spans for place in range(start, end)]
        assert all(place in covered for place in hidden if document.text[place].isalnum())


def test_labels_tell_the_type():
    found = find_replacements("Seen by Roe and Ann on 3/14", "Seen by [DOCTOR-2] and *** on ")
    assert [(one.label, one.by) for one in found] == [("DOCTOR", "[DOCTOR-2]"), ("PHI", "***"), ("PHI", "")]


def test_a_name_that_was_left_beside_a_hidden_one_is_seen():
    assert find_replacements("Roe Roe", "[DOCTOR] Roe") == [TextChange(0, 7, "[DOCTOR] Roe")]
    assert find_replacements("same", "same") == []
