"""Large word lists, compared with the packages that they were made from."""

from __future__ import annotations

import pytest
from faker.providers.person.en_US import Provider as American
from faker.providers.person.yo_NG import Provider as Yoruba

from features import FEATURE_SETS, Sentence, WordLists
from features.languages import DEFAULT_LANGUAGES
from features.lexicons import fold_word, lists_of


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (American.first_names_female, "female"),
        (American.first_names_male, "male"),
        (Yoruba.first_names_female, "female"),
        ([*American.last_names][:500], "family"),
    ],
)
def test_names_of_faker_are_in_their_lists(names: list[str], kind: str) -> None:
    words = [word for word in map(fold_word, names) if word.isascii() and word.isalpha()]
    held = [kind in lists_of("en")[word].split("+") for word in words]
    # Faker also has family names that the census counts as rare.
    assert sum(held) >= (0.9 if kind == "family" else 1) * len(words) > 20


def test_lists_hold_common_words_and_drugs() -> None:
    words = ["pain", "walked", "family", "table", "lisinopril", "metoprolol", "zoloft"]
    assert [lists_of("en")[word].split("+")[-1] for word in words] == ["word"] * 4 + ["drug"] * 3


def test_case_and_accents_do_not_matter() -> None:
    rows = WordLists(window=0, languages=("en",)).extract(Sentence.from_words(["MARÍA", "maria", "Maria", "7"]))
    assert rows[0] == rows[1] == rows[2] != []
    assert rows[3] == []


def test_a_word_in_no_list_and_a_language_without_a_file() -> None:
    sentence = Sentence.from_words(["Xqzv"])
    assert WordLists(window=0, languages=("en", "es")).extract(sentence) == [["list[0]=none"]]
    assert WordLists(window=0, languages=("es",)).extract(sentence) == [["list[0]=none"]]


def test_a_set_with_lists_has_them_in_the_models_languages() -> None:
    (lists,) = (one for one in FEATURE_SETS["lists"].extractors if isinstance(one, WordLists))
    assert lists.languages == DEFAULT_LANGUAGES
    (spanish,) = (one for one in FEATURE_SETS["lists"].with_languages(("es",)).extractors if isinstance(one, WordLists))
    assert spanish.languages == ("es",)
