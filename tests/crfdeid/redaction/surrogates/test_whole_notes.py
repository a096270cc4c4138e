"""Surrogates as a reader of the whole note sees them: who is who, where is where, and when was when."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.redaction.redact import redact
from crfdeid.redaction.surrogates import Surrogates, name_roles, note_key
from crfdeid.redaction.surrogates.locales import given_name_sexes, locale_lists
from crfdeid.redaction.surrogates.place_tables import abroad, communities, lettered_states, provinces
from crfdeid.redaction.surrogates.words import casefold_accents

SECRET = b"sixteen bytes or more"
PATIENTS = [f"patient {number}" for number in range(12)]
CAPITALS = {name: one for one in provinces("es") for name in one.capitals}
BY_NAME = {name: one for one in provinces("es") for name in one.names}
BY_TOWN = {name: one for one in provinces("es") for names in one.towns for name in names}


def marked(note: str) -> Document:
    """A note whose PHI is marked as ``{TYPE:text}``."""
    text, spans, end = "", [], 0
    for match in re.finditer(r"\{([A-Z_]+):([^{}]*)\}", note):
        text += note[end : match.start()]
        spans.append(Span(len(text), len(text) + len(match[2]), match[1]))
        text, end = text + match[2], match.end()
    return Document("1", text + note[end:], tuple(spans))


def after(note: str, patient: str, locale: str = "es_ES") -> list[str]:
    """The surrogates of a note, in its order."""
    found = redact(marked(note), "surrogate", secret=SECRET, patient=patient, locale=locale)
    return [found.text[span.start : span.end] for span in found.spans]


def of_patient(patient: str, locale: str = "es_ES") -> Surrogates:
    return Surrogates(note_key(SECRET, patient, ""), locale)


# People


@pytest.mark.parametrize(
    ("note", "locale", "roles"),
    [
        ("Dra. {DOCTOR:Xurxiña Vidal}", "es_ES", "female family"),
        ("Dr. {DOCTOR:Quillu Vidal}", "es_ES", "male family"),
        ("{DOCTOR:Dra. Xurxe Vidal Olmo}", "es_ES", "female family family"),
        ("doña {PATIENT:Xurxe}", "es_ES", "female"),
        ("la Dra. {DOCTOR:Xurxiña}", "es_ES", "family"),
        ("{PATIENT:OLMO TEJO, XURXIÑA}", "es_ES", "family family female"),
        ("Nombre: {PATIENT:Xurxe}\nApellidos: {PATIENT:Pascual Ferrer}", "es_ES", "either family family"),
        ("Nombre y apellidos: {PATIENT:Ana Tejo}", "es_ES", "female family"),
        ("{DOCTOR:Luis Roberto León}", "es_ES", "male male family"),
        ("{DOCTOR:Héctor Pastor Navarro}", "es_ES", "male family family"),
        ("{DOCTOR:María Isabel Tejo Olmo}", "es_ES", "female female family family"),
        ("{DOCTOR:Olmo Tejo José Luis}", "es_ES", "family family male male"),
        ("{DOCTOR:José-Xurxo Tejo}", "es_ES", "male male family"),
        ("{DOCTOR:David Remedios Clavijo}", "es_ES", "male family family"),
        ("Dr. {DOCTOR:Yasmine Olmo}", "es_ES", "female family"),
        ("Mrs. {PATIENT:Xandry Quill}", "en_US", "female family"),
        ("Mr. {PATIENT:Xandry Quill}", "en_US", "male family"),
        ("{PATIENT:Quill, Xandry}", "en_US", "family either"),
        ("{DOCTOR:J. Quill}", "en_US", "family"),
        ("{PATIENT:Xandry}", "en_US", ""),
    ],
)
def test_title_and_position_tell_first_names_from_family_names(note: str, locale: str, roles: str) -> None:
    document = marked(note)
    found = name_roles(
        document.text, [(start, end, document.text[start:end]) for start, end, _ in document.spans], locale
    )
    assert " ".join(found.values()) == roles


@pytest.mark.parametrize(
    ("note", "locale", "sex"),
    [
        ("{PATIENT:Xurxe Olmo}, mujer", "es_ES", "female"),
        ("{PATIENT:Xurxe Olmo}, varón", "es_ES", "male"),
        ("{PATIENT:Joan Olmo}, varón", "es_ES", "male"),
        ("{PATIENT:Quill, Xandry}: he has pain. His mother, a woman of 60. Seen by him.", "en_US", "male"),
        ("{DOCTOR:Xandry Quill} saw him; he has pain.", "en_US", "either"),
        ("{PATIENT:Xandry Quill}: he, his, she, her", "en_US", "either"),
    ],
)
def test_the_words_of_a_note_tell_the_sex_of_an_unlisted_patient(note: str, locale: str, sex: str) -> None:
    known = locale_lists(locale)
    listed = {"female": {*known.female}, "male": {*known.male}, "either": {*known.female, *known.male}}
    found = {
        name for patient in PATIENTS for name in after(note, patient, locale)[0].split() if name in listed["either"]
    }
    assert found
    assert found <= listed[sex]
    assert (sex == "either") == bool(found & listed["female"] and found & listed["male"])


def test_an_unlisted_first_name_becomes_one_of_the_sex_of_its_title_wherever_it_stands() -> None:
    for patient in PATIENTS:
        whole, family, first = after("Dra. {DOCTOR:Xurxiña Vidal}; Dra. {DOCTOR:Vidal}; {DOCTOR:Xurxiña}", patient)
        assert whole == f"{first} {family}"
        assert first in locale_lists("es_ES").female
        assert family in locale_lists("es_ES").last


@pytest.mark.parametrize("locale", ["es_ES", "es_MX", "en_US", "en_GB"])
def test_no_surrogate_is_a_pet_name_or_in_spanish_a_first_name_for_a_family_name(locale: str) -> None:
    pets = {"Charo", "Nando", "Pancho", "Samu", "Paco", "Encarnita", "Lupita", "Pepe", "Bob", "Jimmy", "Kathy", "Mike"}
    known = locale_lists(locale)
    assert not {*known.female, *known.male} & pets
    assert {given_name_sexes().get(casefold_accents(name), "female") for name in known.female} == {"female"}
    assert {given_name_sexes().get(casefold_accents(name), "male") for name in known.male} == {"male"}
    assert not locale.startswith("es") or not {*map(casefold_accents, known.last)} & {*given_name_sexes()}


def test_no_family_name_is_listed_with_and_without_its_accents() -> None:
    folded = [casefold_accents(name) for name in locale_lists("es_ES").last]
    assert len(folded) == len(set(folded))
    assert {"Fernández", "Gutiérrez"} <= {*locale_lists("es_ES").last}


def test_an_account_is_called_after_the_person_whose_name_it_holds() -> None:
    for patient in PATIENTS:
        name, mail = after("{DOCTOR:Hugo Zarzal}, {CORREO_ELECTRONICO:h.zarzal@tejos.es}", patient)
        assert re.fullmatch(rf"{casefold_accents(name.split()[1])}\d\d@example\.es", mail)


@pytest.mark.parametrize("name", ["José De La Cruz", "JOSÉ DE LA CRUZ", "José de la Cruz"])
def test_particles_stay_in_capitals_too(name: str) -> None:
    for patient in PATIENTS:
        assert after(f"{{DOCTOR:{name}}}", patient)[0].split()[1:3] == name.split()[1:3]


# Places


@pytest.mark.parametrize(("name", "one"), BY_NAME.items())
def test_a_province_becomes_a_province_and_all_that_lies_in_it_goes_there(name: str, one) -> None:
    for patient in PATIENTS[:3]:
        ours = of_patient(patient)
        found = ours.of(name, "TERRITORIO")
        other = (CAPITALS if one.shares_name else BY_NAME)[found]
        assert other.number != one.number
        assert other.shares_name is one.shares_name
        assert ours.of(one.capitals[-1], "TERRITORIO") == other.capitals[0]
        assert ours.of(f"{one.number}123", "TERRITORIO")[:2] == other.number
        assert ours.of(f"{one.number} {one.number} 12345", "ID_TITULACION_PERSONAL_SANITARIO").startswith(
            f"{other.number} {other.number} "
        )
        for names in one.towns:
            assert BY_TOWN[ours.of(names[0], "TERRITORIO")] == other


@given(st.integers(0, 2**32))
def test_no_two_provinces_become_the_same_one(key: int) -> None:
    ours = Surrogates(key.to_bytes(32), "es_ES")
    whole = [one for one in provinces("es") if one.towns]
    assert len({ours.of(one.names[0], "TERRITORIO") for one in whole}) == len(whole)


def test_communities_states_and_towns_abroad_become_such() -> None:
    for patient in PATIENTS:
        ours = of_patient(patient)
        others = {names[0] for group in communities("es") for names in group} - {"Cataluña"}
        assert ours.of("Cataluña", "TERRITORIO") in others
        assert ours.of("Cataluña", "TERRITORIO") == ours.of("Catalunya", "TERRITORIO")
        country = next(
            row
            for row in abroad("es")
            if ours.of("Colombia", "PAIS") in row.country.replace("Peru", "Perú").replace("Brazil", "Brasil")
        )
        assert (ours.of("Antioquia", "TERRITORIO"),) in {names[:1] for names in country.states}
        assert (ours.of("Medellín", "TERRITORIO"),) in {names[:1] for names in country.towns}
        assert ours.of("Bogotá", "TERRITORIO") == country.towns[0][0]


def test_of_towns_of_one_name_that_of_the_country_in_the_note_is_meant() -> None:
    for patient in PATIENTS:
        country, town = after("{PAIS:Argentina}, {TERRITORIO:Córdoba}", patient)
        assert town not in {name for one in provinces("es") for name in one.own_towns} or country == "Bolivia"
        assert after("{PAIS:España}, {TERRITORIO:Córdoba}", patient)[1] in CAPITALS


def test_an_unknown_town_of_a_country_that_the_note_names_goes_there_with_it() -> None:
    for patient in PATIENTS:
        found = after("{PAIS:Colombia}, {TERRITORIO:Medellín}, {TERRITORIO:Quillueño}", patient)
        towns = [{names[0] for names in row.towns} for row in abroad("es")]
        assert any({found[1], found[2]} <= some for some in towns)


def test_a_state_of_the_usa_has_one_surrogate_in_both_spellings_and_its_zip_codes_follow() -> None:
    by_name = {state.name: state for state in lettered_states("en")}
    for patient in PATIENTS:
        name, letters, code = after("{STATE:Nevada}, {STATE:NV} {ZIP:89101}", patient, "en_US")
        assert by_name[name].letters == letters != "NV"
        assert by_name[name].first <= int(code[:3]) <= by_name[name].last


SPELLINGS = ["Donostia", "DONOSTIA", "San Sebastián", "San Sebastian", "Donostia-San Sebastián"]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("kind", ["CITY", "LOCATION", "TERRITORIO", "HOSPITAL", "INSTITUCION"])
def test_a_town_has_one_surrogate_in_all_spellings_and_types(spelling: str, kind: str) -> None:
    for patient in PATIENTS[:4]:
        first, other = after(f"{{TERRITORIO:Donostia}} {{{kind}:{spelling}}}", patient)
        assert other == (first.upper() if spelling.isupper() else first)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("Hospital Donostia", "Hospital {}"),
        ("Hospital Universitario de Donostia", "Hospital Universitario de {}"),
        ("Hospital Clínico San Cosme de Donostia", r"Hospital Clínico San \w+ de {}"),
    ],
)
def test_a_hospital_follows_the_surrogate_of_its_town(value: str, form: str) -> None:
    for patient in PATIENTS[:4]:
        town, hospital = after(f"{{CITY:Donostia}} {{HOSPITAL:{value}}}", patient)
        assert re.fullmatch(form.format(town), hospital)


def test_an_unknown_town_has_one_surrogate_where_a_hospital_and_a_street_are_called_after_it() -> None:
    for patient in PATIENTS[:4]:
        town, hospital, street = after(
            "{CITY:Quillueño} {HOSPITAL:Hospital Quillueño} {CALLE:Calle Quillueño 4}", patient
        )
        assert hospital == f"Hospital {town}"
        assert re.fullmatch(rf"Calle {town} \d", street)


@pytest.mark.parametrize(
    ("value", "meant"), [("Mucria", "Murcia"), ("Valladolidd", "Valladolid"), ("Salamnca", "Salamanca")]
)
def test_a_town_with_one_letter_wrong_has_the_surrogate_of_the_town(value: str, meant: str) -> None:
    for patient in PATIENTS[:4]:
        first, second = after(f"{{CITY:{value}}} {{CITY:{meant}}}", patient)
        assert first == second


VALUES = st.sampled_from(["Tawn Olmo", "Quillueño", "48-22137", "4822137"])
LIKE = {"a": ["CITY", "HOSPITAL", "CALLE", "LOCATION"], "4": ["ID", "PHONE", "ID_ASEGURAMIENTO"]}


@given(VALUES, st.sampled_from(PATIENTS), st.data())
def test_one_value_has_one_surrogate_in_a_note_whatever_the_model_took_it_for(
    value: str, patient: str, data: st.DataObject
) -> None:
    kinds = data.draw(st.lists(st.sampled_from(LIKE["4" if value[0] == "4" else "a"]), min_size=2, max_size=5))
    found = after(" ".join(f"{{{kind}:{value}}}" for kind in kinds), patient)
    assert all(a == b or (a[0], b[0]) == ("[", "[") for a, b in pairwise(found))


# Hospitals


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("Hospital 12 de", r"Hospital ([1-9]|1\d|2[0-8]) de"),
        ("Hospital 12 de Octubre", r"Hospital ([1-9]|1\d|2[0-8]) de [A-Z][a-z]+"),
        ("HOSPITAL 12 DE OCTUBRE", r"HOSPITAL ([1-9]|1\d|2[0-8]) DE [A-Z]+"),
        ("Hospital 12 Octubre", r"Hospital ([1-9]|1\d|2[0-8]) [A-Z][a-z]+"),
        ("Hospital 9", r"Hospital [1-8]"),
        ("Hospital La Paz", r"Hospital (La|El|Los|Las) \w+"),
        ("hospital universitario la paz", r"hospital universitario (la|el|los|las) \w+"),
        ("Hospital San Cosme", r"Hospital San \w+"),
        ("Hospital del Sureste", r"Hospital del? (la )?\w+"),
        ("Hospital Ramón y Cajal", r"Hospital \w+ [ye] \w+"),
        ("Hospital Doctor Olmo", r"Hospital Doctor \w+"),
        ("Hospital de la Santa Luz Olmo", r"Hospital de la Santa .*"),
        ("Fundación Tejo Olmo, S.A.", r"Fundación \w+ \w+, S\.A\."),
        ("Instituto Colombiano del Dolor", r"Instituto (Nacional|Central|General) del Dolor"),
        ("Servicio Castellano-Leonés de Salud", r"Servicio (Nacional|Central|General) de Salud"),
        ("Universidad de Chile", r"Universidad de \w+"),
    ],
)
def test_a_hospital_reads_like_one(value: str, form: str) -> None:
    for patient in PATIENTS:
        found = of_patient(patient).of(value, "HOSPITAL")
        assert re.fullmatch(form, found), found
        assert found != value


@given(st.sampled_from(PATIENTS), st.integers(1, 31), st.sampled_from(["", " de", " de Mayo", " Mayo"]))
def test_a_number_in_the_name_of_a_hospital_is_a_day(patient: str, day: int, rest: str) -> None:
    found = of_patient(patient).of(f"Hospital {day}{rest}", "HOSPITAL")
    assert 1 <= int(found.split()[1]) <= 28


@pytest.mark.parametrize("value", ["Clínica Tejo Conde", "Clínica de la Torre", "Clínica Conde", "Clínica Tejo Rey"])
def test_no_family_name_stays_that_is_a_title_elsewhere(value: str) -> None:
    for patient in PATIENTS:
        assert not {*of_patient(patient).of(value, "HOSPITAL").split()} & {"Tejo", "Conde", "Torre", "Rey"}


def test_a_possessive_stays_in_the_name_of_a_hospital() -> None:
    assert re.fullmatch(r"St\. \w+'s Hospital", of_patient("p", "en_US").of("St. Orla's Hospital", "HOSPITAL"))


# Numbers


@pytest.mark.parametrize(
    ("value", "label", "form"),
    [
        ("28 28 12345", "ID", r"(\d\d) \1 \d{5}"),
        ("28/12345", "ID", r"(\d\d)/\d{5}"),
        ("282812345", "ID_TITULACION_PERSONAL_SANITARIO", r"(\d\d)\1\d{5}"),
        ("nº col. 28 12345", "ID", r"nº col\. (\d\d) \d{5}"),
        ("28 12345678 40", "ID_ASEGURAMIENTO", r"(\d\d) \d{8} \d\d"),
        ("28 28", "ID_TITULACION_PERSONAL_SANITARIO", r"(\d\d) \1"),
    ],
)
def test_the_number_of_a_college_begins_with_a_province(value: str, label: str, form: str) -> None:
    for patient in PATIENTS:
        ours = of_patient(patient)
        match = re.fullmatch(form, ours.of(value, label))
        assert match is not None
        assert match[1] == ours.of("28001", "TERRITORIO")[:2] != "28"
        assert 1 <= int(match[1]) <= 50


@pytest.mark.parametrize("value", ["948 555 013", "948-55-50-13", "+34 948 555 013", "948555013"])
def test_a_telephone_number_begins_as_those_of_the_surrogate_of_its_province_do(value: str) -> None:
    for patient in PATIENTS:
        ours = of_patient(patient)
        digits = re.sub(r"\D", "", ours.of(value, "NUMERO_TELEFONO"))
        assert digits.removeprefix("34").startswith(BY_NAME[ours.of("Navarra", "TERRITORIO")].dialled)
        assert re.sub(r"\d", "0", ours.of(value, "NUMERO_TELEFONO")) == re.sub(r"\d", "0", value)


def test_only_the_beginning_of_a_number_is_a_province() -> None:
    for patient in PATIENTS:
        ours = of_patient(patient)
        assert ours.of("92 12345678 07", "ID_ASEGURAMIENTO")[-2:] == ours.of("92-12345678-07", "ID")[-2:]


def test_a_number_that_begins_with_no_province_is_any_other() -> None:
    firsts = {of_patient(patient).of("92 12345", "ID")[:2] for patient in PATIENTS}
    assert max(map(int, firsts)) > 52


def test_ordinals_stay_ordinals() -> None:
    for patient in PATIENTS:
        found = of_patient(patient, "en_US").of("42nd Street, 3rd Floor", "STREET")
        numbers = re.fullmatch(r"(\d\d)(st|nd|rd|th) Street, (\d)(st|nd|rd|th) Floor", found)
        assert numbers is not None
        ending = {1: "st", 2: "nd", 3: "rd"}
        assert all(
            end == ("th" if 10 < int(number) < 14 else ending.get(int(number) % 10, "th"))
            for number, end in zip(numbers.groups()[::2], numbers.groups()[1::2], strict=True)
        )


# Years


@given(st.sampled_from(PATIENTS), st.integers(1, 28), st.integers(1, 12), st.integers(1990, 2031))
def test_a_year_in_prose_is_that_of_the_date_it_repeats(patient: str, day: int, month: int, year: int) -> None:
    note = f"Ingresó el {{FECHAS:{day:02}/{month:02}/{year}}}; {{FECHAS:ese mismo año de {year}}}, {{FECHAS:{year}}}."
    date, prose, alone = after(note, patient)
    assert prose == f"ese mismo año de {date[-4:]}"
    assert alone == date[-4:] != str(year)


@given(st.sampled_from(PATIENTS), st.lists(st.integers(1950, 2031), min_size=2, max_size=6), st.integers(1, 12))
def test_intervals_between_years_hold(patient: str, years: list[int], month: int) -> None:
    note = f"{{FECHAS:10/{month:02}/{years[0]}}} " + " ".join(f"{{FECHAS:{year}}}" for year in years)
    found = list(map(int, after(note, patient)[1:]))
    assert [b - a for a, b in pairwise(found)] == [b - a for a, b in pairwise(years)]


# All of it


PIECES = st.sampled_from(
    [
        *("{DOCTOR:Xurxiña Vidal}", "{PATIENT:Olmo}", "{CITY:Donostia}", "{CALLE:C/ Olmo 4}", "{FECHAS:03/04/2031}"),
        *("{FECHAS:2031}", "{HOSPITAL:Hospital 12 de Octubre}", "{ID:28 28 12345}", "{PROFESION:minero}", " Dra. "),
        *("\n", "\u0301", " visto por ", "{PAIS:Chile}", "{TERRITORIO:Santiago}", "{CORREO_ELECTRONICO:olmo@a.es}"),
    ]
)


@given(st.lists(PIECES, min_size=1, max_size=12), st.sampled_from(PATIENTS))
def test_nothing_outside_the_marks_changes_and_the_same_note_has_the_same_surrogates(
    pieces: list[str], patient: str
) -> None:
    document = marked("".join(pieces))
    found = redact(document, "surrogate", secret=SECRET, patient=patient, locale="es_ES")
    assert redact(document, "surrogate", secret=SECRET, patient=patient, locale="es_ES") == found
    edges = [(0, 0), *((a.end, b.end) for a, b in zip(document.spans, found.spans, strict=True))]
    ends = [*((a.start, b.start) for a, b in zip(document.spans, found.spans, strict=True))]
    for (a, b), (c, d) in zip(edges, [*ends, (len(document.text), len(found.text))], strict=True):
        assert document.text[a:c] == found.text[b:d]


VALUE = st.sampled_from(
    [
        *(
            "{DOCTOR:Ana Olmo}",
            "{PATIENT:José}",
            "{CITY:Ávila}",
            "{CITY:Quillueño}",
            "{TERRITORIO:28001}",
            "{PAIS:Chile}",
        ),
        *("{CALLE:C/ Olmo 4}", "{HOSPITAL:Hospital La Paz}", "{FECHAS:03/04/2031}", "{FECHAS:mayo de 2031}"),
        *("{ID:28 28 12345}", "{NUMERO_TELEFONO:699 555 013}", "{PROFESION:minero}", "{CORREO_ELECTRONICO:x@a.es}"),
    ]
)
AROUND = st.sampled_from(
    ["visto en {PAIS:España} por la Dra. {DOCTOR:Xurxiña Vidal}", "{FECHAS:2030}", "{ID:4822}", "\n"]
)


@given(VALUE, AROUND, AROUND, st.sampled_from(PATIENTS))
def test_a_value_has_one_surrogate_in_all_notes_of_a_patient(value: str, one: str, other: str, patient: str) -> None:
    assert after(f"{value} {one}", patient)[0] == after(f"{value} {other}", patient)[0]


@given(st.integers(1990, 2031), st.lists(st.dates(), max_size=4), st.sampled_from(PATIENTS))
def test_a_year_alone_differs_by_one_at_most_between_notes_of_a_patient(year: int, dates: list, patient: str) -> None:
    days = "".join(f" {{FECHAS:{day.day:02}/{day.month:02}/{year}}}" for day in dates)
    alone, beside = (int(after(f"{{FECHAS:{year}}}{rest}", patient)[0]) for rest in ("", days))
    assert abs(alone - beside) <= 1
    assert year not in (alone, beside)
