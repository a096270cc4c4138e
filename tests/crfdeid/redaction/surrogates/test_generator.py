"""Surrogates: of the same form, never the same but where a rule says so, and agreeing with each other."""

import datetime as dt
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.errors import SettingError, UnknownNameError, UsageError
from crfdeid.label_schemes import SURROGATE_KINDS, surrogate_kind
from crfdeid.redaction.surrogates import PRESERVED_KINDS, Surrogates, date_order_of, guess_locale, note_key
from crfdeid.redaction.surrogates.dates import patient_shift, shift_date
from crfdeid.redaction.surrogates.locales import given_name_sexes, locale_lists
from crfdeid.redaction.surrogates.place_tables import country_of, lettered_states
from crfdeid.redaction.surrogates.words import casefold_accents, casefold_words
from crfdeid.secrets import HmacChooser
from features.languages import LANGUAGES

SECRET = b"sixteen bytes or more"


def of_patient(number: int, locale: str = "en_US", **more) -> Surrogates:
    return Surrogates(note_key(SECRET, f"patient {number}", ""), locale, **more)


PATIENTS = [of_patient(number) for number in range(12)]
SPANISH = [of_patient(number, "es_ES") for number in range(12)]
ANYBODY = st.sampled_from(PATIENTS)


@pytest.mark.parametrize("ours", PATIENTS[:4])
def test_parts_of_a_name_are_parts_of_its_surrogate(ours: Surrogates) -> None:
    first, last = ours.of("Jane Quillan", "PATIENT").split()
    assert given_name_sexes()[casefold_accents(first)] == "female"
    assert ours.of("Quillan", "PATIENT") == last
    assert ours.of("QUILLAN, JANE", "PATIENT") == f"{last.upper()}, {first.upper()}"
    assert ours.of("Ms. Quillan's", "PATIENT") == f"Ms. {last}'s"
    assert ours.of("J. Quillan", "DOCTOR") == f"{first[0]}. {last}"
    assert ours.of("JQ", "DOCTOR") == first[0] + last[0]
    assert ours.of("JQR", "DOCTOR")[:2] == first[0] + last[0]
    assert ours.of("Dr. Jane Quillan-Roe", "DOCTOR").startswith(f"Dr. {first} {last}-")
    assert ours.of("jane", "PATIENT") == first.lower()


@pytest.mark.parametrize(
    ("names", "sex"),
    [
        (("Mary", "Linda", "Jennifer", "María", "Maria", "Carmen", "Rocío", "Montserrat", "Guadalupe"), "female"),
        (("Robert", "Kevin", "Brian", "José", "Jose", "Jesús", "Ángel", "Martín"), "male"),
    ],
)
def test_a_first_name_becomes_one_of_the_same_sex_whichever_lists_it_is_in(names: tuple[str, ...], sex: str) -> None:
    for locale in ("en_US", "es_ES"):
        known = casefold_words(" ".join(getattr(locale_lists(locale), sex)))
        for number in range(6):
            ours = of_patient(number, locale)
            assert all(casefold_accents(ours.of(name, "PATIENT")) in known for name in names)


def test_accents_and_case_make_no_other_name() -> None:
    for ours in SPANISH:
        assert ours.of("Maciá", "PATIENT") == ours.of("Macia", "PATIENT") == ours.of("Macia\u0301", "PATIENT")
        assert ours.of("MACIÁ", "PATIENT") == ours.of("Macia", "PATIENT").upper()
        assert casefold_accents(ours.of("Álvaro", "PATIENT")[0]) == casefold_accents(ours.of("A.", "PATIENT")[0])


def test_a_number_in_a_name_does_not_stay() -> None:
    assert PATIENTS[0].of("Quillan 48213", "PATIENT") == "[PATIENT]"


def test_hospitals_and_places_keep_what_they_are() -> None:
    ours = PATIENTS[0]
    tawn = ours.of("Tawn List Medical Center", "HOSPITAL")
    assert re.fullmatch(r"[A-Z]\w+ [A-Z]\w+ Medical Center", tawn)
    assert ours.of("Tawn List", "HOSPITAL") == tawn.removesuffix(" Medical Center")
    assert ours.of("Tawn Medical Center", "HOSPITAL")[0] + "MC" == ours.of("TMC", "HOSPITAL")
    assert re.fullmatch(r"\d\d [A-Z]\w+ Street", ours.of("14 Elder Street", "LOCATION"))
    assert re.fullmatch(r"[A-Z]\w+, [A-Z]{2} \d{5}", ours.of("Tawnville, MA 02139", "LOCATION"))
    assert re.fullmatch(
        r"\d\d [A-Z]\w+ Street, [A-Z]\w+, [A-Z]{2} \d{5}", ours.of("14 Elder Street, Tawnville, MA 02139", "LOCATION")
    )
    assert ours.of("Nevada", "STATE") in {state.name for state in lettered_states("en")} - {"Nevada"}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("C/ Olmo Viejo, nº 12, 3º B", r"C/ \p, nº [1-9]\d, [1-9]º [A-Z]"),
        ("Avda. de la Marina s/n", r"Avda\. de(l| las?| los)? \p s/n"),
        ("CALLE REAL 4", r"CALLE [A-ZÁÉÍÓÚÑÜ ]+ [1-9]"),
        ("Calle San Telmo, 14, Bajo izq", r"Calle San \p, [1-9]\d, Bajo izq"),
        ("Pº del Olmo 7", r"Pº de(l| las?| los)? \p [1-9]"),
        ("Plaza Dr. Olmo, 3", r"Plaza Dr\. \p, [1-9]"),
        ("Gran Vía, 12, 3 C", r"\p, [1-9]\d, [1-9] C"),
        ("Apartado de Correos 20134", r"Apartado de Correos \d{5}"),
        ("Carrera 43A, 1er piso", r"Carrera [1-9]\d[A-G], [2-9]º piso"),
        ("C/ Olmo 7, 3.º B", r"C/ \p [1-9], [1-9]\.º [A-G]"),
    ],
)
def test_spanish_streets_keep_what_they_are(text: str, form: str) -> None:
    for ours in SPANISH:
        found = ours.of(text, "CALLE")
        assert re.fullmatch(form.replace(r"\p", r"[A-ZÁÉÍÓÚÑ][\w ]+"), found), found


def test_spanish_postcodes_are_of_a_province() -> None:
    assert all(re.fullmatch(r"(0[1-9]|[1-4]\d|5[0-2])\d{3}", ours.of("28999", "TERRITORIO")) for ours in SPANISH)


def test_an_abbreviation_follows_the_hospital_that_the_note_spells_out() -> None:
    whole = "Hospital Universitario Virgen del Olmo"
    for number in range(12):
        ours = of_patient(number, "es_ES", hospitals=["HUVO", whole, "Hospital de Tawn"])
        found = ours.of(whole, "HOSPITAL")
        words = [word for word in found.split() if word[0].isupper()]
        assert found.startswith("Hospital Universitario Virgen de")
        assert found != whole
        short = ours.of("HUVO", "HOSPITAL")
        assert short == "".join(casefold_accents(word)[0] for word in words).upper() or short[-1] != "O"
        assert short != "HUVO"


def test_a_hospital_without_a_name_gets_another_kind_or_a_label() -> None:
    for ours in SPANISH:
        assert ours.of("Hospital General", "HOSPITAL").split()[0] == "Hospital"
        assert ours.of("Hospital General", "HOSPITAL") != "Hospital General"
        assert ours.of("Hospital", "HOSPITAL") == "[HOSPITAL]"


def test_a_country_is_a_country_of_its_region_and_the_same_each_time() -> None:
    for ours, locale in [(one, "en") for one in PATIENTS] + [(one, "es") for one in SPANISH]:
        for name in ("Mali", "Perú", "Francia", "India"):
            found = ours.of(name, "COUNTRY")
            new, old = country_of(found, locale), country_of(name, locale)
            assert new is not None and old is not None
            assert new.region == old.region
            assert found != name
            assert ours.of(name.upper(), "PAIS") == found.upper()
        if locale == "es":
            new = country_of(ours.of("Chile", "PAIS"), "es")
            assert new is not None and new.names[0] == ours.of("Chile", "PAIS")
    assert SPANISH[0].of("España", "PAIS") == "España"
    assert PATIENTS[0].of("España", "PAIS") != "España"
    assert PATIENTS[0].of("Quillania", "COUNTRY") == "[COUNTRY]"


SPANISH_MONTHS = [names[0] for names in LANGUAGES["es"].months]
# Dates by their forms, and the format in which the moved date must stand there.
FORMS = [
    ("03/14/72", "%m/%d/%y"),
    ("03/14/1972", "%m/%d/%Y"),
    ("03-14-1972", "%m-%d-%Y"),
    ("1972-03-14", "%Y-%m-%d"),
    ("1972/03/14", "%Y/%m/%d"),
    ("19720314", "%Y%m%d"),
    ("March 14, 1972", "%B %d, %Y"),
    ("Mar 14, 1972", "%b %d, %Y"),
    ("14 March 1972", "%d %B %Y"),
    ("14-Mar-1972", "%d-%b-%Y"),
    ("14MAR1972", "%d%b%Y"),
    ("14 of March of 1972", "%d of %B of %Y"),
    ("Tuesday, March 14, 1972", "%A, %B %d, %Y"),
    ("Tue 03/14/1972", "%a %m/%d/%Y"),
]


def shift_of_patient(number: int):
    return patient_shift(HmacChooser(note_key(SECRET, f"patient {number}", "")))


@pytest.mark.parametrize(("text", "form"), FORMS)
@pytest.mark.parametrize("number", range(4))
def test_dates_are_moved_and_written_as_before(text: str, form: str, number: int) -> None:
    new = dt.date(1972, 3, 14) + dt.timedelta(shift_of_patient(number).days)
    found = PATIENTS[number].of(text, "DATE")
    day = re.sub(r"(?<![0-9])0(?=[0-9])", "", new.strftime("%d"))
    expected = new.strftime(form if not re.search("%[bB]", form) else form.replace("%d", day))
    assert found.lower() == expected.lower()
    assert found.isupper() == text.isupper() or not any(map(str.isalpha, text))


def test_the_order_of_dates_is_that_of_the_note_then_that_of_the_locale() -> None:
    here, there = PATIENTS[0], of_patient(0, "es_ES")
    assert here.of("14/03/1972", "DATE") == there.of("14/03/1972", "DATE")
    day, month, _ = map(int, there.of("14/03/1972", "DATE").split("/"))
    assert there.of("14 de marzo de 1972", "DATE").startswith(f"{day} de ")
    assert here.of("03/14/1972", "DATE").split("/")[:2] == [f"{month:02}", f"{day:02}"]
    assert here.of("03/04/1972", "DATE") != there.of("03/04/1972", "DATE")
    assert of_patient(0, month_first=False).of("03/04/1972", "DATE") == there.of("03/04/1972", "DATE")


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Born 03/14/1972, seen 04/05/31", "mdy"),
        ("Nacida el 14/3/72; alta el 04.05.2031", "dmy"),
        ("04/05/2031 and 3/14", None),
        ("03/14/1972, 14/03/1972", None),
        ("03/14/1972, 14/03/1972, 15-03-1972", "dmy"),
        ("99/99/1999, 31/31/2000", None),
    ],
)
def test_the_order_of_a_note_is_that_of_its_unambiguous_dates(text: str, order: str | None) -> None:
    assert date_order_of(text) == order


DAYS = st.dates(dt.date(1905, 1, 1), dt.date(2038, 12, 31))
WAYS: dict[str, tuple[Callable[[dt.date], str], Callable[[str], float]]] = {
    "dd/mm/yyyy": (lambda day: day.strftime("%d/%m/%Y"), lambda s: dt.datetime.strptime(s, "%d/%m/%Y").toordinal()),
    "words": (
        lambda day: f"{day.day} de {SPANISH_MONTHS[day.month - 1]} de {day.year}",
        lambda s: dt.date(
            int(s.split(" de ")[2]), SPANISH_MONTHS.index(s.split(" de ")[1]) + 1, int(s.split(" de ")[0])
        ).toordinal(),
    ),
    "iso": (lambda day: day.isoformat(), lambda s: dt.date.fromisoformat(s).toordinal()),
    "month": (
        lambda day: f"{SPANISH_MONTHS[day.month - 1]} de {day.year}",
        lambda s: 12 * int(s.split(" de ")[1]) + SPANISH_MONTHS.index(s.split(" de ")[0]),
    ),
    "year": (lambda day: str(day.year), int),
}


@pytest.mark.parametrize(
    ("text", "like"),
    [("3 de ABRİL de 1972", "3 de ABRIL de 1972"), ("5 ſept 20", "5 sept 20"), ("MİÉRCOLES", "MIÉRCOLES")],
)
def test_a_date_in_letters_that_are_others_without_case_is_moved(text: str, like: str) -> None:
    shift = patient_shift(HmacChooser(b"any"))
    assert shift_date(text, shift, month_first=False) == shift_date(like, shift, month_first=False)


@given(st.integers(0, 2**32), DAYS, DAYS, st.sampled_from(sorted(WAYS)))
def test_intervals_between_dates_of_one_form_are_exact(key: int, one: dt.date, other: dt.date, way: str) -> None:
    write, read = WAYS[way]
    shift = patient_shift(HmacChooser(key.to_bytes(32)))
    texts = [write(one), write(other)]
    found = [shift_date(text, shift, month_first=False) or "" for text in texts]
    assert read(found[1]) - read(found[0]) == read(texts[1]) - read(texts[0])
    assert all(a != b for a, b in zip(texts, found, strict=True))


@given(st.integers(0, 2**32), DAYS)
def test_a_month_or_a_year_alone_is_moved_as_whole_dates_are_to_the_month_or_year(key: int, day: dt.date) -> None:
    shift = patient_shift(HmacChooser(key.to_bytes(32)))
    whole, month, year = (
        WAYS[way][1](shift_date(WAYS[way][0](day), shift, month_first=False) or "") for way in ("iso", "month", "year")
    )
    new = dt.date.fromordinal(int(whole))
    assert abs(12 * new.year + new.month - 1 - month) <= 1
    assert abs(new.year - year) <= 1


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("March of last year", r"[A-Z][a-z]+ of last year"),
        ("March 14th", r"[A-Z][a-z]+ \d{1,2}(st|nd|rd|th)"),
        ("3/14", r"\d{1,2}/\d{1,2}"),
        ("3/1972", r"\d{1,2}/19\d\d"),
        ("3/72", r"\d{1,2}/\d\d"),
        ("in 1972", r"in 19\d\d"),
        ("3/14/72 - 3/16/72", r"\d+/\d+/\d\d - \d+/\d+/\d\d"),
        ("10:45 on 3/14", r"10:45 on \d+/\d+"),
        ("Tues", r"[A-Z][a-z]+"),
        ("martes 14 de marzo", r"(lunes|miércoles|jueves|viernes|sábado|domingo) \d+ de [a-z]+"),
        ("2/30/01", r"\[DATE\]"),
        ("the '90s", r"\[DATE\]"),
        ("Michaelmas", r"\[DATE\]"),
        ("yesterday", r"\[DATE\]"),
        ("3/14/72, MRN 4821337", r"\[DATE\]"),
    ],
)
def test_other_dates_keep_their_form_or_get_a_label(text: str, form: str) -> None:
    for ours in PATIENTS:
        found = ours.of(text, "DATE")
        assert re.fullmatch(form, found), found
        assert found != text


def test_years_of_dates_do_not_stay() -> None:
    for ours in PATIENTS:
        assert not {"1972", "72", "March"} & set(re.split(r"\W", ours.of("March 1972, 3/14/72, March", "DATE")))


@pytest.mark.parametrize(
    ("text", "label"),
    [("(617) 555-0134 x12", "PHONE"), ("MRN 48-2213-7b", "ID"), ("02139", "ZIP"), ("+34 999 555 013", "FAX")],
)
def test_numbers_keep_their_shape(text: str, label: str) -> None:
    found = PATIENTS[0].of(text, label)
    assert [c.isdigit() for c in found] == [c.isdigit() for c in text]
    assert [c for c in found if not c.isalnum()] == [c for c in text if not c.isalnum()]
    assert found != text
    assert found.startswith(("MRN", "+34 9")) == text.startswith(("MRN", "+34"))


def test_how_a_number_is_written_does_not_matter() -> None:
    ours = PATIENTS[0]
    assert re.sub(r"\D", "", ours.of("555-0134", "PHONE")) == re.sub(r"\D", "", ours.of("555 01 34", "PHONE"))


def test_addresses_on_the_net_are_nobodys() -> None:
    ours = PATIENTS[0]
    assert re.fullmatch(r"[a-z]+\d\d@example\.org", ours.of("j.quill@tawn.org", "EMAIL"))
    assert re.fullmatch(r"https://www\.[a-z]+\.example\.org/[a-z]+\d\d", ours.of("https://www.tawn.org/jq", "URL"))
    assert re.fullmatch(r"(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+", ours.of("10.1.2.3", "IPADDR"))
    assert ours.of("Jane Quill", "EMAIL") == "[EMAIL]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("45 years", "45 years"),
        ("two-year-old", "two-year-old"),
        ("dos años", "dos años"),
        ("93", "90+"),
        ("93-year-old", "90+-year-old"),
        ("95 years 3 months", "90+ years 3 months"),
        ("95 años y 3 meses", "90+ años y 3 meses"),
        ("93-95 months", "93-95 months"),
        ("one hundred and twelve", "ninety-something"),
        ("ciento doce años", "noventa y tantos años"),
        ("Centenarian", "Ninety-something"),
        ("nonagenaria", "noventa y tantos"),
        ("noventa y tres años", "noventa y tantos años"),
        ("Ninety-three", "Ninety-something"),
        ("120 días", "120 días"),
        ("Quill, 45", "[AGE]"),
        ("1945", "[AGE]"),
        ("4821337", "[AGE]"),
    ],
)
def test_ages_stay_but_those_of_ninety_and_more(text: str, expected: str) -> None:
    assert {ours.of(text, "AGE") for ours in PATIENTS} == {expected}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("madre", "madre"),
        ("hermano mayor de 6 años", "hermano mayor de 6 años"),
        ("padre de 91 años", r"padre de 90\+ años"),
        ("hermana Ana Marta Olmo Roble", r"hermana \w+ \w+ \w+ \w+"),
        ("Ana", r"\w+"),
        ("hija, carpintera", r"\[FAMILIARES_SUJETO_ASISTENCIA\]"),
    ],
)
def test_kin_is_kept_and_names_among_them_are_not(text: str, form: str) -> None:
    for ours in SPANISH:
        found = ours.of(text, "FAMILIARES_SUJETO_ASISTENCIA")
        assert re.fullmatch(form, found)
        assert not {"Ana", "Marta", "Olmo", "Roble"} & set(found.split())


@pytest.mark.parametrize("text", ["H", "Varón", "mujer", "N iña", "Female"])
def test_a_sex_is_kept(text: str) -> None:
    assert SPANISH[0].of(text, "SEXO_SUJETO_ASISTENCIA") == text
    assert SPANISH[0].of("Roble", "SEXO_SUJETO_ASISTENCIA") == "[SEXO_SUJETO_ASISTENCIA]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("minero", "minero"),
        ("Carpinteras", "Carpinteras"),
        ("ama de casa", "ama de casa"),
        ("trabajador de la construcción", "trabajador de la construcción"),
        ("retired coal miner", "retired coal miner"),
        ("Shepherd", "Shepherd"),
        ("médico del Hospital Olmo", "médico"),
        ("engineer at Quill Works", "engineer"),
        ("alcaldesa de Tejo", "[PROFESSION]"),
        ("mayor of Tawn", "[PROFESSION]"),
        ("Quill", "[PROFESSION]"),
        ("casa", "[PROFESSION]"),
    ],
)
def test_an_occupation_that_many_have_stays_and_no_other_does(text: str, expected: str) -> None:
    assert {ours.of(text, "PROFESSION") for ours in (*PATIENTS, *SPANISH)} == {expected}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Esquizofrenia Residual (F20.5)", "PHI"),
        ("tatuaje", "OTROS_SUJETO_ASISTENCIA"),
        ("lactante", "ID_SUJETO_ASISTENCIA"),
        ("Residente de 5º año", "ID_EMPLEO_PERSONAL_SANITARIO"),
        ("sees a friend", "PHONE"),
        ("anything", "no such type"),
    ],
)
def test_what_has_no_honest_substitute_gets_a_label(text: str, label: str) -> None:
    assert {ours.of(text, label) for ours in SPANISH} == {f"[{label}]"}


def test_another_patient_or_secret_has_other_surrogates() -> None:
    names = {ours.of("Jane Quillan", "PATIENT") for ours in PATIENTS}
    assert len(names) > len(PATIENTS) / 2
    assert len({Surrogates(note_key(bytes([n]) * 16, "p", ""), "en_US").of("48-2213-7", "ID") for n in range(20)}) == 20
    assert len({patient_shift(HmacChooser(bytes([n]) * 32)) for n in range(50)}) > 25


@pytest.mark.parametrize(
    ("locale", "error"),
    [
        ("xx_XX", UnknownNameError),
        ("zh_CN", SettingError),
        ("ru_RU", SettingError),
        ("am_ET", SettingError),
        ("vi_VN", SettingError),
    ],
)
def test_a_locale_without_usable_names_is_refused(locale: str, error: type[UsageError]) -> None:
    with pytest.raises(error, match=locale):
        locale_lists(locale)


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("Pt seen by Dr. Quill on 3/14.", "en_US"),
        ("Paciente vista por la Dra. Roble.", "es_ES"),
        ("Ms. Quill called: please phone her", "en_US"),
        ("NHC 4821. Nombre: Ana. Domicilio: C/ Olmo", "es_ES"),
        ("Die Patientin wurde von Dr. Ahorn am 3.4. gesehen", "de_DE"),
        ("Le patient est suivi par le Dr Ormeau dans le service", "fr_FR"),
        ("A paciente foi vista pelo Dr. Olmo, com dor, não dorme", "pt_BR"),
        ("Il paziente è stato visto dal dr. Olmo, non dorme", "it_IT"),
        ("De patiënt werd gezien door dr. Olm en is niet ziek", "nl_NL"),
        ("El pacient va amb els pares i no té anys", None),  # Catalan, which has no pack
        ("Quill 555-0134", None),
        ("Seen la", None),
        ("", None),
    ],
)
def test_the_language_is_told_from_the_text_or_not_at_all(text: str, locale: str | None) -> None:
    assert guess_locale(text) == locale


@pytest.mark.parametrize(
    ("text", "label", "form"),
    [
        ("555-0134", "PHONE_NUMBER", r"5\d\d-\d{4}"),
        ("(617) 555-0134 x12", "FAX_NUMBER", r"\(6\d\d\) \d{3}-\d{4} x\d\d"),
        ("j.quill@tawn.org", "EMAIL_ADDRESS", r"[a-z]+\d\d@example\.org"),
        ("10.20.0.7", "IP_ADDRESS", r"(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+"),
        ("www.tawn.org", "WEB_URL", r"www\.[a-z]+\.example\.org"),
        ("MRN 4821337", "MEDICAL_RECORD_NUMBER", r"MRN \d{7}"),
        ("HPB-48221", "HEALTH_PLAN_BENEFICIARY_NUMBER", r"[A-Z]{3}-\d{5}"),
        ("482-21-3448", "SOCIAL_SECURITY_NUMBER", r"\d{3}-\d\d-\d{4}"),
        ("AC 48221", "ACCOUNT_NUMBER", r"[A-Z]{2} \d{5}"),
        ("TL 48221", "CERTIFICATE_LICENSE_NUMBER", r"[A-Z]{2} \d{5}"),
        ("SN-48221-X", "DEVICE_IDENTIFIER", r"[A-Z]{2}-\d{5}-[A-Z]"),
        ("1HGCM82633A004352", "VEHICLE_IDENTIFIER", r"\d[A-Z]{4}\d{5}[A-Z]\d{6}"),
        ("UX-48221", "UNIQUE_IDENTIFIER", r"[A-Z]{2}-\d{5}"),
        ("Tawnville, Ohio", "GEOGRAPHIC_LOCATION", r"[A-Z]\w+, [A-Z][A-Za-z ]+"),
        ("her older sister", "RELATIVE", "her older sister"),
        ("retired farmer", "OCCUPATION", "retired farmer"),
        ("555-0134", "CONTACT", r"5\d\d-\d{4}"),
        ("j.quill@tawn.org", "CONTACT", r"[a-z]+\d\d@example\.org"),
        ("10.20.0.7", "CONTACT", r"(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+"),
        ("www.tawn.org", "CONTACT", r"www\.[a-z]+\.example\.org"),
    ],
)
def test_types_of_other_schemes_have_surrogates_of_their_form(text: str, label: str, form: str) -> None:
    for ours in PATIENTS:
        found = ours.of(text, label)
        assert re.fullmatch(form, found), found
        assert (found == text) == (label in ("RELATIVE", "OCCUPATION"))


LABELS = st.sampled_from([*SURROGATE_KINDS, "SEXO_SUJETO_ASISTENCIA", "PHI", "no such type"])
VALUES = st.one_of(
    st.text(min_size=1, max_size=30),
    st.from_regex(r"[A-Z][a-z]{1,8}( [A-Z]\.?)? [A-Z][a-z']{1,8}", fullmatch=True),
    st.from_regex(r"[0-9]{1,4}[-/. ][0-9]{1,2}([-/. ][0-9]{1,4})?", fullmatch=True),
    st.sampled_from(
        ["General Hospital", "Street", "Dr.", "de la", "yesterday", "May", "\n", "*", "#*", "90", "İ", "ß", "[PHI]"]
    ),
    st.sampled_from(["C/ Olmo 4", "HUVO", "a@b.example", "http://b.example", "1.2.3.4", "noventa años", "²", "3º B"]),
)


@given(st.sampled_from([*PATIENTS[:3], *SPANISH[:3]]), VALUES, LABELS)
def test_a_surrogate_is_never_the_value_but_by_rule_and_always_the_same(
    ours: Surrogates, value: str, label: str
) -> None:
    found = ours.of(value, label)
    assert found
    assert casefold_accents(found) != casefold_accents(value) or surrogate_kind(label) in PRESERVED_KINDS
    assert ours.of(value, label) == found


WORDS = "Jane,Quillan,Roe,Maciá,Macia,Olmo,José,Marta,TAWN,Tawn,O'Neill"
NAMES = st.lists(st.sampled_from(WORDS.split(",")), max_size=8)


@given(NAMES, st.randoms())
def test_the_order_of_values_does_not_matter(names: list[str], random) -> None:
    def surrogates(values: list[str]) -> dict[str, str]:
        ours = of_patient(3, "es_ES")
        return {value: ours.of(value, "PATIENT") for value in values}

    shuffled = list(names)
    random.shuffle(shuffled)
    assert surrogates(names) == surrogates(shuffled)


@given(st.integers(0, 2**32), st.integers(0, 365 * 120))
def test_any_day_is_moved_by_the_same_number(key: int, day: int) -> None:
    shift = patient_shift(HmacChooser(key.to_bytes(32)))
    assert -3400 < shift.days < -280
    assert shift.days % 7
    date = dt.date(1910, 1, 1) + dt.timedelta(day)
    new = date + dt.timedelta(shift.days)
    assert shift_date(date.isoformat(), shift, month_first=True) == new.isoformat()
    assert (new.month, new.year) != (date.month, date.year)
    assert new.month != date.month
