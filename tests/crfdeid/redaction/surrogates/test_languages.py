"""Surrogates in German and French, and in a further language that is one data file."""

import datetime as dt
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from invented_language import PACK

import features
from crfdeid.documents import Document, Span
from crfdeid.redaction.redact import redact
from crfdeid.redaction.surrogates.choices import Chooser
from crfdeid.redaction.surrogates.dates import DateShift, shift_date
from crfdeid.redaction.surrogates.generator import Surrogates, note_key
from crfdeid.redaction.surrogates.locales import locale_lists
from crfdeid.redaction.surrogates.place_tables import other_country, provinces
from crfdeid.redaction.surrogates.words import surrogate_table
from features.languages import LANGUAGES

SECRET = b"an invented secret"
MONTHS = {
    "de_DE": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr_FR": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}
WEEKDAYS = {
    "de_DE": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "fr_FR": "lundi mardi mercredi jeudi vendredi samedi dimanche",
}
LATER = DateShift(31, 1, 0)  # a month without 31 days becomes another day
MARKED = re.compile(r"\{([A-Z]+):([^{}]*)\}")


def note(marked: str) -> Document:
    """A document from a text with its PHI marked as {TYPE:text}."""
    plain, spans, end = "", [], 0
    for match in MARKED.finditer(marked):
        plain += marked[end : match.start()]
        spans.append(Span(len(plain), len(plain) + len(match[2]), match[1]))
        plain += match[2]
        end = match.end()
    return Document("1", plain + marked[end:], tuple(spans))


def new_values(marked: str, locale: str, secret: bytes = SECRET) -> list[str]:
    """The surrogates of a marked text."""
    found = redact(note(marked), "surrogate", secret=secret, locale=locale)
    return [found.text[start:end] for start, end, _ in found.spans]


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("de_DE", "3. März 1962", "3. April 1962"),
        ("de_DE", "3. MÄRZ 1962", "3. APRIL 1962"),
        ("de_DE", "03.03.62", "03.04.62"),
        ("de_DE", "3.3.", "3.4."),
        ("de_DE", "Dienstag, den 4. März 2014", "Freitag, den 4. April 2014"),
        ("de_DE", "Di., 4.3.2014", "Fr., 4.4.2014"),
        ("de_DE", "dienstags", "freitags"),
        ("de_DE", "15. Aug. 2019", "15. Sept. 2019"),
        ("de_DE", "15. Sept. 2019", "16. Okt. 2019"),
        ("de_DE", "8. Dez. 2019", "8. Jan. 2020"),
        ("de_DE", "3. Apr. 2019", "4. Mai 2019"),
        ("de_DE", "Anfang Jänner 2020", "Anfang Februar 2020"),
        ("de_DE", "Juli bis September 2023", "August bis Oktober 2023"),
        ("de_DE", "1., 15. und 29. August 2021", "1., 15. und 29. September 2021"),
        ("de_DE", "29. August bis 2. September 2021", "29. September bis 3. Oktober 2021"),
        ("de_DE", "29. und 31. Dezember 2020", "29. und 31. Januar 2021"),
        ("de_DE", "Herbst 2019", "Herbst 2019"),
        ("de_DE", "30. Februar 2020", None),
        ("de_DE", "Ostern 2020", None),
        ("fr_FR", "1er mai 2014", "1er juin 2014"),
        ("fr_FR", "le 1er avril 2014", "le 2 mai 2014"),
        ("fr_FR", "30 mars 2014", "30 avril 2014"),
        ("fr_FR", "1er JUILLET 1999", "1er AOÛT 1999"),
        ("fr_FR", "31 août 2014", "1er octobre 2014"),
        ("fr_FR", "mardi 4 mars", "vendredi 4 avril"),
        ("fr_FR", "mar. 04/03/14", "ven. 04/04/14"),
        ("fr_FR", "10 janv. 2024", "10 févr. 2024"),
        ("fr_FR", "10 févr. 2023", "13 mars 2023"),
        ("fr_FR", "fin décembre 2020", "fin janvier 2021"),
        ("fr_FR", "1er, 15 et 29 août 2021", "1er, 15 et 29 septembre 2021"),
        ("fr_FR", "du 30 août au 2 septembre", "du 30 septembre au 3 octobre"),
        ("fr_FR", "5 au 26 août 2016", "5 au 26 septembre 2016"),
        ("fr_FR", "mi-2021", "mi-2021"),
        ("fr_FR", "Noël 2020", None),
    ],
)
def test_dates_shift_in_their_language_and_form(locale: str, text: str, expected: str | None) -> None:
    assert shift_date(text, LATER, month_first=False, locale=locale) == expected


def test_a_day_without_a_year_moves_as_the_whole_dates_of_the_note() -> None:
    whole, alone = new_values("Vom {DATE:28.11.2019} bis {DATE:4.12.}", "de_DE")
    later = dt.datetime.strptime(whole, "%d.%m.%Y").date() + dt.timedelta(6)
    assert alone == f"{later.day}.{later.month}."


@pytest.mark.parametrize("locale", MONTHS)
@given(day=st.dates(dt.date(1900, 1, 1), dt.date(2039, 12, 31)), days=st.integers(-4000, 4000))
def test_a_shifted_date_in_words_is_the_shifted_date(locale: str, day: dt.date, days: int) -> None:
    written, shifted = in_words(day, locale), day + dt.timedelta(days)
    assert shift_date(written, DateShift(days, 0, 0), month_first=False, locale=locale) == in_words(shifted, locale)


def in_words(day: dt.date, locale: str) -> str:
    """A date with its day of the week: "Dienstag, 4. März 2014", "mardi 4 mars 2014"."""
    weekday, month = WEEKDAYS[locale].split()[day.weekday()], MONTHS[locale].split()[day.month - 1]
    if locale == "de_DE":
        return f"{weekday}, {day.day}. {month} {day.year}"
    return f"{weekday} {'1er' if day.day == 1 else day.day} {month} {day.year}"


TITLED = {
    "de": {"female": ("Frau ", "Schwester ", "Frau Dr. med. "), "male": ("Herr ", "Herrn ", "Pfarrer ")},
    "fr": {"female": ("Mme ", "Sœur ", "Madame "), "male": ("M. ", "Monsieur ", "le frère ")},
}


@st.composite
def titled_names(draw: st.DrawFn) -> tuple[str, str, str]:
    """A language, the sex of a given name, and a title of that sex with the name."""
    code, sex = draw(st.sampled_from(["de", "fr"])), draw(st.sampled_from(["female", "male"]))
    other = getattr(LANGUAGES[code], "male" if sex == "female" else "female")
    names = [one for one in getattr(LANGUAGES[code], sex) if one.isalpha() and len(one) > 3 and one not in other]
    return code, sex, draw(st.sampled_from(TITLED[code][sex])) + draw(st.sampled_from(names))


@settings(max_examples=60)
@given(titled_names(), st.binary(min_size=16, max_size=16))
def test_given_names_keep_their_sex_and_title(titled: tuple[str, str, str], secret: bytes) -> None:
    code, sex, name = titled
    marked = f"{{PATIENT:{name} Quillmann}}"
    (found,) = new_values(marked, {"de": "de_DE", "fr": "fr_FR"}[code], secret)
    *title, first, last = found.split()
    assert title == name.split()[:-1]
    known = {
        kind: {*getattr(LANGUAGES[code], kind), *LANGUAGES[code].entries("surrogates", "names", kind)}
        for kind in ("female", "male")
    }
    assert first in known[sex]
    assert last != "Quillmann"


@pytest.mark.parametrize("secret", [b"an invented secret", b"yet another secret", b"the third of them all"])
@pytest.mark.parametrize(
    "marked",
    [
        "{PATIENT:Herr Vogelsang} kam. {PATIENT:Herrn Vogelsangs} Frau rief an.",
        "{PATIENT:Emma Vogelsang} schlief. {PATIENT:Emma Vogelsangs} Fieber sank.",
        "{PATIENT:Jörg von Olmberg} kam. {PATIENT:von Olmbergs} Befund liegt vor.",
        "{PATIENT:Ina Quill-Roe} kam. {PATIENT:Quill-Roes} Befund liegt vor.",
        "{PATIENT:HERR OLMBERG} kam. {PATIENT:HERRN OLMBERGS} Befund liegt vor.",
    ],
)
def test_a_german_genitive_keeps_its_ending(marked: str, secret: bytes) -> None:
    name, genitive = new_values(marked, "de_DE", secret)
    last = regex.split(r"[\s-]", name)[-1]
    ending = "'" if last[-1].lower() in "sßxz" else "S" if last.isupper() else "s"
    assert regex.split(r"[\s-]", genitive)[-1] == last + ending


def test_a_name_that_ends_in_s_is_no_genitive() -> None:
    first, last = new_values("{PATIENT:Thomas Quill} kam. {PATIENT:Herr Peters} auch.", "de_DE")
    assert first.split()[0] in LANGUAGES["de"].entries("surrogates", "names", "male")
    assert last.split()[1] in locale_lists("de_DE").last


@pytest.mark.parametrize(
    ("locale", "text", "form"),
    [
        ("de_DE", "Quillmann-Roe", r"\p{Lu}\p{Ll}+-\p{Lu}\p{Ll}+"),
        (
            "de_DE",
            "Prof. Dr. Dr. h. c. Ina Freifrau von Olmberg",
            r"Prof\. Dr\. Dr\. h\. c\. \p{L}+ Freifrau von \p{L}+",
        ),
        ("de_DE", "Frau Ina Quill geb. Roe", r"Frau \p{L}+ \p{L}+ geb\. \p{L}+"),
        ("de_DE", "Dr. Th. Quill", r"Dr\. \p{Lu}\. \p{L}+"),
        ("de_DE", "QUILL, INA", r"\p{Lu}+, \p{Lu}+"),
        ("fr_FR", "M. Jean-Pierre Quillard", r"M\. \p{L}+-\p{L}+ \p{L}+"),
        ("fr_FR", "docteur Luc de La Quillière", r"docteur \p{L}+ de La \p{L}+"),
        ("fr_FR", "Mme Ève d'Olmeraie", r"Mme \p{L}+ d'[AEÉHIOUY]\p{L}+"),
        ("fr_FR", "QUILLARD Jeanne", r"\p{Lu}{2,} \p{Lu}\p{Ll}+"),
        ("fr_FR", "Mme Jeanne Quillard veuve Roe", r"Mme \p{L}+ \p{L}+ veuve \p{L}+"),
    ],
)
def test_titles_particles_and_the_form_of_names_stay(locale: str, text: str, form: str) -> None:
    (found,) = new_values(f"{{DOCTOR:{text}}}", locale)
    assert regex.fullmatch(form, found)
    assert found != text


@pytest.mark.parametrize(
    ("locale", "text", "name"),
    [
        ("de_DE", "Herr Graf", "Graf"),
        ("de_DE", "Graf, Ina", "Graf"),
        ("de_DE", "Frau Hauptmann-Quill", "Hauptmann"),
        ("fr_FR", "M. Pasteur", "Pasteur"),
    ],
)
def test_a_title_in_the_place_of_a_family_name_is_one(locale: str, text: str, name: str) -> None:
    (found,) = new_values(f"{{PATIENT:{text}}}", locale)
    assert name not in found
    assert len(regex.findall(r"\p{L}+", found)) == len(regex.findall(r"\p{L}+", text))


def test_a_name_in_small_letters_in_an_institution_is_replaced() -> None:
    _, found = new_values("{DOCTOR:Dr. Quillmann} und {HOSPITAL:Praxis quillmann}", "de_DE")
    assert re.fullmatch(r"Praxis (?!quillmann)\w+", found)


@pytest.mark.parametrize(
    ("locale", "text", "form"),
    [
        ("de_DE", "Quillweg 4a", r"\p{L}+weg \d[a-g]"),
        ("de_DE", "Quillstr. 17", r"\p{L}+str\. \d\d"),
        ("de_DE", "quillstraße 9", r"\p{Ll}+straße \d"),
        ("de_DE", "Otto-Quill-Straße 10", r"\p{L}+-\p{L}+-Straße \d\d"),
        ("de_DE", "Quiller Straße 12-14", r"\p{L}+er Straße \d\d-\d\d"),
        ("de_DE", "Am Alten Quill 12", r"\p{Lu}.*\p{L} \d\d"),
        ("de_DE", "Quillplatz 3, 2. OG links", r"\p{L}+platz \d, \d\. OG links"),
        ("fr_FR", "12 bis, rue de la Quille", r"\d\d bis, rue (?:de|du|des)\b.+"),
        ("fr_FR", "8 place Quillard", r"\d place \p{Lu}.*"),
        ("fr_FR", "31 RUE DU QUILLET, 3E ÉTAGE", r"\d\d RUE \p{Lu}.+, \dE ÉTAGE"),
        ("fr_FR", "BP 40", r"BP \d\d"),
    ],
)
def test_streets_keep_their_form(locale: str, text: str, form: str) -> None:
    (found,) = new_values(f"{{STREET:{text}}}", locale)
    assert regex.fullmatch(form, found)
    assert "quill" not in found.lower()


@pytest.mark.parametrize(
    ("locale", "text", "form"),
    [
        ("de_DE", "Universitätsklinikum Tübingen", r"Universitätsklinikum (?!Tübingen)\p{Lu}.+"),
        ("de_DE", "St.-Josefs-Hospital Bochum", r"St\.-\p{L}+-Hospital (?!Bochum)\p{Lu}.+"),
        ("de_DE", "Amtsgericht Celle", r"Amtsgericht (?!Celle)\p{Lu}.+"),
        ("de_DE", "Praxis Dr. Quill", r"Praxis Dr\. (?!Quill)\p{L}+"),
        ("de_DE", "KLINIKUM KASSEL", r"KLINIKUM (?!KASSEL)\p{Lu}.+"),
        ("fr_FR", "CHU de Nantes", r"CHU de (?!Nantes)\p{Lu}.+"),
        ("fr_FR", "hôpital Sainte-Anne", r"hôpital Sainte-(?!Anne)\p{Lu}\p{L}+"),
        ("fr_FR", "clinique Saint-Luc", r"clinique Saint-(?!Luc)\p{Lu}\p{L}+"),
        ("fr_FR", "EHPAD Les Glycines", r"EHPAD L\p{L}+ (?!Glycines)\p{Lu}.+"),
        ("fr_FR", "tribunal d'instance d'Angers", r"tribunal d'instance (?:d'[AEÉHIOUY]|de (?![AEIOU])\p{Lu}).+"),
    ],
)
@pytest.mark.parametrize("secret", [b"an invented secret", b"yet another secret"])
def test_institutions_keep_their_kind(locale: str, text: str, form: str, secret: bytes) -> None:
    (found,) = new_values(f"{{HOSPITAL:{text}}}", locale, secret)
    assert regex.fullmatch(form, found)


@pytest.mark.parametrize("locale", [pack.locale for pack in LANGUAGES.values()])
@pytest.mark.parametrize("name", ["Navarro", "Gallego", "Johnson Navarro"])
def test_an_adjective_of_a_spanish_region_is_a_family_name_elsewhere(locale: str, name: str) -> None:
    text = f"{name} Hospital" if locale.startswith("en") else f"Hospital {name}"
    (found,) = new_values(f"{{HOSPITAL:{text}}}", locale)
    assert found != text and set(name.split()).isdisjoint(found.split())


KINDS = {
    "en_US": "Dialysis/Imaging/Hospice/Rehab/Urgent Care/Pharmacy/Surgery Center/Nursing Home/Home Health"
    "/Behavioral Health/Assisted Living/Skilled Nursing Facility/Eye Clinic/Sleep Lab/Pediatrics/Physical Therapy"
    "/Infusion/Recovery Center/Outpatient Radiology/Wound Care"
    "/Emergency Department/Primary Care Partners/Orthopaedic Specialists",
    "en_GB": "Surgery/Walk-in Centre/Care Home/Dental Practice/Maternity Unit/NHS Trust",
    "es_ES": "Centro de Diálisis/Farmacia/Residencia de Mayores/Centro de Fisioterapia/Laboratorio de Análisis"
    "/Diagnóstico por Imagen/Hospital de Día/Centro de Rehabilitación/Óptica/Cuidados Paliativos/Atención Domiciliaria",
    "de_DE": "Dialyse/Dialysezentrum/Hospiz/Apotheke/Pflegedienst/Reha/Physiotherapie/Radiologie"
    "/Häusliche Krankenpflege/Tagesklinik/Sozialstation/Strahlentherapie/Notaufnahme/Zahnarzt",
    "fr_FR": "Centre de dialyse/Pharmacie/Imagerie médicale/EHPAD/Soins palliatifs/Cabinet infirmier/Maison de retraite"
    "/Centre de rééducation/Hospitalisation à domicile/Ambulances/Kinésithérapie/Urgences/Cabinet dentaire",
}


@pytest.mark.parametrize(
    ("locale", "kind"), [(locale, kind) for locale, all in KINDS.items() for kind in all.split("/")]
)
def test_each_kind_of_institution_stays(locale: str, kind: str) -> None:
    for name in ("Riverbend", "Quillmann"):
        text = f"{name} {kind}" if locale.startswith("en") else f"{kind} {name}"
        for shown in (text, text.upper()):
            (found,) = new_values(f"{{HOSPITAL:{shown}}}", locale)
            words = [word for word in shown.split() if word.lower() != name.lower()]
            assert [word for word in found.split() if word in words] == words
            assert name.lower() not in found.lower() and len(found.split()) > len(words)


@pytest.mark.parametrize(
    ("locale", "postcode", "town"),
    [
        ("de_DE", "72070", "Tübingen"),
        ("de_DE", "D-80331", "München"),
        ("de_DE", "54321", "Quillheim"),
        ("de_DE", "CH-8400", "Winterthur"),
        ("de_DE", "A-2700", "Wiener Neustadt"),
        ("fr_FR", "44000", "Nantes"),
        ("fr_FR", "67000", "Quillwiller"),
        ("fr_FR", "B-5000", "Namur"),
    ],
)
@pytest.mark.parametrize("secret", [b"an invented secret", b"yet another secret"])
def test_a_town_lies_where_its_postcode_says(locale: str, postcode: str, town: str, secret: bytes) -> None:
    new_postcode, new_town = new_values(f"{{ZIP:{postcode}}} {{CITY:{town}}}", locale, secret)
    country, _, digits = new_postcode.rpartition("-")
    assert (country, len(digits)) == (postcode.rpartition("-")[0], len(postcode.rpartition("-")[2]))
    number = ("" if country == "D" else country) + digits[:2]
    (row,) = (one for one in provinces(locale[:2]) if number in (one.number, *one.further_numbers))
    assert new_town in {names[0] for names in (row.capitals, *row.towns)}
    assert new_town != town


@pytest.mark.parametrize(
    ("locale", "number", "form"),
    [
        ("de_DE", "65 130367 O 123", r"\d\d (?P<day>\d\d)(?P<month>\d\d)(?P<year>\d\d) [A-Z] \d{3}"),
        ("de_DE", "4822 130367", r"\d{4} (?P<day>\d\d)(?P<month>\d\d)(?P<year>\d\d)"),
        ("fr_FR", "67.03.13-482.21", r"(?P<year>\d\d)\.(?P<month>\d\d)\.(?P<day>\d\d)-\d{3}\.\d\d"),
    ],
)
def test_a_number_with_a_date_of_birth_agrees_with_it(locale: str, number: str, form: str) -> None:
    birth, found = new_values(f"{{DATE:13.03.1967}}, {{SSN:{number}}}", locale)
    match = re.fullmatch(form, found)
    assert match
    assert f"{match['day']}.{match['month']}.19{match['year']}" == birth


def test_a_french_number_keeps_the_sex_and_has_a_month() -> None:
    (found,) = new_values("{SSN:2 61 07 59 512 048 33}", "fr_FR")
    assert re.fullmatch(r"2 \d\d (?:0[1-9]|1[0-2]) \d\d \d{3} \d{3} \d\d", found)


@pytest.mark.parametrize(
    ("locale", "text", "start"),
    [
        ("de_DE", "07071/29-84211", "07"),
        ("de_DE", "0171 4822134", "01[567]"),
        ("de_DE", "030 4822134", "0[4689][09] "),
        ("de_DE", "+49 6421 482213", r"\+49 6"),
        ("de_DE", "+49 (0)221 482213", r"\+49 \(0\)[2-9][0-9]1 "),
        ("fr_FR", "01 45 67 89 10", "01 "),
        ("fr_FR", "+33 (0)3 88 48 22 13", r"\+33 \(0\)3"),
    ],
)
def test_telephones_keep_their_prefix_or_get_an_area_code_and_keep_their_shape(
    locale: str, text: str, start: str
) -> None:
    (found,) = new_values(f"{{PHONE:{text}}}", locale)
    assert re.match(start, found)
    assert re.sub(r"\d", "0", found) == re.sub(r"\d", "0", text)
    assert found != text


@pytest.mark.parametrize(
    ("locale", "label", "text", "expected"),
    [
        ("de_DE", "AGE", "62-jährig", "62-jährig"),
        ("de_DE", "AGE", "93 Jahre", "90+ Jahre"),
        ("de_DE", "AGE", "95 Monate", "95 Monate"),
        ("de_DE", "AGE", "dreiundneunzig Jahre", "über neunzig Jahre"),
        ("de_DE", "AGE", "Quill", "[AGE]"),
        ("de_DE", "SEX", "weiblich", "weiblich"),
        ("de_DE", "RELATIVE", "Schwiegertochter", "Schwiegertochter"),
        ("de_DE", "PROFESSION", "Verkäuferin", "Verkäuferin"),
        ("de_DE", "PROFESSION", "Bürgermeister", "[PROFESSION]"),
        ("de_DE", "COUNTRY", "Österreich", "Österreich"),
        ("fr_FR", "AGE", "62 ans", "62 ans"),
        ("fr_FR", "AGE", "94 ans", "90+ ans"),
        ("fr_FR", "AGE", "quatre-vingt-douze ans", "plus de nonante ans"),
        ("fr_FR", "SEX", "masculin", "masculin"),
        ("fr_FR", "RELATIVE", "belle-sœur", "belle-sœur"),
        ("fr_FR", "RELATIVE", "épouse", "épouse"),
        ("fr_FR", "PROFESSION", "vendeuse", "vendeuse"),
    ],
)
def test_words_of_closed_lists_stay_and_old_ages_become_a_group(
    locale: str, label: str, text: str, expected: str
) -> None:
    assert Surrogates(note_key(SECRET, "1", ""), locale).of(text, label) == expected


def test_old_ages_that_are_kept_become_a_group_in_the_language_of_the_note() -> None:
    document = note("Der Patient ist {AGE:dreiundneunzig Jahre} alt und wurde von der Station entlassen.")
    assert redact(document, {"AGE": "keep"}).text.startswith("Der Patient ist über neunzig Jahre alt")


@pytest.mark.parametrize(("locale", "country"), [("de_DE", "Italien"), ("fr_FR", "Italie"), ("de_AT", "Türkei")])
def test_a_country_becomes_another_in_the_language(locale: str, country: str) -> None:
    found = other_country(country, Chooser(bytes(32)), locale)
    pack = LANGUAGES[locale[:2]]
    assert found in {*pack.countries, *", ".join(surrogate_table(pack, "places")["countries"]).split(", ")}
    assert found != country


LETTERS = (
    "{HOSPITAL:Klinikum Kassel}, {DATE:4. März 2014}. {PATIENT:Frau Ina Quills} Ödeme, {STREET:Quillweg 4a},\n"
    "{ZIP:34117} {CITY:Kassel}; ihr {FAMILY:Sohn}, {PHONE:0561/48221}, {PROFESSION:Maurer}, {AGE:62-jährig}.",
    "{HOSPITAL:CHU d'Angers}, le {DATE:1er mai 2014}. L'œdème de {PATIENT:M. Luc d'Orme}, {STREET:3, rue de l'Orme},\n"
    "{ZIP:49000} {CITY:Angers} ; sa {FAMILY:sœur}, {PHONE:02 41 48 22 13}, {PROFESSION:maçon}, {AGE:62 ans}.",
)


@given(st.sampled_from(LETTERS), st.sets(st.integers(0, 8)), st.binary(min_size=16, max_size=16))
def test_the_text_outside_spans_stays(marked: str, chosen: set[int], secret: bytes) -> None:
    document = note(marked)
    spans = tuple(span for i, span in enumerate(document.spans) if i in chosen)
    found = redact(Document("1", document.text, spans), "surrogate", secret=secret)
    outside = [document.text[a:b] for a, b in gaps(spans, len(document.text))]
    assert [found.text[a:b] for a, b in gaps(found.spans, len(found.text))] == outside


def gaps(spans: tuple[Span, ...], length: int) -> list[tuple[int, int]]:
    """The parts of a text between its spans."""
    starts = [0, *(span.end for span in spans)]
    return list(zip(starts, [*(span.start for span in spans), length], strict=True))


QUILLISH = {
    "locale": '"xq_XQ"',
    "function_words": '"ko, ta, mi, sul, wen"',
    "months": str("unol duol triol kvarol kvinol sesol sepol okol navol dekol elol tvelol".split()),  # noqa: SIM905
    "weekdays": '["una", "dua", "tria", "kvara", "kvina", "sesa", "sepa"]',
    "female": '"Abra, Adra, Alba, Bela, Bora, Bina"',
    "male": '"Abro, Adro, Albo, Belo, Boro, Bino"',
    "family": '"Akvil, Arvil, Asvil, Bekvil, Borvil, Busvil"',
}
"""Fields of an invented language; it has the others of French."""


def test_a_further_language_is_one_data_file(tmp_path: Path) -> None:
    shutil.copytree(Path(features.__file__).parent, tmp_path / "features", ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "features" / "languages"
    pack = (folder / "fr.toml").read_text(encoding="utf-8").partition("[surrogates")[0]
    for field, value in QUILLISH.items():
        pack, count = re.subn(rf"(?ms)^{field} = ('\'\'.*?'\'\'|\[.*?^\]|\".*?\")", f"{field} = {value}", pack, count=1)
        assert count == 1
    tables = '[surrogates.names]\nfemale_titles = "sina"\ntitles = "sina"\n[surrogates.dates]\nbetween = "zo"\n'
    (folder / "xq.toml").write_text(pack + tables, encoding="utf-8")
    script = (
        "from crfdeid.documents import Document, Span\n"
        "from crfdeid.redaction.redact import redact\n"
        "text = 'ko mi ta sina Abra Akvil sul 4 unol zo 2014 wen ko.'\n"
        "note = Document('1', text, (Span(9, 24, 'PATIENT'), Span(29, 43, 'DATE')))\n"
        "print(redact(note, 'surrogate', secret=b'an invented secret').text)\n"
    )
    root = Path(features.__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(root)]), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout
    match = re.fullmatch(r"ko mi ta sina (\w+) (\w+) sul (\d+) (\w+) zo (\d{4}) wen ko\.\n", found)
    assert match
    assert match[1] in {"Adra", "Alba", "Bela", "Bora", "Bina"}
    assert match[2] in {"Arvil", "Asvil", "Bekvil", "Borvil", "Busvil"}
    assert match[4].endswith("ol")
    assert int(match[5]) < 2014


REDACT = """
import sys
from crfdeid.documents import Document, Span
from crfdeid.redaction import redact
from crfdeid.redaction.surrogates import Surrogates, guess_locale

text = "The patient Jane Zmuller of Zquillburg was seen on lunzo, 3/14/2031, aged 94 ziz, by Dr. Zott of Zspital Tawn."
marked = {"Jane Zmuller": "PATIENT", "Zquillburg": "CITY", "3/14/2031": "DATE", "94 ziz": "AGE", "Zott": "DOCTOR",
          "Zspital Tawn": "HOSPITAL"}
spans = tuple(Span(text.index(value), text.index(value) + len(value), label) for value, label in marked.items())
print(redact(Document("1", text, spans), "surrogate", secret=b"an invented secret").text)
print(Surrogates(b"k" * 32, "zq_ZQ").of("Zott Zmuller", "PATIENT") if len(sys.argv) > 1 else guess_locale(text))
"""


def test_a_further_pack_changes_no_surrogates_of_english_notes(tmp_path: Path) -> None:
    pack = PACK.replace('function_words = "', 'function_words = "the, patient, of, was, seen, on, by, aged, ').replace(
        "de_DE", "zq_ZQ"
    )
    (tmp_path / "zq.toml").write_text(pack, encoding="utf-8")

    def ran(*arguments: str, folder: str = "") -> list[str]:
        command = [sys.executable, "-c", REDACT, *arguments]
        environment = {**os.environ, "CRFDEID_LANGUAGES": folder}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return done.stdout.splitlines()

    before = ran()
    assert before[1] == "en_US"
    assert ran(folder=str(tmp_path)) == before
    (_, name) = ran("its own", folder=str(tmp_path))
    assert name.split()[0] in ("Zanna", "Zott", "Zquilla", "Zquillo")


@pytest.mark.parametrize("locale", [pack.locale for pack in LANGUAGES.values()])
def test_ranges_of_house_numbers_keep_their_length_in_all_languages(locale: str) -> None:
    for number in range(30):
        ours = Surrogates(note_key(SECRET, f"{number}", ""), locale)
        first, last = re.search(r"(\d+) ?- ?(\d+)", ours.of("Quillstraat 12-15", "STREET")).groups()
        assert int(last) - int(first) == 3
        assert re.search(r"\d+-\d", ours.of("Quillstraat 5-1", "STREET"))  # a door: no negative number


@pytest.mark.parametrize("locale", [pack.locale for pack in LANGUAGES.values()])
def test_institutions_follow_the_towns_of_their_note_in_all_languages(locale: str) -> None:
    ours = Surrogates(note_key(SECRET, "1", ""), locale, places=["Tawnstock"])
    assert ours.of("Tawnstock", "CITY") in ours.of("Hospital Tawnstock Tejo", "HOSPITAL")
