"""Near copies: what counts as one, and every pair compared by brute force."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.audit.near_copies import near_copies

NOTE = (
    "Señora Quill was seen on 3/14/2031 for pain in the left knee. The joint was warm, with some fluid. "
    "Rest and ice were advised. She will call Dr. Orla Marsh at 555-0134 if the pain gets worse, and come back in May."
)
OTHER = (
    "Mr. Zann came for a check of his blood pressure. It was high, so the dose was raised. Labs were drawn. "
    "Dr. Tawn will see him again in two weeks, with the results and a list of values that he measured at home."
)
CHANGES: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "no accents": lambda text: text.replace("ñ", "n"),
    "other line ends": lambda text: text.replace(". ", ".\r\n\r\n  "),
    "no spaces": lambda text: text.replace(" ", ""),
    "letters without width": lambda text: text.replace("e", "e\u200b"),
    "no signs": lambda text: re.sub(r"[.,/-]", "", text),
    "another name": lambda text: text.replace("Quill", "Tawn"),
    "a word less": lambda text: text.replace(" left", ""),
    "a word more": lambda text: text.replace("left knee", "left lower knee"),
    "a sentence less": lambda text: text.replace("Rest and ice were advised. ", ""),
    "a sentence more": lambda text: f"Copied from another visit. {text}",
    "sentences in another order": lambda text: ". ".join(reversed(text.split(". "))),
    "an ending": lambda text: text + "\n",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_copy_is_found(change: str) -> None:
    copy = CHANGES[change](NOTE)
    assert copy != NOTE
    assert near_copies([OTHER, NOTE], ["No pain.", copy, "", "..."]) == [1]


def test_notes_of_one_kind_are_no_copies() -> None:
    note = "Patient {} was seen on {}. Attending: Dr. {}, call {}. Leg pain."
    first, second = ("Quill", "3/14/2031", "Marsh", "555-0134"), ("Orla Zann", "4/5/2030", "Abe Tawn", "555-0199")
    assert near_copies([note.format(*first)], [note.format(*second)]) == []
    assert near_copies([NOTE], [OTHER]) == near_copies([], [NOTE]) == near_copies([NOTE], []) == []
    assert near_copies(["", ". .", NOTE], ["", "-"]) == []


def by_brute_force(members: list[str], others: list[str]) -> list[int]:
    def shingles(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[i : i + 3]) for i in range(len(words) - 2)} if len(words) > 2 else {tuple(words)}

    def near(one: str, other: str) -> bool:
        ours, theirs = shingles(one), shingles(other)
        glued = one.replace(" ", "") == other.replace(" ", "")
        return bool(one and other) and (glued or len(ours & theirs) / max(len(ours), len(theirs)) >= 0.6)

    return [place for place, other in enumerate(others) if any(near(member, other) for member in members)]


TEXTS = st.lists(st.lists(st.sampled_from("abc"), max_size=9).map(" ".join), max_size=8)


@given(TEXTS, TEXTS)
def test_each_pair_is_compared(members: list[str], others: list[str]) -> None:
    assert near_copies(members, others) == by_brute_force(members, others)


def test_many_notes_are_compared() -> None:
    rng = random.Random(1)
    words = [f"w{number}" for number in range(500)]
    notes = [" ".join(rng.choices(words, k=60)) for _ in range(900)]
    copies = sorted(rng.sample(range(600), 30))
    others = notes[300:]
    for number, place in enumerate(copies):
        others[place] = " ".join(word for i, word in enumerate(notes[number].split()) if i != 20)
    assert near_copies(notes[:300], others) == copies
