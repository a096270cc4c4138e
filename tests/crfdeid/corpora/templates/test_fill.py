"""Notes from templates: exact spans, repeatable choices, habits of a note, and names that training has not seen."""

import datetime as dt
import subprocess
import sys
from collections import Counter
from random import Random

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.augmentation import LayoutRewriter, in_capitals
from crfdeid.corpora.synthetic.people import Person, strip_accents
from crfdeid.corpora.templates import LANGUAGES, ORIGIN, built_in_templates, fill, fill_one, read_templates
from crfdeid.corpora.templates.dates import without_article
from crfdeid.corpora.templates.people import FORMS, Character, write_name
from crfdeid.corpora.templates.slots import ID_KINDS
from crfdeid.label_schemes import TO_SEVEN

TEMPLATES = {language: built_in_templates(language) for language in LANGUAGES}
EVERY = [(language, template) for language, found in TEMPLATES.items() for template in found.templates]


@pytest.fixture
def filled(tmp_path):
    """Fill a template that is written in the test, many times."""

    def run(body, *, head="kind=phone", count=30, language="english", lists="", **options):
        (tmp_path / "mine.txt").write_text(f"== mine | {head}\n{body}\n", encoding="utf-8")
        (tmp_path / "lists.txt").write_text(lists, encoding="utf-8")
        return list(fill(read_templates(tmp_path, language=language), fillings=count, **options))

    return run


def marked(note, label):
    return [note.text[span.start : span.end] for span in note.spans if span.label == label]


def check(note):
    end = 0
    for span in note.spans:
        text = note.text[span.start : span.end]
        assert text == text.strip() != ""
        assert span.start >= end
        assert span.label in TO_SEVEN
        end = span.end
    assert note.text.strip("\n") == note.text
    assert not regex.search(r"[{}]|\\[\[\]|]", note.text)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(EVERY) - 1), st.integers(0, 10**6), st.integers(0, 50))
def test_spans_are_the_texts_that_were_put_in(number, seed, filling):
    language, template = EVERY[number]
    note = fill_one(TEMPLATES[language], template, filling, seed=seed)
    check(note)
    assert note == fill_one(TEMPLATES[language], template, filling, seed=seed)
    assert note.id == f"{template.name}-{filling}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_shipped_template_can_be_filled(language):
    templates = TEMPLATES[language]
    for template in templates.templates:
        check(fill_one(templates, template, 0))


def test_another_process_fills_the_same():
    code = (
        "from crfdeid.corpora.templates import *; from itertools import islice; "
        "print(hash(0), [n.text for n in islice(fill(built_in_templates('spanish'), seed=4), 3)])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, text=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_fillings_differ_and_are_independent_of_other_templates_and_fillings(filled, tmp_path):
    all_ten = filled("{patient} was seen on {day} in {hospital1}.", count=10)
    assert len({note.text for note in all_ten}) == 10
    (tmp_path / "another.txt").write_text("== another | kind=phone\n{patient}", encoding="utf-8")
    some = list(fill(read_templates(tmp_path), fillings=[3, 7]))
    assert [note for note in some if note.id.startswith("mine")] == [all_ten[3], all_ten[7]]
    assert filled("{patient} was seen on {day} in {hospital1}.", count=10, seed=1) != all_ten


def test_a_split_has_its_own_templates(tmp_path):
    text = "".join(f"== {split} note | kind=phone | split={split}\n{{patient}}\n" for split in ("train", "dev", "test"))
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    templates = read_templates(tmp_path)
    for split in ("train", "dev", "test"):
        assert [note.id for note in fill(templates, split=split)] == [f"{split} note-0"]
    for found in TEMPLATES.values():
        counts = Counter(template.split for template in found.templates)
        assert counts["train"] > counts["test"] > 0 < counts["dev"]


@pytest.mark.parametrize("slot", ["patient.first", "patient.last", "town1"])
def test_a_part_of_the_names_of_test_notes_is_in_no_training_note(slot, filled):
    body, count = f"{{{slot}}}", 1200
    train = {note.text.lower() for note in filled(body, count=count)}
    test = [note.text.lower() for note in filled(body, head="kind=phone | split=test", count=200, split="test")]
    unseen = sum(text not in train for text in test) / len(test)
    assert 0.3 < unseen < 0.9


def test_names_come_from_all_origins_evenly_and_the_origin_is_marked(filled):
    notes = filled("{patient} {doctor1}\n{staff1.last}", count=400, origins=True)
    origins = Counter(span.label for note in notes for span in note.layer(ORIGIN))
    assert len(origins) >= 40
    assert max(origins.values()) < 8 * min(origins.values())
    for note in notes:
        assert [span[:2] for span in note.layer(ORIGIN)] == [span[:2] for span in note.spans]
    assert not filled("{patient}", count=1)[0].layers


def test_people_places_numbers_and_dates_are_the_same_over_a_note(filled):
    body = "\n".join(f"{{{slot}}}\n{{{slot}}}" for slot in ("patient.last", "id.mrn", "day-9.iso", "phone1", "town1"))
    same = 0
    for note in filled(body, head="kind=phone | case=upper", count=20):
        lines = note.text.upper().split("\n")
        same += lines[::2] == lines[1::2]
    assert same >= 16  # but for slips of the typist, and one run of text


def test_relatives_agree_with_their_word_and_with_pronouns(filled):
    for note in filled("His son {relative1.first} said {relative1.he} {relative1.kin}.", count=25):
        assert regex.search(r"(?i) said he son\.$", note.text)
    words = {note.text.lower() for note in filled("{relative1.kin} {relative1.he}", head="kind=phone | age=3-9")}
    assert {"mother she", "father he"} <= words
    assert not words & {"wife she", "husband he", "mother he"}


def test_in_a_list_the_age_is_of_the_patient_named_last(filled):
    body = "{patient1.last} {id.mrn} {age}\n{patient2.last} {id.mrn} {age}\nagain {patient1.last} {id.mrn} {age}"
    for note in filled(body, head="kind=list | age=20-80", count=15):
        numbers = marked(note, "MEDICALRECORD")
        text = regex.sub("|".join(map(regex.escape, numbers)), "", note.text)
        ages = regex.findall(r"(?<!\S)\d\d(?!\S)", text)[-3:]
        assert numbers[0] == numbers[2] != numbers[1]
        assert not ages or ages[0] == ages[2]


def test_ages_of_90_and_more_are_phi_in_figures_and_words(filled):
    for note in filled("a {age}-year-old, {age.words}", head="kind=phone | age=90-104", count=20):
        figure, words = marked(note, "AGE")
        assert 90 <= int(figure) <= 104
        assert words.lower().startswith(("ninety", "one hundred"))
    assert not any(marked(note, "AGE") for note in filled("a {age}-year-old, {age.words}", head="kind=x | age=0-89"))
    for language, words in (
        ("spanish", "noventa y tres"),
        ("german", "dreiundneunzig"),
        ("french", "quatre-vingt-treize"),
    ):
        (note,) = filled("{age.words}", head="kind=x | age=93-93 | case=lower", count=1, language=language)
        assert note.text.lower() == words


def test_dates_count_from_the_note_in_the_order_of_the_country(filled):
    for note in filled("{day-3.iso} {day.iso} {day+2w.iso} {day-1y.iso}", count=20):
        before, today, later, year = (dt.date.fromisoformat(text) for text in marked(note, "DATE"))
        assert (today - before, later - today) == (dt.timedelta(3), dt.timedelta(14))
        assert 350 <= (today - year).days <= 380
    usual = regex.compile(r"(\d{1,2})/(\d{1,2})/\d{4}")
    for country, group in (("us", 1), ("uk", 2), ("au", 2)):
        notes = filled("{day}", head=f"kind=phone | country={country}", count=80)
        months = [int(found[group]) for note in notes if (found := usual.fullmatch(note.text))]
        assert months
        assert max(months) <= 12
    assert not any(note.spans for note in filled("{day.weekday}"))


def test_the_day_of_birth_fits_the_age(filled):
    for note in filled("{dob.iso} {day.iso} {age}", head="kind=phone | age=1-89", count=20):
        born, today = (dt.date.fromisoformat(text) for text in marked(note, "DATE"))
        assert int(note.text.split()[-1]) == (today - born).days // 365.25


def test_brackets_choices_and_optional_parts(filled):
    notes = filled(r"\[ \] [yes|no[ way|]] \[X\]" "\n?? maybe", count=60)
    texts = {note.text.lower().replace("\n", " ") for note in notes}
    assert texts == {f"[ ] {word} [x]{end}" for word in ("yes", "no", "no way") for end in ("", " maybe")}


def test_optional_sections_are_dropped_and_neighbours_change_places(filled):
    notes = filled("{day}\n--?\nmaybe\n--~\none\n--~\ntwo\n--\nlast", count=60)
    ends = Counter(regex.sub(r"\s+", " ", note.text.lower()).split(" ", 1)[1][-20:] for note in notes)
    assert any("maybe" in end for end in ends)
    assert any("maybe" not in end for end in ends)
    assert any("one two last" in end for end in ends)
    assert any("two one last" in end for end in ends)


def test_case_upper_writes_most_notes_in_capitals(filled):
    notes = filled("Seen by {doctor1} today.", head="kind=phone | case=upper", count=60)
    capitals = sum(note.text.isupper() for note in notes)
    assert 40 < capitals < 60
    assert sum(note.text.isupper() for note in filled("Seen by {doctor1} today.", count=60)) < 10


def test_an_entry_before_a_full_stop_has_none_of_its_own(filled):
    lists = "== finding\nNo murmur.\n"
    assert {note.text.lower() for note in filled("{finding}.", lists=lists)} == {"no murmur."}
    assert {note.text.lower() for note in filled("{finding} Then", lists=lists)} == {"no murmur. then"}


def test_every_form_of_a_name_and_every_number_can_be_written(filled):
    names = "\n".join(f"{{patient.{form}}}" for form in sorted(FORMS))
    numbers = "\n".join(f"{{id.{kind}}}" for kind in sorted(ID_KINDS))
    for language in LANGUAGES:
        for note in filled(f"{names}\n{numbers}", language=language, count=4):
            check(note)
            assert len(note.spans) == len(FORMS) + len(ID_KINDS)


def test_kinds_of_organisations_have_numbers_of_their_own(filled):
    for note in filled("{organisation1.lab}\n{organisation1.ems}\n{organisation1.lab}", count=20):
        lab, ambulance, same = marked(note, "ORGANIZATION")
        assert lab == same != ambulance


def test_holidays_are_near_the_date_of_the_note(filled):
    for note in filled("{holiday} {day.iso}", head="kind=phone | country=us", count=60):
        holiday, today = marked(note, "DATE")
        if holiday.lower().startswith("christmas"):
            assert today[5:7] in {"09", "10", "11", "12", "01", "02", "03"}


@pytest.mark.parametrize("language", ["spanish", "french"])
def test_the_span_of_a_month_is_whole_and_that_of_a_holiday_has_no_article(language, filled):
    for note in filled("{day.month_year}", language=language, count=60):
        assert marked(note, "DATE") == [note.text]
    for note in filled("{holiday}", language=language, count=60):
        assert not marked(note, "DATE")[0].lower().startswith(("el ", "la ", "le ", "l'"))


@pytest.mark.parametrize(
    ("slot", "label", "value", "written"),
    [
        ("de {town1}", "CITY", "[aeiouéèêœ].*", "d'"),
        ("de {town1}", "CITY", "(havre|mans|puy|creusot).*", "du "),
        ("de {town1}", "CITY", "(lyon|reims|vannes|brest|toul|dax|nancy|roubaix|bayonne|gap|pau|tours).*", "de "),
        ("à {hospital1.full}", "HOSPITAL", "(chu|ch) .*", "au "),
        ("à {hospital1.full}", "HOSPITAL", "hôpital .*", "à l'"),
        ("à {hospital1.full}", "HOSPITAL", "(poly)?clinique .*", "à la "),
    ],
)
def test_words_join_the_value_after_them(slot, label, value, written, filled):
    found = [
        (note, name)
        for note in filled(f"Venu {slot}.", language="french", count=300)
        for name in marked(note, label)
        if regex.fullmatch(value, name.lower())
    ]
    assert found
    for note, name in found:
        assert strip_accents(note.text.lower()) == strip_accents(f"venu {written}{name.lower()}.")


def test_the_possessive_agrees_with_the_kin_after_it(filled):
    texts = {note.text.lower() for note in filled("Avec sa {relative1.kin}.", language="french", count=200)}
    assert {"avec son fils.", "avec son amie.", "avec sa fille."} <= texts
    assert not texts & {"avec sa mari.", "avec sa fils.", "avec sa épouse.", "avec sa amie."}


@pytest.mark.parametrize(
    ("language", "before", "she"),
    [
        ("spanish", "Visto por la Dra.", "ella"),
        ("german", "Konsil Frau Dr.", "sie"),
        ("french", "Sage-femme :", "elle"),
    ],
)
def test_a_title_settles_the_sex_of_a_doctor(language, before, she, filled):
    for note in filled(f"{before} {{doctor1.full}}. {{doctor1.he}}", language=language, count=40):
        assert note.text.lower().endswith(she)


def test_a_slot_chooses_a_word_by_the_sex_of_the_patient(filled):
    texts = {note.text.lower() for note in filled("{sex:Der/Die} Lehrer{sex:/in}, {he}", language="german")}
    assert texts == {"der lehrer, er", "die lehrerin, sie"}


def test_kin_keep_the_capital_of_their_language(filled):
    texts = {
        note.text for note in filled("Tochter {relative1.first}: {relative1.kin} {relative1.he}", language="german")
    }
    assert {text.rpartition(": ")[2] for text in texts} <= {"Tochter sie", "tochter sie", "TOCHTER SIE"}
    assert any(text.endswith("Tochter sie") for text in texts)


def test_a_date_at_the_end_of_a_sentence_has_one_full_stop(filled):
    notes = filled("Kontrolle am {day.short}. Dann {day.short}, gut.", language="german", count=60)
    assert not any(".." in note.text for note in notes)
    assert any(note.text[note.spans[0].end - 1] == "." for note in notes)
    assert any(note.text[note.spans[0].end] == "." for note in notes)


def test_notes_in_capitals_spell_letters_that_have_none_with_others(filled):
    notes = filled("Straße {patient.last} Öl {day}", head="kind=phone | case=upper", language="german", count=40)
    capitals = [note for note in notes if note.text.isupper()]
    assert len(capitals) > 20
    for note in capitals:
        check(note)
        assert note.text.startswith("STRASSE ")
        assert " OEL " in note.text


def test_addresses_are_marked_part_by_part(filled):
    for note in filled("{address}", count=20):
        assert {"STREET", "CITY"} <= {span.label for span in note.spans} <= {"STREET", "CITY", "STATE", "ZIP"}


def test_copies_in_other_spellings_and_layouts_keep_the_spans():
    notes = [fill_one(TEMPLATES["english"], template, 0) for template in TEMPLATES["english"].templates[:5]]
    rewrite = LayoutRewriter({span.label for note in notes for span in note.spans}, seed=0)
    for note in notes:
        assert [span[:2] for span in in_capitals(note).spans] == [span[:2] for span in note.spans]
        copy = rewrite(note)
        assert copy is not None
        assert copy.spans


LITERAL_PHI = {
    "a name after a title": regex.compile(
        r"\b(?:Dr|Dre|Mr|Mme|Mlle|Mrs|Ms|Dra|Sra|Dña|Frau|Herrn?)\.? (?!Juez|Koll|Dr|Prof)\p{Lu}\p{Ll}+"
    ),
    "a long number": regex.compile(r"\d{6}"),
    "a telephone number": regex.compile(r"\b\d{3}[-. ]\d{3}[-. ]\d{4}\b"),
    "a date": regex.compile(r"\b(?:19[3-9]|20[0-3])\d[-/]\d|\b\d{1,2}([/.])\d{1,2}\1(?:19|20)\d\d\b"),
}


@pytest.mark.parametrize("problem", LITERAL_PHI)
def test_templates_hold_no_phi_of_their_own(problem):
    found = [
        (template.name, line.text)
        for _, template in EVERY
        for section in template.sections
        for line in section.lines
        if LITERAL_PHI[problem].search(line.text)
    ]
    assert found == []


def test_the_words_of_a_name_are_one_span(filled):
    for note in filled(
        "Told {patient.nick} {patient.last} that {relative1.first}, {relative2.first} called.", count=20
    ):
        assert len(marked(note, "PATIENT")) == 3
        assert note.spans[0].start == len("Told ")


def test_the_library_does_not_load_templates_at_its_import():
    code = "import sys, crfdeid, crfdeid.cli; print('crfdeid.corpora.templates' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3rd April 2026", "3rd April 2026"), ("the 3rd of April", "3rd of April"), ("24th April", "24th April")],
)
def test_a_day_in_ordinal_figures_is_part_of_the_date(text, expected):
    piece = without_article(text, "DATE")
    assert [piece.text[span.start : span.end] for span in piece.spans] == [expected]


def test_initials_spell_no_abbreviation_of_notes():
    someone = Character(Person("Marsh", "Orla", "Dunne", True), "Dunne", "british", "", "", "", "", 40)
    texts = {
        write_name(someone, form, Random(seed), not_initials=("MD",))
        for form in ("initials", "letters", "letters_lower")
        for seed in range(20)
    }
    assert {text.replace(".", "") for text in texts} == {"MOD"}
    assert {write_name(someone, "letters", Random(0))} == {"MOD"}


@pytest.mark.parametrize(("last", "genitive"), [("Müller", "Müllers"), ("Fuchs", "Fuchs'"), ("Groß", "Groß'")])
def test_the_genitive_of_a_german_name(last, genitive):
    someone = Character(Person("Jo", "Kai", last, True), last, "german", "", "", "", "", 40)
    assert write_name(someone, "last_genitive", Random(0)) == genitive


def test_people_of_a_note_have_different_names(filled):
    slots = " ".join(f"{{relative{number}.first}} / " for number in range(1, 8))
    for note in filled("{patient.first} / " + slots, count=40):
        names = marked(note, "PATIENT")
        assert len({name.casefold() for name in names}) >= len(names) - 1
