"""Language packs: what every file must hold."""

import re

import pytest

from features.languages import DEFAULT_LANGUAGES, LANGUAGES, Language, language_codes, language_of, main_languages

CLASSES = {"title", "honorific", "kin", "hospital", "street", "place", "contact", "identifier", "region", "country"}
CUES = {
    *("patient", "field", "maiden", "called", "birth", "birthplace", "residence", "signature", "seen_by", "role", "of"),
    *("institution", "companion", "and"),
}
PACKS = [pytest.param(language, id=code) for code, language in LANGUAGES.items()]


def test_there_are_four_languages_or_more() -> None:
    assert LANGUAGES.keys() >= {"de", "en", "es", "fr"}
    with pytest.raises(KeyError):
        LANGUAGES["xx"]


@pytest.mark.parametrize("pack", PACKS)
def test_a_pack_has_all_classes_and_kinds(pack: Language) -> None:
    assert pack.words.keys() == CLASSES
    assert all(pack.words.values())
    assert pack.cues.keys() == CUES
    assert len(pack.months) == 12
    assert len(pack.weekdays) == 7
    assert min(map(len, (pack.female, pack.male, pack.family))) > 400
    assert min(map(len, (pack.regions, pack.countries))) > 20
    assert len(pack.towns) > 1000
    assert re.fullmatch(pack.postcode, pack.postcode_example)


@pytest.mark.parametrize("pack", PACKS)
def test_a_pack_has_the_words_for_ages(pack: Language) -> None:
    for name in ("numbers", "names", "units", "short", "joint", "sexes", "people", "links", "before", "measures"):
        assert pack.entries("ages", name), name
    numbers = " ".join(pack.entries("ages", "numbers"))
    assert all(pack.entries("ages", name) for name in re.findall(r"\{(\w+)\}", numbers))


@pytest.mark.parametrize("pack", PACKS)
def test_words_are_in_lower_case_and_names_in_capitals(pack: Language) -> None:
    days = [form for forms in (*pack.months, *pack.weekdays) for form in forms]
    lists = (pack.function_words, pack.abbreviations, pack.particles, days, *pack.words.values(), *pack.cues.values())
    assert all(word == word.lower() and " ".join(word.split()) == word for words in lists for word in words)
    names = (pack.female, pack.male, pack.family, pack.regions, pack.countries, pack.towns)
    assert all(name[0].isupper() for entries in names for name in entries)


@pytest.mark.parametrize("pack", PACKS)
def test_no_entry_occurs_twice(pack: Language) -> None:
    for entries in (pack.female, pack.male, pack.family, pack.regions, pack.countries, pack.towns, pack.particles):
        assert len(set(entries)) == len(entries)
    for forms in (*pack.months, *pack.weekdays):
        assert len(set(forms)) == len(forms)
    months = [form for forms in pack.months for form in forms]
    assert len(set(months)) == len(months)


@pytest.mark.parametrize("pack", PACKS)
def test_common_words_are_no_towns_and_no_given_names(pack: Language) -> None:
    common = {word.capitalize() for word in pack.function_words}
    assert common.isdisjoint(pack.towns)
    assert common.isdisjoint((*pack.female, *pack.male))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        *(("the patient was seen in the clinic", "en"), ("acude por dolor de tres días", "es")),
        *(("wurde wegen Schmerzen aufgenommen", "de"), ("vu pour une douleur depuis deux jours", "fr")),
        *(("Quill", None), ("", None)),
    ],
)
def test_function_words_tell_the_language(text: str, language: str | None) -> None:
    assert language_of(text.split()) == language


def test_a_corpus_has_the_languages_of_a_tenth_of_its_texts() -> None:
    assert main_languages([*["en"] * 9, "es", None]) == ("en", "es")
    assert main_languages([*["en"] * 10, "es"]) == ("en",)
    assert main_languages([None]) == main_languages([]) == DEFAULT_LANGUAGES
    assert language_codes("de+fr") == ("de", "fr")
    assert language_codes("auto") == DEFAULT_LANGUAGES
