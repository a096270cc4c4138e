"""Demographic values that surrogates preserve: sex, kinship, ages under 90, and common occupations.

HIPAA lists none of them as identifiers, and all are clinical information: a miner's lung disease differs from a
teacher's. Only words of closed lists are preserved. A span with any other word has no surrogate here, whatever its
type, because a model may have labelled a name as an age.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.chooser import casefold_accents, casefold_words, splice, with_case_of
from crfdeid.redaction.surrogates.packs import folded_entries, language_pack, surrogate_table

# Ages from this one on become one group, as in HIPAA's safe harbor; shifted dates of birth and visits agree with it.
_OLDEST_AGE = 90


_SEX = casefold_words(
    """
    varón mujer hombre femenino femenina masculino masculina hembra macho niño niña niños niñas chico chica
    señor señora caballero male female man woman men women boy girl gentleman lady trans transgender nonbinary
    intersex sexo sex
    """
)
_SEX_LETTERS = frozenset("hmfv")
_KIN = casefold_words(
    """
    madre padre padres mamá papá hijo hija hijos hijas hermano hermana hermanos hermanas gemelo gemela gemelos mellizo
    melliza mellizos abuelo abuela abuelos tío tía tíos primo prima primos sobrino sobrina sobrinos nieto nieta nietos
    bisabuelo bisabuela esposo esposa marido cónyuge pareja novio novia suegro suegra cuñado cuñada yerno nuera
    familia familiar familiares progenitor progenitora progenitores pariente parientes tutor tutora cuidador
    cuidadora miembros materno materna maternos maternas paterno paterna paternos paternas mayor mayores menor
    menores medio media único única viudo viuda soltero soltera casado casada divorciado divorciada político política
    adoptivo adoptiva jóvenes joven sano sana sanos primer primera segundo segunda tercer tercera
    mother father parents parent mom mum dad son sons daughter daughters brother brothers sister sisters sibling
    siblings twin twins grandmother grandfather grandparents grandson granddaughter grandchildren uncle aunt cousin
    cousins nephew niece husband wife spouse partner boyfriend girlfriend fiancé fiancée family relative relatives
    guardian caregiver maternal paternal older younger elder eldest youngest oldest half step only law widow
    widower single married child children first second third
    """
)
_AGE = casefold_words(
    """
    año años mes meses semana semanas día días hora horas edad lactante neonato neonata recién nacido nacida prematuro
    adolescente adulto adulta anciano anciana joven cuarto quinto sexto séptimo octavo noveno década décadas quinta
    sexta years year yrs yr y yo month months mo mos week weeks wk wks day days hour hours old age aged newborn infant
    toddler adolescent teenager adult elderly early mid late teens twenties thirties forties fifties sixties
    seventies eighties decade
    """
)
_NUMBERS = casefold_words(
    """
    cero un uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
    diecisiete dieciocho diecinueve veinte veintiún veintiuno veintidós veintitrés veinticuatro veinticinco
    veintiséis veintisiete veintiocho veintinueve treinta cuarenta cincuenta sesenta setenta ochenta
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty
    """
)
_BETWEEN = casefold_words(
    """
    de del la el los las y e o con a su sus mi en al unos unas casi entre aproximadamente ambos ambas tantos pico
    hasta the a an of and or in his her their with to about almost between s both some at
    """
)
# Occupations that many people have: no mayors or judges.
_JOBS = casefold_words(
    """
    agricultor ganadero jornalero pastor pescador marinero minero cantero albañil carpintero ebanista fontanero
    electricista soldador pintor mecánico tornero fresador herrero chapista yesero escayolista encofrador ferrallista
    peón obrero operario montador instalador techador conductor camionero taxista chófer repartidor mensajero cartero
    transportista maquinista ferroviario piloto azafata cocinero camarero panadero pastelero carnicero pescadero
    frutero dependiente cajero comerciante vendedor comercial representante tendero empresario autónomo administrativo
    oficinista secretario contable informático programador técnico ingeniero arquitecto delineante aparejador químico
    biólogo farmacéutico abogado economista funcionario maestro profesor docente educador estudiante enfermero médico
    auxiliar celador fisioterapeuta odontólogo dentista veterinario psicólogo cuidador limpiador peluquero esteticista
    modista costurero sastre zapatero tapicero curtidor joyero relojero vidriero alfarero ceramista marmolista
    tintorero impresor fotógrafo músico artista jardinero leñador bombero policía militar soldado vigilante portero
    conserje bedel jubilado pensionista parado desempleado ama trabajador empleado limpieza hostelería construcción
    hogar farmer rancher fisherman sailor miner quarryman mason bricklayer carpenter cabinetmaker plumber electrician
    welder painter mechanic machinist roofer laborer labourer worker operator driver trucker courier mailman pilot
    cook chef waiter waitress bartender baker butcher cashier clerk salesman saleswoman salesperson merchant
    shopkeeper secretary accountant bookkeeper receptionist programmer developer technician engineer architect
    draftsman chemist biologist pharmacist lawyer attorney paralegal economist teacher professor tutor student nurse
    physician doctor aide therapist dentist hygienist veterinarian psychologist caregiver cleaner janitor custodian
    housekeeper maid hairdresser barber beautician tailor seamstress shoemaker upholsterer tanner jeweler engraver
    watchmaker glassblower potter printer photographer musician artist writer gardener landscaper logger forester
    firefighter fireman policeman soldier guard doorman retired unemployed homemaker housewife contractor builder
    shipbuilder teller librarian counselor realtor shepherd manager supervisor assistant
    """
)
# DemographicWords that specify an occupation, and are none by themselves.
_SPECIFYING_JOBS = casefold_words(
    """
    casa labores campo mina mar fábrica obra obras industria taller almacén granja oficina especialista cuenta ajena
    propia por textil naval metal madera agrícola ganadero sanitario clínica hospital escuela prejubilado ex antes
    farm factory mill mine construction textile steel warehouse shipyard school office hospital restaurant bank
    insurance real estate social dental medical registered licensed practical former truck bus taxi coal factory
    self employed home health care
    """
)
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_NUMBER = regex.compile(r"(?<![\p{Nd}\p{L}.,/])[0-9]{1,3}(?:[.,][0-9])?(?:(?=s\b)s)?(?![\p{Nd}/])")
_WITHIN_A_NAME = regex.compile(r"[\s'’.-]*(?:(?:de|del|la|las|los|y)\s+)*")
_DIGIT = regex.compile(r"\p{N}")
# The text after a number up to the next one, if it has a letter: "95 years 3 months" has two units.
_UNIT = regex.compile(r"[^\p{L}\p{N}]*\p{L}\P{N}*")
_UNIT_IN_SPANISH = "uno|un|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez"
_UNIT_IN_ENGLISH = "one|two|three|four|five|six|seven|eight|nine|ten"
_OLD_IN_SPANISH = regex.compile(
    rf"(?<!\p{{L}})(?:noventa(?:\s+y\s+(?:{_UNIT_IN_SPANISH}))?"
    rf"|cien(?:to\s+(?:{_UNIT_IN_SPANISH}|once|doce|trece|catorce|quince|dieci\p{{L}}+|veint\p{{L}}+))?"
    r"|(?:nonagenari|(?:super)?centenari)[oa]s?)(?!\p{L})",
    regex.IGNORECASE,
)
_OLD_IN_ENGLISH = regex.compile(
    rf"(?<!\p{{L}})(?:ninety(?:[-\s](?:{_UNIT_IN_ENGLISH}))?"
    rf"|(?:one\s|a\s)?hundred(?:\s(?:and\s)?(?:{_UNIT_IN_ENGLISH}|eleven|twelve|\p{{L}}+teen|twenty))?"
    r"|(?:nonagenarian|(?:super)?centenarian)s?)(?!\p{L})",
    regex.IGNORECASE,
)


class DemographicWords(NamedTuple):
    """DemographicWords of demographic values in a language.

    Attributes:
        sex, sex_letters, kin, age, numbers, between, jobs, specifying_jobs: casefolded words of closed lists.
        small_unit: units of ages that are no years.
        old_ages: expressions of ages of 90 and more in words, each with the words for all of them.
        job_endings: endings of other forms of an occupation, each with that of the listed one; None for Spanish.
    """

    sex: frozenset[str]
    sex_letters: frozenset[str]
    kin: frozenset[str]
    age: frozenset[str]
    numbers: frozenset[str]
    between: frozenset[str]
    jobs: frozenset[str]
    specifying_jobs: frozenset[str]
    small_unit: regex.Pattern[str]
    old_ages: tuple[tuple[regex.Pattern[str], str], ...]
    job_endings: tuple[tuple[str, str], ...] | None = None


_ENGLISH_AND_SPANISH = DemographicWords(
    _SEX,
    _SEX_LETTERS,
    _KIN,
    _AGE,
    _NUMBERS,
    _BETWEEN,
    _JOBS,
    _SPECIFYING_JOBS,
    regex.compile(r"(?:mes|seman|d[ií]a|hora|month|mos?\b|we?e?k|day|hour)", regex.IGNORECASE),
    ((_OLD_IN_SPANISH, "noventa y tantos"), (_OLD_IN_ENGLISH, "ninety-something")),
)


@lru_cache(maxsize=16)
def words_of(locale: str) -> DemographicWords:
    """Return the words of a locale's language; those of English and Spanish are read together."""
    pack = language_pack(locale)
    if pack is None:
        return _ENGLISH_AND_SPANISH
    section = surrogate_table(pack, "demographics")
    kinds = ("sex", "sex_letters", "kin", "age", "numbers", "between", "occupations", "specifying")
    found = {kind: folded_entries(pack.code, "demographics", kind) for kind in kinds}
    found["kin"] |= {casefold_accents(word) for kin in pack.words["kin"] for word in _WORD.findall(kin)}
    old_ages = rf"(?<!\p{{L}})(?:{section.get('old_ages', '(?!)')})(?!\p{{L}})"
    return DemographicWords(
        found["sex"],
        found["sex_letters"],
        found["kin"],
        found["age"],
        found["numbers"],
        found["between"],
        found["occupations"],
        found["specifying"],
        regex.compile(section.get("small_units", "(?!)"), regex.IGNORECASE),
        ((regex.compile(old_ages, regex.IGNORECASE), section.get("old_age", "")),),
        tuple((casefold_accents(form), listed) for form, listed in section.get("occupation_endings", ())),
    )


def preserve_sex(text: str, locale: str = "en_US") -> str | None:
    """Return a word for a sex unchanged; None for any other text.

    Example:
        >>> preserve_sex("Varón"), preserve_sex("Quill")
        ('Varón', None)
    """
    listed, words = words_of(locale), {casefold_accents(word) for word in _WORD.findall(text)}
    known = words <= listed.sex | listed.sex_letters | listed.between
    known = known or casefold_accents("".join(text.split())) in listed.sex
    return text if known and words and not _DIGIT.search(text) else None


def preserve_kin(text: str, name: Callable[[str], str | None], locale: str = "en_US") -> str | None:
    """Return words of kinship and ages unchanged and replace the names among them; None for any other text.

    Args:
        text: a span such as "hermana María, de 6 años".
        name: returns the surrogate of a person's name.
        locale: language of the words.
    """
    found = group_old_ages(text, locale)
    if found is None:
        return None
    pieces: list[tuple[int, int, str]] = []
    for start, stop in _unknown_words(found, words_of(locale)):
        surrogate = name(found[start:stop])
        if surrogate is None or not found[start].isupper():
            return None
        pieces.append((start, stop, surrogate))
    return splice(found, pieces)


def _unknown_words(text: str, listed: DemographicWords) -> list[tuple[int, int]]:
    """Return the offsets of words in no list; adjacent ones, also with particles between, are united."""
    runs: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        if casefold_accents(match.group()) in listed.sex | listed.kin | listed.age | listed.numbers | listed.between:
            continue
        if runs and _WITHIN_A_NAME.fullmatch(text, runs[-1][1], match.start()):
            runs[-1] = runs[-1][0], match.end()
        else:
            runs.append(match.span())
    return runs


def generalise_age(text: str, locale: str = "en_US") -> str | None:
    """Return an age in figures or words unchanged, or as one group from 90 on; None for any other text.

    Example:
        >>> [generalise_age(text) for text in ("45-year-old", "93 años", "noventa y tres años", "Quill")]
        ['45-year-old', '90+ años', 'noventa y tantos años', None]
    """
    listed, found = words_of(locale), group_old_ages(text, locale)
    if found is None:
        return None
    rest = text
    for old, _ in listed.old_ages:
        rest = old.sub("", rest)
    words = {casefold_accents(word) for word in _WORD.findall(rest)}
    of_age = listed.age | listed.numbers | listed.sex
    is_age = words & of_age or _DIGIT.search(found) or found != text
    return found if words <= of_age | listed.between | {"medio", "media", "half"} and is_age else None


def group_old_ages(text: str, locale: str = "en_US") -> str | None:
    """Return a text with all ages of 90 and above as one group; None if a number in it is no age."""

    listed = words_of(locale)

    def grouped(match: regex.Match[str]) -> str:
        age = float(match.group().rstrip("s").replace(",", "."))
        unit = _UNIT.match(text, match.end())
        in_years = not listed.small_unit.search(unit.group() if unit else text)
        return f"{_OLDEST_AGE}+" if in_years and age >= _OLDEST_AGE else match.group()

    found = _NUMBER.sub(grouped, text)
    if _DIGIT.search(_NUMBER.sub("", text)):
        return None
    for old, words in listed.old_ages:
        found = splice(found, [(*match.span(), with_case_of(words, match.group())) for match in old.finditer(found)])
    return found.replace(f"{_OLDEST_AGE}++", f"{_OLDEST_AGE}+")


def preserve_occupation(text: str, locale: str = "en_US") -> str | None:
    """Return a common occupation unchanged; of a longer description, the part that names it; else None.

    Example:
        >>> [preserve_occupation(text) for text in ("ama de casa", "médico especialista en colmenas", "alcaldesa")]
        ['ama de casa', 'médico', None]
    """
    listed = words_of(locale)
    runs: list[list[tuple[int, int, str]]] = [[]]
    for match in _WORD.finditer(text):
        start, end, word = *match.span(), casefold_accents(match.group())
        if runs[-1] and _DIGIT.search(text, runs[-1][-1][1], start):
            runs.append([])
        if _is_job(word, listed) or word in listed.specifying_jobs or (word in listed.between and runs[-1]):
            runs[-1].append((start, end, word))
        else:
            runs.append([])
    for run in runs:
        # Of an incomplete run, drop specifying words at the end as well: "médico del Hospital", of a longer name.
        is_cut = bool(run) and _WORD.search(text, run[-1][1]) is not None
        while run and (run[-1][2] in listed.between or (is_cut and not _is_job(run[-1][2], listed))):
            run.pop()
        if any(_is_job(word, listed) for _, _, word in run):
            return text[run[0][0] : run[-1][1]]
    return None


def _is_job(word: str, listed: DemographicWords) -> bool:
    """Return True for a casefolded word of the occupations, also in its feminine or plural form."""
    if listed.job_endings is not None:
        forms = {word[: len(word) - len(end)] + other for end, other in listed.job_endings if word.endswith(end)}
        return not listed.jobs.isdisjoint(forms | {word})
    forms = {word, word.removesuffix("s"), word.removesuffix("es")}
    male = {form[:-1] + "o" for form in forms if form.endswith("a")}
    male |= {form[:-1] for form in forms if form.endswith("ra")}
    return not listed.jobs.isdisjoint(forms | male)
