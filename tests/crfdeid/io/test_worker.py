"""Mojibake is recognised wherever it came from, and sound text of any language is left alone."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crfdeid.errors import EncodingError
from crfdeid.io.worker import find_mojibake, require_no_mojibake

WORDS = ["José", "Muñoz", "años", "ÍÑIGO", "PEÑA", "Zoë", "Łódź", "Šárka", "’tis", "12 €", "2–3", "½", "“home”", "🙂"]
WORDS += ["Иван", "Ελένη", "山田", "\ufeffBed 4"]


def latin_1(text: str) -> str:
    return text.encode().decode("latin-1")


def windows_1252(text: str) -> str:
    """As browsers read it: the five bytes without a character become control characters."""
    return "".join(bytes([b]).decode("cp1252") if b not in b"\x81\x8d\x8f\x90\x9d" else chr(b) for b in text.encode())


@pytest.mark.parametrize("read", [latin_1, windows_1252], ids=["latin-1", "windows-1252"])
@pytest.mark.parametrize("word", WORDS)
def test_text_that_was_read_wrongly_once_or_twice_is_recognised_where_it_begins(word, read):
    assert find_mojibake(word) is None
    (first, *_) = (i for i, character in enumerate(word) if not character.isascii())
    assert find_mojibake(f"Seen by {read(word)}.") == 8 + first
    assert find_mojibake(f"Seen by {read(read(word))}.") == 8 + first


@pytest.mark.parametrize(
    "text",
    [
        "RÉSUMÉ\u00a0: «\u00a0à voir\u00a0» — CAFÉ” Spaß“",
        "PÅ” JÄ… IRMÃ\u00a0» AMANHÃ’ NÃO É ALÉRGICO, MÂNA",
        "µg ± 5 °C ½ • œ Œ ‰ ¿qué? ¡ya! 1ª 2º naïve",
        "Łódź, Škoda, Ångström, Äpfel, ÄÖÜ, ãõ, þorn, ðað",
        "",
    ],
)
def test_sound_text_is_left_alone(text):
    assert find_mojibake(text) is None


@given(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"], exclude_characters="ÂÃÄÅâïð") | st.just(" ")))
@example("áñ")
def test_letters_with_accents_side_by_side_are_no_mojibake(text):
    letters = "".join(c for c in text if c == " " or (c.isalpha() and c not in "ªµº"))
    assert find_mojibake(letters) is None


def test_the_error_says_where_and_what_to_do_and_nothing_of_the_text():
    with pytest.raises(EncodingError, match="--allow-mojibake") as caught:
        require_no_mojibake("Mr. Ã\u00adñigo")
    assert "igo" not in str(caught.value)


def test_a_note_with_lost_bytes_is_refused():
    with pytest.raises(EncodingError) as caught:
        require_no_mojibake("Seen by Jos\ufffd Quill.")
    assert caught.value.offset == 11
    assert "Jos" not in str(caught.value)
    require_no_mojibake("Seen by José Quill.")
