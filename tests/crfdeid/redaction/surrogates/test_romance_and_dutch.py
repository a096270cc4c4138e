"""Surrogates in Portuguese, Italian and Dutch: each type keeps its form, sex, particles and prepositions."""

import re

import pytest
import regex

from crfdeid.documents import Document, Span
from crfdeid.redaction.redact import redact
from crfdeid.redaction.surrogates.dates import DateShift, shift_date
from crfdeid.redaction.surrogates.generator import Surrogates, note_key
from crfdeid.redaction.surrogates.locales import guess_locale
from crfdeid.redaction.surrogates.place_tables import communities, provinces
from features.languages import LANGUAGES

SECRETS = (b"an invented secret", b"yet another secret", b"the third of them all")
LATER = DateShift(31, 1, 0)  # a month without 31 days becomes another day


def new_values(marked: str, locale: str, secret: bytes = SECRETS[0]) -> list[str]:
    """The surrogates of a text with its PHI marked as {TYPE:text}."""
    plain, spans, end = "", [], 0
    for match in re.finditer(r"\{([A-Z]+):([^{}]*)\}", marked):
        plain += marked[end : match.start()]
        spans.append(Span(len(plain), len(plain) + len(match[2]), match[1]))
        plain += match[2]
        end = match.end()
    found = redact(Document("1", plain + marked[end:], tuple(spans)), "surrogate", secret=secret, locale=locale)
    return [found.text[start:end] for start, end, _ in found.spans]


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("O paciente nega febre e foi encaminhado à consulta.", "pt_BR"),
        ("A utente refere dores há três dias.", "pt_BR"),
        ("Il paziente nega febbre ed è stato dimesso.", "it_IT"),
        ("De patiënt heeft geen koorts en werd ontslagen.", "nl_NL"),
    ],
)
def test_the_words_of_a_note_tell_its_locale(text: str, locale: str) -> None:
    assert guess_locale(text) == locale


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("pt_BR", "3 de março de 1962", "3 de abril de 1962"),
        ("pt_BR", "3 de Março de 1962", "3 de Abril de 1962"),
        ("pt_BR", "03/03/62", "03/04/62"),
        ("pt_BR", "terça-feira, 4 de março de 2014", "sexta-feira, 4 de abril de 2014"),
        ("pt_BR", "1º de maio de 2014", "1º de junho de 2014"),
        ("pt_BR", "10 jan. 2024", "10 fev. 2024"),
        ("pt_BR", "de 30 de agosto a 2 de setembro", "de 30 de setembro a 3 de outubro"),
        ("pt_BR", "início de dezembro de 2020", "início de janeiro de 2021"),
        ("pt_BR", "Natal de 2020", None),
        ("it_IT", "3 marzo 1962", "3 aprile 1962"),
        ("it_IT", "martedì 4 marzo 2014", "venerdì 4 aprile 2014"),
        ("it_IT", "1º maggio 2014", "1º giugno 2014"),
        ("it_IT", "10 gen. 2024", "10 feb. 2024"),
        ("it_IT", "dal 30 agosto al 2 settembre", "dal 30 settembre al 3 ottobre"),
        ("it_IT", "fine dicembre 2020", "fine gennaio 2021"),
        ("it_IT", "Natale 2020", None),
        ("nl_NL", "3 maart 1962", "3 april 1962"),
        ("nl_NL", "3-3-62", "3-4-62"),
        ("nl_NL", "dinsdag 4 maart 2014", "vrijdag 4 april 2014"),
        ("nl_NL", "di 4/3/14", "vr 4/4/14"),
        ("nl_NL", "dinsdagochtend 4 maart", "vrijdagochtend 4 april"),
        ("nl_NL", "5 okt. 2011", "5 nov. 2011"),
        ("nl_NL", "30 augustus tot 2 september", "30 september tot 3 oktober"),
        ("nl_NL", "eind december 2020", "eind januari 2021"),
        ("nl_NL", "Pasen 2020", None),
    ],
)
def test_dates_shift_in_their_language_and_form(locale: str, text: str, expected: str | None) -> None:
    assert shift_date(text, LATER, month_first=False, locale=locale) == expected


TITLED = [
    *(("pt", "female", f"{title} Joana Quilha") for title in ("Sra.", "Dra.", "Dona", "Enfermeira")),
    *(("pt", "male", f"{title} Tiago Quilha") for title in ("Sr.", "Dr.", "Padre", "Enfermeiro")),
    *(("it", "female", f"{title} Chiara Quilli") for title in ("Sig.ra", "Dott.ssa", "Suor", "Prof.ssa")),
    *(("it", "male", f"{title} Fabio Quilli") for title in ("Sig.", "Dott.", "Don", "Prof.")),
    *(("nl", "female", f"{title} Fenna Quilstra") for title in ("Mevr.", "Mw.", "Zuster", "dr.")),
    *(("nl", "male", f"{title} Maarten Quilstra") for title in ("Dhr.", "De heer", "Broeder", "dr.")),
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(("code", "sex", "name"), TITLED)
def test_given_names_keep_their_sex_and_title(code: str, sex: str, name: str, secret: bytes) -> None:
    (found,) = new_values(f"{{PATIENT:{name}}}", LANGUAGES[code].locale, secret)
    *title, first, last = found.split()
    *old_title, _, old_last = name.split()
    assert title == old_title
    assert first in LANGUAGES[code].entries("surrogates", "names", sex)
    assert last != old_last


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    ("locale", "text", "form"),
    [
        ("pt_BR", "Maria das Dores Quilha", r"\p{L}+ das \p{Lu}\p{L}+ \p{L}+"),
        ("pt_BR", "Joaquim dos Santos Quill", r"\p{L}+ dos \p{Lu}\p{L}+ \p{L}+"),
        ("pt_BR", "Prof. Dr. Tiago de Quill", r"Prof\. Dr\. \p{L}+ de \p{L}+"),
        ("pt_BR", "QUILHA, JOANA", r"\p{Lu}+, \p{Lu}+"),
        ("it_IT", "Sig. Marco De Quillis", r"Sig\. \p{L}+ De \p{L}+"),
        ("it_IT", "Dott.ssa Elena Della Tawna", r"Dott\.ssa \p{L}+ Della \p{L}+"),
        ("it_IT", "QUILLI FABIO", r"\p{Lu}{2,} \p{Lu}{2,}"),
        ("nl_NL", "Jan van der Quil", r"\p{L}+ van der \p{Lu}\p{L}+"),
        ("nl_NL", "Dhr. Kees van 't Quil", r"Dhr\. \p{L}+ van 't \p{Lu}\p{L}+"),
        ("nl_NL", "Geertje ten Quil", r"\p{L}+ ten \p{Lu}\p{L}+"),
        ("nl_NL", "Mevr. F. de Tawn-Quil", r"Mevr\. \p{Lu}\. de \p{L}+-\p{L}+"),
        ("nl_NL", "mw. A.B. Quil", r"mw\. \p{Lu}\.\p{Lu}\. \p{L}+"),
    ],
)
def test_titles_particles_and_the_form_of_names_stay(locale: str, text: str, form: str, secret: bytes) -> None:
    (found,) = new_values(f"{{DOCTOR:{text}}}", locale, secret)
    assert regex.fullmatch(form, found), found
    assert "quil" not in found.lower() and "tawn" not in found.lower()


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    ("locale", "text", "form"),
    [
        ("pt_BR", "Rua das Quilhas, 123, apto 45", r"Rua (?:da|das|do|dos|de) \p{Lu}.+, \d{3}, apto \d\d"),
        ("pt_BR", "Av. Quill, n.º 45, 3.º Esq", r"Av\. \p{Lu}.+, n\.º \d\d, \d\.º Esq"),
        ("pt_BR", "Rua Dr. Abel Quill, 200", r"Rua Dr\. \p{Lu}.+, \d{3}"),
        ("pt_BR", "Rodovia BR-101, km 12", r"Rodovia \p{Lu}{2}-\d{3}, km \d\d"),
        (
            "it_IT",
            "Via della Quilla, 3 int. 4",
            r"Via d(?:ei|egli|el|ell[aeo'])? ?\p{Lu}.+, \d int\. \d",
        ),
        ("it_IT", "V.le Quilli 7", r"V\.le \p{Lu}.+ \d"),
        ("it_IT", "Piazza Quilla 7/A", r"Piazza \p{Lu}.+ \d/\p{Lu}"),
        ("nl_NL", "Quilstraat 12", r"\p{Lu}\p{Ll}+straat \d\d"),
        ("nl_NL", "Prins Quilweg 123", r"\p{Lu}.*weg \d{3}"),
        ("nl_NL", "Oude Quilgracht 7-II", r"\p{Lu}.*gracht \d-II"),
        ("nl_NL", "Aan de Quil 8", r"\p{Lu}\p{Ll}+ (?:de|het) \p{Lu}\p{L}+ \d"),
    ],
)
def test_streets_keep_their_form(locale: str, text: str, form: str, secret: bytes) -> None:
    (found,) = new_values(f"{{STREET:{text}}}", locale, secret)
    assert regex.fullmatch(form, found), found
    assert "quil" not in found.lower()


@pytest.mark.parametrize("secret", SECRETS[:2])
@pytest.mark.parametrize(
    ("locale", "text", "form"),
    [
        ("pt_BR", "Hospital São Lucas", r"Hospital São (?!Lucas)\p{Lu}\p{L}+"),
        ("pt_BR", "Hospital de Braga", r"Hospital de (?!Braga)\p{Lu}.+"),
        ("pt_BR", "Hospital Nossa Senhora da Luz", r"Hospital Nossa Senhora (?:da|das|do|dos|de) (?!Luz)\p{Lu}\p{L}+"),
        ("pt_BR", "UBS Jardim Quilha", r"UBS Jardim (?!Quilha)\p{Lu}.+"),
        ("pt_BR", "Clínica Dr. Quill", r"Clínica Dr\. (?!Quill)\p{L}+"),
        ("it_IT", "Ospedale Sant'Anna", r"Ospedale Sant'(?!Anna)[AEIOU]\p{L}+"),
        ("it_IT", "Ospedale San Raffaele", r"Ospedale San (?!Raffaele)\p{Lu}\p{L}+"),
        ("it_IT", "Clinica Villa Quilla", r"Clinica Villa (?!Quilla)\p{Lu}\p{L}+"),
        ("it_IT", "Policlinico di Bari", r"Policlinico di (?!Bari)[^AEIOU]\p{L}+.*"),
        ("nl_NL", "Sint Lucas Ziekenhuis", r"Sint (?!Lucas)\p{L}+ Ziekenhuis"),
        ("nl_NL", "Universitair Medisch Centrum Utrecht", r"Universitair Medisch Centrum (?!Utrecht)['\p{Lu}].+"),
        ("nl_NL", "Quilziekenhuis", r"(?!Quil)\p{Lu}\p{L}+ziekenhuis"),
        ("nl_NL", "verpleeghuis De Quilhof", r"verpleeghuis (?:De|Het) (?!Quil)\p{Lu}.+"),
    ],
)
def test_institutions_keep_their_kind(locale: str, text: str, form: str, secret: bytes) -> None:
    (found,) = new_values(f"{{HOSPITAL:{text}}}", locale, secret)
    assert regex.fullmatch(form, found), found


KINDS = {
    "pt_BR": "Farmácia/Laboratório/Maternidade/Clínica de Fisioterapia/Centro de Diálise/Lar de Idosos/Pronto Socorro"
    "/Unidade de Saúde Familiar/Centro de Reabilitação/Clínica Dentária/Cuidados Paliativos",
    "it_IT": "Farmacia/Laboratorio Analisi/Casa di Cura/Casa di Riposo/Centro Dialisi/Studio Dentistico/Hospice"
    "/Poliambulatorio/Centro di Riabilitazione/Assistenza Domiciliare/Pronto Soccorso",
    "nl_NL": "Apotheek/Laboratorium/Verpleeghuis/Huisartsenpraktijk/Dialysecentrum/Hospice/Tandartspraktijk/Thuiszorg"
    "/Revalidatiecentrum/Polikliniek/Spoedeisende Hulp",
}


@pytest.mark.parametrize(
    ("locale", "kind"), [(locale, kind) for locale, kinds in KINDS.items() for kind in kinds.split("/")]
)
def test_each_kind_of_institution_stays(locale: str, kind: str) -> None:
    for shown in (f"{kind} Quillmann", f"{kind} Quillmann".upper()):
        (found,) = new_values(f"{{HOSPITAL:{shown}}}", locale)
        words = shown.split()[:-1]
        assert found.split()[: len(words)] == words
        assert "quillmann" not in found.lower() and len(found.split()) > len(words)


@pytest.mark.parametrize("secret", SECRETS[:2])
@pytest.mark.parametrize(
    ("locale", "postcode", "town", "form", "country"),
    [
        ("pt_BR", "13083-970", "Campinas", r"(\d\d)\d{3}-\d{3}", ""),
        ("pt_BR", "4000-123", "Porto", r"(\d\d)\d\d-\d{3}", "P"),
        ("pt_BR", "4000-123", "Quilhal", r"(\d\d)\d\d-\d{3}", "P"),
        ("it_IT", "20121", "Milano", r"(\d\d)\d{3}", ""),
        ("it_IT", "00184", "Quillanova", r"(\d\d)\d{3}", ""),
        ("nl_NL", "3512 AB", "Utrecht", r"(\d\d)\d\d \p{Lu}{2}", ""),
        ("nl_NL", "9712 CD", "Quildam", r"(\d\d)\d\d \p{Lu}{2}", ""),
        ("nl_NL", "B-9000", "Gent", r"B-(\d\d)\d\d", "B"),
    ],
)
def test_a_town_lies_where_its_postcode_says(
    locale: str, postcode: str, town: str, form: str, country: str, secret: bytes
) -> None:
    new_postcode, new_town = new_values(f"{{ZIP:{postcode}}} {{CITY:{town}}}", locale, secret)
    match = regex.fullmatch(form, new_postcode)
    assert match, new_postcode
    number = country + match[1]
    rows = [one for one in provinces(locale[:2]) if number in (one.number, *one.further_numbers)]
    assert new_town in {names[0] for row in rows for names in (row.capitals, *row.towns)}
    assert new_town != town


def test_a_postcode_and_its_town_may_be_one_value() -> None:
    (found,) = new_values("{LOCATION:1012 AB Amsterdam}", "nl_NL")
    assert regex.fullmatch(r"\d{4} \p{Lu}{2} (?!Amsterdam)['\p{Lu}].+", found)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    ("locale", "state"), [("pt_BR", "Bahia"), ("pt_BR", "Paraná"), ("it_IT", "Lazio"), ("nl_NL", "Veluwe")]
)
def test_a_state_becomes_one_with_the_same_preposition(locale: str, state: str, secret: bytes) -> None:
    (found,) = new_values(f"{{STATE:{state}}}", locale, secret)
    (group,) = (group for group in communities(locale[:2]) if any(state in names for names in group))
    assert found in {names[0] for names in group} - {state}


def test_letters_of_a_state_become_those_of_another() -> None:
    (found,) = new_values("{STATE:SP}", "pt_BR")
    rows = LANGUAGES["pt"].entries("surrogates", "places", "lettered_states")
    assert found in {row.split()[-3] for row in rows} - {"SP"}


@pytest.mark.parametrize(
    ("locale", "text", "start"),
    [
        ("pt_BR", "(11) 95550-0134", r"\([1-9][1-9]\) "),
        ("pt_BR", "+351 215 550 134", r"\+351 2"),
        ("pt_BR", "915 550 134", r"9[136]"),
        ("it_IT", "06 5550134", "06 "),
        ("it_IT", "333 5550134", "3[2-9]"),
        ("it_IT", "+39 0541 555013", r"\+39 0"),
        ("nl_NL", "030 5550134", "0[1-7][0-9] "),
        ("nl_NL", "06-55501342", "06-"),
        ("nl_NL", "+31 20 555 0134", r"\+31 [1-7][0-9] "),
    ],
)
def test_telephones_keep_their_prefix_or_get_an_area_code_and_keep_their_shape(
    locale: str, text: str, start: str
) -> None:
    (found,) = new_values(f"{{PHONE:{text}}}", locale)
    assert re.match(start, found), found
    assert re.sub(r"\d", "0", found) == re.sub(r"\d", "0", text)
    assert found != text


@pytest.mark.parametrize(
    ("locale", "label", "text", "expected"),
    [
        ("pt_BR", "AGE", "62 anos", "62 anos"),
        ("pt_BR", "AGE", "93 anos", "90+ anos"),
        ("pt_BR", "AGE", "noventa e três anos", "noventa e tantos anos"),
        ("pt_BR", "AGE", "95 meses", "95 meses"),
        ("pt_BR", "SEX", "feminino", "feminino"),
        ("pt_BR", "RELATIVE", "irmã gémea", "irmã gémea"),
        ("pt_BR", "PROFESSION", "professora aposentada", "professora aposentada"),
        ("pt_BR", "COUNTRY", "Portugal", "Portugal"),
        ("it_IT", "AGE", "93 anni", "90+ anni"),
        ("it_IT", "AGE", "novantadue anni", "oltre novanta anni"),
        ("it_IT", "SEX", "femminile", "femminile"),
        ("it_IT", "RELATIVE", "suocera", "suocera"),
        ("it_IT", "PROFESSION", "insegnante in pensione", "insegnante in pensione"),
        ("it_IT", "PROFESSION", "sindaco", "[PROFESSION]"),
        ("nl_NL", "AGE", "93 jaar", "90+ jaar"),
        ("nl_NL", "AGE", "tweeënnegentig jaar", "ruim negentig jaar"),
        ("nl_NL", "SEX", "vrouwelijk", "vrouwelijk"),
        ("nl_NL", "RELATIVE", "schoonmoeder", "schoonmoeder"),
        ("nl_NL", "PROFESSION", "gepensioneerd leraar", "gepensioneerd leraar"),
        ("nl_NL", "COUNTRY", "België", "België"),
    ],
)
def test_words_of_closed_lists_stay_and_old_ages_become_a_group(
    locale: str, label: str, text: str, expected: str
) -> None:
    assert Surrogates(note_key(SECRETS[0], "1", ""), locale).of(text, label) == expected


@pytest.mark.parametrize(
    ("locale", "country"), [("pt_BR", "França"), ("pt_BR", "Irã"), ("it_IT", "Marocco"), ("nl_NL", "Marokko")]
)
def test_a_country_becomes_one_with_the_same_preposition(locale: str, country: str) -> None:
    (found,) = new_values(f"{{COUNTRY:{country}}}", locale)
    rows = LANGUAGES[locale[:2]].content["surrogates"]["places"]["countries"]
    assert any({found, country} <= {*row.split(", ")} for row in rows), found
    assert found != country


def test_an_address_keeps_the_domain_of_its_country() -> None:
    (found,) = new_values("{EMAIL:abel.quill@quilha.com.br}", "pt_BR")
    assert re.fullmatch(r"[a-z]+\d\d@example\.br", found)
