"""Demographic values that surrogates preserve: sex, kinship, ages under 90, and common occupations.

HIPAA lists none of them as identifiers, and all are clinical information: a miner's lung disease differs from a
teacher's. Only words of closed lists are preserved. A span with any other word has no surrogate here, whatever its
type, because a model may have labelled a name as an age.
"""

from __future__ import annotations

from collections.abc import Callable

import regex

from crfdeid.redaction.surrogates.chooser import casefold_accents, casefold_words, splice, with_case_of

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
# Words that specify an occupation, and are none by themselves.
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
_SMALL_UNIT = regex.compile(r"(?:mes|seman|d[ií]a|hora|month|mos?\b|we?e?k|day|hour)", regex.IGNORECASE)
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


def preserve_sex(text: str) -> str | None:
    """Return a word for a sex unchanged; None for any other text.

    Example:
        >>> preserve_sex("Varón"), preserve_sex("Quill")
        ('Varón', None)
    """
    words = {casefold_accents(word) for word in _WORD.findall(text)}
    known = words <= _SEX | _SEX_LETTERS | _BETWEEN or casefold_accents("".join(text.split())) in _SEX
    return text if known and words and not _DIGIT.search(text) else None


def preserve_kin(text: str, name: Callable[[str], str | None]) -> str | None:
    """Return words of kinship and ages unchanged and replace the names among them; None for any other text.

    Args:
        text: a span such as "hermana María, de 6 años".
        name: returns the surrogate of a person's name.
    """
    found = group_old_ages(text)
    if found is None:
        return None
    pieces: list[tuple[int, int, str]] = []
    for start, stop in _unknown_words(found):
        surrogate = name(found[start:stop])
        if surrogate is None or not found[start].isupper():
            return None
        pieces.append((start, stop, surrogate))
    return splice(found, pieces)


def _unknown_words(text: str) -> list[tuple[int, int]]:
    """Return the offsets of words in no list; adjacent ones, also with particles between, are united."""
    runs: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        if casefold_accents(match.group()) in _SEX | _KIN | _AGE | _NUMBERS | _BETWEEN:
            continue
        if runs and _WITHIN_A_NAME.fullmatch(text, runs[-1][1], match.start()):
            runs[-1] = runs[-1][0], match.end()
        else:
            runs.append(match.span())
    return runs


def generalise_age(text: str) -> str | None:
    """Return an age in figures or words unchanged, or as one group from 90 on; None for any other text.

    Example:
        >>> [generalise_age(text) for text in ("45-year-old", "93 años", "noventa y tres años", "Quill")]
        ['45-year-old', '90+ años', 'noventa y tantos años', None]
    """
    found = group_old_ages(text)
    if found is None:
        return None
    words = {casefold_accents(word) for word in _WORD.findall(_OLD_IN_SPANISH.sub("", _OLD_IN_ENGLISH.sub("", text)))}
    is_age = words & (_AGE | _NUMBERS | _SEX) or _DIGIT.search(found) or found != text
    return found if words <= _AGE | _NUMBERS | _BETWEEN | _SEX | {"medio", "media", "half"} and is_age else None


def group_old_ages(text: str) -> str | None:
    """Return a text with all ages of 90 and above as one group; None if a number in it is no age."""

    def grouped(match: regex.Match[str]) -> str:
        age = float(match.group().rstrip("s").replace(",", "."))
        unit = _UNIT.match(text, match.end())
        in_years = not _SMALL_UNIT.search(unit.group() if unit else text)
        return f"{_OLDEST_AGE}+" if in_years and age >= _OLDEST_AGE else match.group()

    found = _NUMBER.sub(grouped, text)
    if _DIGIT.search(_NUMBER.sub("", text)):
        return None
    found = _OLD_IN_SPANISH.sub(lambda match: with_case_of("noventa y tantos", match.group()), found)
    found = _OLD_IN_ENGLISH.sub(lambda match: with_case_of("ninety-something", match.group()), found)
    return found.replace(f"{_OLDEST_AGE}++", f"{_OLDEST_AGE}+")


def preserve_occupation(text: str) -> str | None:
    """Return a common occupation unchanged; of a longer description, the part that names it; else None.

    Example:
        >>> [preserve_occupation(text) for text in ("ama de casa", "médico especialista en colmenas", "alcaldesa")]
        ['ama de casa', 'médico', None]
    """
    runs: list[list[tuple[int, int, str]]] = [[]]
    for match in _WORD.finditer(text):
        start, end, word = *match.span(), casefold_accents(match.group())
        if runs[-1] and _DIGIT.search(text, runs[-1][-1][1], start):
            runs.append([])
        if _is_of(word, _JOBS) or word in _SPECIFYING_JOBS or (word in _BETWEEN and runs[-1]):
            runs[-1].append((start, end, word))
        else:
            runs.append([])
    for run in runs:
        # Of an incomplete run, drop specifying words at the end as well: "médico del Hospital", of a longer name.
        is_cut = bool(run) and _WORD.search(text, run[-1][1]) is not None
        while run and (run[-1][2] in _BETWEEN or (is_cut and not _is_of(run[-1][2], _JOBS))):
            run.pop()
        if any(_is_of(word, _JOBS) for _, _, word in run):
            return text[run[0][0] : run[-1][1]]
    return None


def _is_of(word: str, words: frozenset[str]) -> bool:
    """Return True for a casefolded word of a list, also in its feminine or plural form."""
    forms = {word, word.removesuffix("s"), word.removesuffix("es")}
    male = {form[:-1] + "o" for form in forms if form.endswith("a")}
    male |= {form[:-1] for form in forms if form.endswith("ra")}
    return not words.isdisjoint(forms | male)
