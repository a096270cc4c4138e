"""Distinct surrogates of distinct originals, and none with a word of its original."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import product

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.redaction.redact import redact
from crfdeid.redaction.surrogates import Surrogates, note_key
from crfdeid.redaction.surrogates.locales import LocaleLists, locale_lists
from crfdeid.redaction.surrogates.place_tables import provinces
from crfdeid.redaction.surrogates.words import casefold_accents
from crfdeid.secrets import KeyedPermutation
from features.languages import LANGUAGES

SECRET = b"sixteen bytes or more"
MAIN = ("en_US", "es_ES", "de_DE", "fr_FR")
SOME = (*MAIN, "es_MX", "it_IT", "lt_LT")
INVENTED = ["".join(parts) for parts in product(("Qu", "Tw", "Zan", "Mar", "Or"), ("il", "el", "in"), ("lop", "ner"))]
WORD = regex.compile(r"[\p{L}\p{M}]{2,}|\p{N}{3,}")


def surrogates(values: list[str], locale: str, label: str, *, patient: str | None = "1", before: str = "") -> list[str]:
    """The surrogates of the values of a note."""
    text, spans = "", []
    for value in values:
        text += before
        spans.append(Span(len(text), len(text) + len(value), label))
        text += f"{value} ;\n"
    found = redact(Document("1", text, tuple(spans)), "surrogate", secret=SECRET, patient=patient, locale=locale)
    return [found.text[span.start : span.end] for span in found.spans]


def words(text: str) -> set[str]:
    return {casefold_accents(word) for word in WORD.findall(text)}


def real(known: LocaleLists) -> list[str]:
    return [name for name in known.last if casefold_accents(name) in known.family]


NAMES: dict[str, Callable[[LocaleLists], list[str]]] = {
    "real": real,
    "listed": lambda known: list(known.last),
    "invented": lambda known: INVENTED,
}


def eight(names: list[str], numbers: random.Random) -> list[str]:
    """Eight names that differ in letters."""
    found = {casefold_accents(name): name for name in numbers.sample(names, min(16, len(names)))}
    return list(found.values())[:8]


@pytest.mark.parametrize("locale", SOME)
@pytest.mark.parametrize("kind", NAMES)
def test_doctors_of_a_note_have_distinct_surrogates(locale: str, kind: str) -> None:
    names, numbers = NAMES[kind](locale_lists(locale)), random.Random(kind)
    for _ in range(20):
        doctors = eight(names, numbers)
        found = surrogates(doctors, locale, "DOCTOR", patient=None, before="Dr. ")
        assert len({casefold_accents(name) for name in found}) == len(doctors) == 8


@pytest.mark.parametrize("locale", MAIN)
def test_listed_names_have_distinct_surrogates_in_all_notes_of_a_patient(locale: str) -> None:
    """Whatever other names a note has: no surrogate depends on them."""
    known = locale_lists(locale)
    names = {casefold_accents(name): name for name in real(known)}
    ours = Surrogates(note_key(SECRET, "1", ""), locale, roles=dict.fromkeys(names, "family"))
    found = {plain: ours.of(name, "DOCTOR") for plain, name in names.items()}
    initials = {name[0] for name in found.values()}  # of some initials there are too few surrogates
    some = [plain for plain in found if plain[0].upper() in initials]
    assert len(some) > 0.7 * len(names)
    assert len({found[plain] for plain in some}) == len(some)


@pytest.mark.parametrize("locale", MAIN)
def test_a_doctor_has_one_surrogate_in_notes_of_a_patient_in_any_order_and_form(locale: str) -> None:
    known, numbers = locale_lists(locale), random.Random(locale)
    doctors = eight(real(known), numbers)
    for _ in range(10):
        some = numbers.sample(doctors, 4)
        found = dict(zip(some, surrogates(some, locale, "DOCTOR", before="Dr. "), strict=True))
        for doctor in some:
            assert surrogates([doctor], locale, "DOCTOR", before="Dr. ") == [found[doctor]]
            (full,) = surrogates([f"{known.female[0]} {doctor}"], locale, "DOCTOR", before="Dr. ")
            assert full.split()[-1] == found[doctor]
            assert surrogates([doctor.upper()], locale, "DOCTOR", before="Dr. ") == [found[doctor].upper()]


def test_another_process_writes_the_same_surrogates() -> None:
    script = (
        "from crfdeid.redaction.surrogates import Surrogates, note_key\n"
        f"for locale in {MAIN[::2]}:\n"
        f"    ours = Surrogates(note_key({SECRET!r}, '1', ''), locale, persons={INVENTED[:8]!r})\n"
        "    print(*(ascii(ours.of(*value)) for value in VALUES), sep='\\n')\n"
    )
    values = [*((name, "DOCTOR") for name in INVENTED[:8]), ("Quill Street 4", "STREET"), ("Tawn", "CITY")]
    values += [("555-0134", "PHONE"), ("AB-48221", "ID"), ("Hospital Quill", "HOSPITAL")]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-c", f"VALUES = {values!r}\n{script}"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split("\n")
    expected = []
    for locale in MAIN[::2]:
        ours = Surrogates(note_key(SECRET, "1", ""), locale, persons=INVENTED[:8])
        expected += [ascii(ours.of(*value)) for value in values]
    assert found[:-1] == expected


def test_each_locale_has_ten_thousand_names() -> None:
    for locale in (*SOME, "da_DK", "ig_NG", "pt_PT", "ro_RO"):
        known = locale_lists(locale)
        last = {casefold_accents(name) for name in known.last}
        assert len(last) > 10_000 or locale not in (*MAIN, "es_MX", "it_IT")
        assert len(last) * (len(known.female) + len(known.male)) >= 10_000, locale
        assert all(name.isalpha() and name[0].isupper() for name in known.last[known.real_last :])


@pytest.mark.parametrize("locale", MAIN)
def test_first_names_alone_in_a_note_have_distinct_surrogates(locale: str) -> None:
    known, numbers = locale_lists(locale), random.Random(1)
    for _ in range(20):
        names = eight([*known.female, *known.male], numbers)
        assert len({*surrogates(names, locale, "PATIENT")}) == len(names)


def towns(locale: str) -> list[str]:
    rows = provinces(locale[:2] if locale[:2] in ("de", "fr") else "es")
    return [names[0] for one in rows for names in one.towns]


@st.composite
def names_of_lists(draw: st.DrawFn) -> tuple[str, str]:
    """A locale, and a name of one to five words of its lists."""
    locale = draw(st.sampled_from(SOME))
    known = locale_lists(locale)
    kinds = st.sampled_from([known.female, known.male, real(known), known.last])
    parts = [draw(st.sampled_from(draw(kinds))) for _ in range(draw(st.integers(1, 5)))]
    name = draw(st.sampled_from([" ", "-", ", "])).join(parts)
    return locale, draw(st.sampled_from([name, name.upper(), name.lower(), casefold_accents(name)]))


@settings(max_examples=60)
@given(names_of_lists(), st.integers(0, 2**32))
def test_a_name_has_no_word_of_its_original(named: tuple[str, str], key: int) -> None:
    locale, name = named
    for persons in ((), (name,)):
        found = Surrogates(key.to_bytes(32), locale, persons=persons).of(name, "PATIENT")
        particles = {"de", "la", "el", "von", "le"}
        assert not (words(found) - particles) & words(name)


@settings(max_examples=60)
@given(st.sampled_from(MAIN), st.data(), st.integers(0, 2**32))
def test_a_place_or_institution_has_no_word_of_its_original(locale: str, data: st.DataObject, key: int) -> None:
    known, ours = locale_lists(locale), Surrogates(key.to_bytes(32), locale)
    pools = [known.last, known.town, towns(locale) if locale != "en_US" else known.town, known.female]
    one, other = (data.draw(st.sampled_from(data.draw(st.sampled_from(pools)))) for _ in range(2))
    frames = {
        "en_US": [("CITY", "{0}"), ("HOSPITAL", "{0} {1} Hospital"), ("STREET", "12 {0} {1} Street")],
        "es_ES": [("TERRITORIO", "{0}"), ("HOSPITAL", "Hospital {0} {1}"), ("CALLE", "Calle {0}, 12")],
        "de_DE": [("CITY", "{0}"), ("HOSPITAL", "Klinikum {0}"), ("STREET", "{0}straße 12")],
        "fr_FR": [("CITY", "{0}"), ("HOSPITAL", "Clinique {0}"), ("STREET", "12 rue {0}")],
    }
    label, frame = data.draw(st.sampled_from(frames[locale]))
    value = frame.format(one, other)
    kept = words(frame.replace("{0}", "").replace("{1}", "")) | _PARTICLES
    assert not (words(ours.of(value, label)) & words(value)) - kept, value


_PARTICLES = words("de del la las el los san santa santo villa sur les en am an der saint sainte bad le du sous")


@pytest.mark.parametrize("locale", MAIN)
def test_identifiers_of_one_shape_have_distinct_surrogates(locale: str) -> None:
    ours = Surrogates(note_key(SECRET, "1", ""), locale)
    codes = [f"{number:04}" for number in range(0, 10_000, 7)] + [f"AB-{number}" for number in range(100, 1000)]
    found = [ours.of(code, "ID") for code in codes]
    assert len({*found}) == len(codes)
    same = [a for pair in zip(codes, found, strict=True) for a, b in zip(*pair, strict=True) if a == b]
    assert {*same} <= {"0", "-"}


@given(st.sampled_from(MAIN), st.from_regex(r"[2-9][0-9]{2}[- .][2-9][0-9]{2}[- .][0-9]{4}", fullmatch=True))
def test_a_telephone_number_has_no_group_of_its_original(locale: str, text: str) -> None:
    found = Surrogates(note_key(SECRET, "1", ""), locale).of(text, "PHONE")
    assert not words(found) & words(text) - {text[:3]}
    assert regex.sub(r"\D", "", found) != regex.sub(r"\D", "", text)


@pytest.mark.parametrize(
    ("locale", "label", "frame"),
    [
        ("en_US", "PHONE", "(617) 555-{:04}"),
        ("es_ES", "PHONE", "+34 91 555 {:04}"),
        ("de_DE", "PHONE", "0221 48{:04}"),
        ("fr_FR", "PHONE", "01 45 67 {:04}"),
        ("en_US", "ZIP", "197{:02}"),
        ("es_ES", "TERRITORIO", "28{:03}"),
        ("es_ES", "ID_TITULACION_PERSONAL_SANITARIO", "28 28 1{:04}"),
        ("fr_FR", "SSN", "2 61 07 59 512 {:03} 33"),
        ("en_US", "STREET", "{:04} Quill Street"),
    ],
)
def test_numbers_that_keep_a_part_have_distinct_surrogates(locale: str, label: str, frame: str) -> None:
    ours = Surrogates(note_key(SECRET, "1", ""), locale)
    values = [frame.format(number) for number in (range(100) if label == "ZIP" else range(100, 1000))]
    found = [ours.of(value, label) for value in values]
    assert len({*found}) == len(values)
    assert not {*found} & {*values} or label in ("ZIP", "TERRITORIO")


@pytest.mark.parametrize("locale", ["es_ES", "de_DE"])
def test_towns_of_a_province_are_distinct_while_the_other_province_has_as_many(locale: str) -> None:
    rows = provinces(locale[:2])
    for patient in range(3):
        ours = Surrogates(note_key(SECRET, f"{patient}", ""), locale)
        for one in rows:
            found = {ours.of(names[0], "CITY") for names in one.towns}
            others = [{names[0] for names in other.towns} for other in rows]
            size = max((len(names) for names in others if found & names), default=0)
            assert len(found) >= min(len(one.towns), size) - 2, one.number


@pytest.mark.parametrize("locale", MAIN)
def test_invented_streets_towns_and_hospitals_seldom_share_a_surrogate(locale: str) -> None:
    ours = Surrogates(note_key(SECRET, "1", ""), locale)
    frames = {"CITY": "{}", "HOSPITAL": "Hospital {}", "STREET": "{} 4" if locale != "en_US" else "4 {} Street"}
    for label, frame in frames.items():
        found = {ours.of(frame.format(name), label) for name in INVENTED}
        assert len(found) >= len(INVENTED) - 1, (label, len(found), len(INVENTED))


@given(st.integers(1, 300), st.binary(min_size=1, max_size=64))
def test_a_keyed_permutation_is_one_and_its_successors_are_a_cycle(size: int, key: bytes) -> None:
    permutation = KeyedPermutation(key, size)
    images = [permutation.of(number) for number in range(size)]
    assert sorted(images) == list(range(size))
    assert [permutation.inverse(image) for image in images] == list(range(size))
    number, cycle = 0, set()
    while number not in cycle:
        cycle.add(number)
        number = permutation.successor(number)
    assert len(cycle) == size


def test_permutations_of_keys_differ() -> None:
    counts = [0] * 10
    for key in range(2000):
        counts[KeyedPermutation(key.to_bytes(32), 10).of(3)] += 1
    assert max(abs(count - 200) for count in counts) < 70  # five standard deviations


def test_packs_compose_names_of_their_own_lists() -> None:
    for code in ("en", "es", "de", "fr"):
        begins = LANGUAGES[code].entries("surrogates", "names", "family_beginnings")
        names = locale_lists({"en": "en_US"}.get(code, f"{code}_{code.upper()}")).last
        assert sum(name.startswith(begins) for name in names) > 10_000


def test_no_street_name_of_the_table_stays() -> None:
    ours = Surrogates(note_key(SECRET, "1", ""), "es_ES")
    names = LANGUAGES["es"].entries("surrogates", "streets", "options")
    found = [ours.of(f"Calle {name}", "CALLE") for name in names]
    assert len({*found}) >= len(names) - 1


@pytest.mark.parametrize("locale", MAIN)
@pytest.mark.parametrize(("name", "other"), [("Søren", "Soren"), ("ŁUKASZ", "Lukasz"), ("Đorlan", "Dorlan")])
def test_letters_without_a_decomposition_are_what_typists_write(locale: str, name: str, other: str) -> None:
    first, second = surrogates([name, other], locale, "DOCTOR", before="Dr. ")
    assert casefold_accents(first) == casefold_accents(second)


def test_a_telephone_number_that_keeps_its_first_digit_has_no_group_of_its_original() -> None:
    for patient in range(20):
        ours = Surrogates(note_key(SECRET, f"{patient}", ""), "es_ES")
        for number in range(50, 100):
            text = f"+34 600 {number:03} {number:03}"
            assert not words(ours.of(text, "PHONE")) & words(text)
