"""Rules: expressions that look like PHI whatever stands around them, as a table.

They are tried on each sentence with one space for any white space, in the order of the table; what an earlier rule has
matched, a later one does not match again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import regex

from features.patterns import PATTERNS, WRITTEN_DATE, single_spaced
from features.tokens import Sentence


class Rule(NamedTuple):
    """A row of the table.

    Attributes:
        name: what it finds.
        form: the expression, tried without regard to case; the group "value", where there is one, is what is found.
        types: what corpora call it; the first that a corpus has is its type where the training notes hold no example.
        finds: texts in which it must find exactly what stands in brackets, or the whole text where nothing does.
        leaves: texts in which it must find nothing.
    """

    name: str
    form: str
    types: tuple[str, ...]
    finds: tuple[str, ...]
    leaves: tuple[str, ...]


_GAP = r"(?:\s?[#:.º°-]){0,3}\s?"
_CODE = r"(?P<value>(?:[a-z]{1,4}-?)?\d[\d-]{2,14}\d(?:-?[a-z]{1,3}(?!\w))?)"
_ZIP = r"(?P<value>\d{5}(?:-\d{4})?)"
_OLD = r"(?P<value>9\d|1[01]\d)"
_PHONES = ("PHONE", "NUMERO_TELEFONO", "PHONE_NUMBER", "CONTACT")
_IDS = ("MEDICALRECORD", "MEDICAL_RECORD_NUMBER", "IDNUM", "ID", "ID_SUJETO_ASISTENCIA")
_PLANS = ("HEALTHPLAN", "HEALTH_PLAN_BENEFICIARY_NUMBER", "ID_ASEGURAMIENTO", "ID")
_PLACES = ("ZIP", "TERRITORIO", "LOCATION")
_DATES = ("DATE", "FECHAS")


def _numeric_date(mark: str) -> str:
    """A day, a month and a year in any usual order; stricter than `features.patterns`, since nothing else decides."""
    day, month, year = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
    return rf"(?:{day}{mark}{month}|{month}{mark}{day}){mark}(?:{year}|\d\d)|{year}{mark}{month}{mark}{day}"


RULES = (
    Rule(
        "e-mail",
        PATTERNS["email"],
        ("EMAIL", "CORREO_ELECTRONICO", "EMAIL_ADDRESS"),
        ("j.quill@tawn.org", "a_b@x.y.es", "write to [j+q@tawn.org]."),
        ("a @", "3@4"),
    ),
    Rule(
        "web address",
        r"(?:(?:https?|ftp)://|www\s?\.\s?)[^\s<>\"'()]{1,2000}[\w/]",
        ("URL", "URL_WEB"),
        ("https://tawn.org/a?b=1", "www.tawn.org", "see [http://tawn.org/a]."),
        ("www", "http://"),
    ),
    Rule(
        "IP address",
        r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}"
        r"|(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}",
        ("IPADDR", "IPADDRESS", "IP", "IP_ADDRESS", "DIREC_PROT_INTERNET"),
        ("10.0.7.255", "2001:db8:0:0:0:0:0:1", "2001:db8::8a2e:7", "fe80::1"),
        ("10.0.7.256", "1.2.3", "12:30:45", "a: b:: c"),
    ),
    Rule(
        "social security number",
        r"(?P<value>\d{3}-\d\d-\d{4})"
        rf"|(?:ssn|social security(?: (?:number|no))?){_GAP}(?P<value>\d{{3}}[ -]?\d\d[ -]?\d{{4}})",
        ("SSN", "SOCIAL_SECURITY_NUMBER", "ID"),
        ("078-05-1120", "SSN: [078051120]", "social security no. [078 05 1120]"),
        ("078-05-112", "1078-05-1120", "SSN unknown"),
    ),
    Rule(
        "record number",
        rf"(?:mrn|medical record(?: (?:number|no))?|(?:record|unit|chart) (?:number|no)|acct|account|nhc){_GAP}{_CODE}",
        _IDS,
        ("MRN: [48-2213-7]", "NHC [2213744]", "Medical record number: [A991204]", "MRN #[QX-48221]", "acct [48221-QX]"),
        ("MRN pending", "account 12", "MRN 48 hours"),
    ),
    Rule(
        "insurance number",
        r"(?:insurance(?: (?:policy|plan|card|id|number|no)){0,2}"
        rf"|(?:policy|plan|subscriber|member|beneficiary)(?: (?:card|id|number|no)| ?(?=#))){_GAP}{_CODE}",
        _PLANS,
        ("insurance ID: [QX-482213]", "policy no. [48221344]", "Member # [Q48221344]"),
        ("plan 2", "insurance lapsed", "new plan 2015"),
    ),
    Rule(
        "Spanish insurance number",
        rf"(?:nass|nuss|n[ºo°]? ?ss){_GAP}(?P<value>\d\d[ /-]?\d{{7,8}}(?:[ /-]?\d\d)?)",
        ("ID_ASEGURAMIENTO", "HEALTHPLAN", "ID"),
        ("NASS: [28 48221344 07]", "nº SS [284822134407]"),
        ("NASS: no", "NASS 28"),
    ),
    Rule(
        "Spanish identity number",
        rf"(?:dni|nif|nie){_GAP}(?P<value>(?:[xyz][ -]?)?\d{{7,8}}(?:-?[a-z]|(?-i: [A-Z]))?)",
        ("ID_SUJETO_ASISTENCIA", "IDNUM", "ID"),
        ("DNI: [48221344Q]", "DNI [48221344 Q]", "NIE [X4822134Q]", "DNI [48221344] y acude"),
        ("DNI 48", "DNI: no consta"),
    ),
    Rule(
        "Spanish college number",
        rf"n[ºo°]? ?col(?:egiad[oa])?{_GAP}(?P<value>(?:\d\d[ -]?){{0,2}}\d{{4,6}})",
        ("ID_TITULACION_PERSONAL_SANITARIO", "LICENSE", "ID"),
        ("NºCol: [28 28 48221]", "nº colegiado [282848221]"),
        ("nº col 3", "NºCol:"),
    ),
    Rule(
        "number of an episode",
        rf"(?:episodio|episode (?:number|no)){_GAP}(?P<value>\d{{5,12}})",
        ("ID_CONTACTO_ASISTENCIAL", "IDNUM", "ID"),
        ("Episodio: [48221344]",),
        ("episodio 2",),
    ),
    Rule(
        "fax",
        rf"fax{_GAP}(?P<value>(?:\+\d{{1,3}}[ .-]?)?(?:\(\d{{2,4}}\) ?)?\d{{2,4}}(?:[ .-]?\d{{2,4}}){{1,4}})",
        ("FAX", "NUMERO_FAX", "FAX_NUMBER", "PHONE"),
        ("Fax: [(555) 555-0134]", "fax [914 555 013]"),
        ("fax it", "fax 12"),
    ),
    Rule(
        "telephone",
        r"(?:\+\d{1,3}[ .-]?|1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?: ?(?:x|ext\.?) ?\d{1,5})?"
        r"|(?:(?:\+|00) ?34[ .-]?)?[6789]\d\d[ .-]\d{2,3}[ .-]\d{2,3}(?:[ .-]\d{2,3})?|\+\d{1,3}(?:[ .-]?\d{2,4}){3,4}",
        _PHONES,
        (
            "(555) 555-0134",
            "555-555-0134 x12",
            "1-555-555-0134",
            "+34 914 555 013",
            "0034 914 55 50 13",
            "914 55 50 13",
            "+44 20 7946 0958",
        ),
        ("555-01", "120/80", "5 555"),
    ),
    Rule(
        "telephone after a word for it",
        r"(?:phone|telephone|tel|tlf|telf|tfno|tel[eé]fono|pager|beeper|cell(?= ?[:#])|m[oó]vil)"
        rf"{_GAP}(?P<value>\(?\d[\d() .-]{{3,16}}\d)",
        _PHONES,
        ("Tel. [555 0134]", "pager: [5-5013]", "teléfono [914555013]", "cell: [555 0134]"),
        ("tel aviv", "cell 4", "cell 12.500"),
    ),
    Rule(
        "date",
        "(?:" + "|".join([*(_numeric_date(mark) for mark in ("/", "-", r"\.")), WRITTEN_DATE]) + r")(?<!\.)",
        _DATES,
        ("03/14/72", "1972-03-14", "14 de marzo de 1972", "March 14, 1972", "14-03-1972", "on [3 Mar]. Then home"),
        ("120/80", "3.5", "in may", "93-12-23-7", "7.36/12/02", "10-0-10", "40-30-20"),
    ),
    Rule(
        "month and year",
        f"(?:{PATTERNS['month']})" + r"(?<!\.)",
        _DATES,
        ("March 1972", "marzo de 1972", "since [03/1972]"),
        ("13/197", "in may", "march on"),
    ),
    Rule(
        "age over 89",
        rf"{_OLD} ?-? ?(?:years?|yrs?|y/?o|y\.o\.)|(?P<value>(?:9\d|1[01]\d) ?años)|aged?{_GAP}{_OLD}"
        rf"|edad{_GAP}(?P<value>(?:9\d|1[01]\d)(?: años)?)",
        ("AGE", "EDAD_SUJETO_ASISTENCIA"),
        ("[93] years", "a [101]-year-old", "[93] y.o.", "[93]yo", "aged [101]", "edad: [95 años]", "de [95 años]"),
        ("89 years", "193 years", "93 mg", "page 93"),
    ),
    Rule(
        "postal code after a word for it",
        rf"(?:zip(?: ?code)?|postal code|post ?code|c\.?\s?p\.?|c[oó]digo postal){_GAP}{_ZIP}",
        _PLACES,
        ("zip code [02139]", "ZIP: [02139-1234]", "C.P. [28999]", "código postal [28999]"),
        ("zip 0213", "cp 280461"),
    ),
    Rule(
        "US postal code after a state",
        r"(?-i:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]"
        rf"|W[AIVY]),? {_ZIP}",
        ("ZIP", "LOCATION"),
        ("MA [02139]", "NY, [10001-1234]"),
        ("MA 0213", "12345", "in 12345 cases", "de 12345"),
    ),
)

# A find is no part of a longer word, number or chain of numbers.
_BEFORE, _AFTER = r"(?<![\w@])(?<!\d[-/.])", r"(?!\w)(?![-/.]\d)"
_COMPILED = [(rule, regex.compile(f"{_BEFORE}(?:{rule.form}){_AFTER}", regex.IGNORECASE)) for rule in RULES]
_WORTH_A_LOOK = regex.compile(r"\d|@|www|http", regex.IGNORECASE)


def find_rules(sentence: Sentence) -> Iterator[tuple[Rule, int, int]]:
    """What the rules find in a sentence: the rule, the first token, and the token after the last.

    Example:
        >>> from features.tokens import split_sentences
        >>> [(rule.name, a, b) for rule, a, b in find_rules(split_sentences("MRN: 48-2213, seen 3/14/72")[0])]
        [('record number', 2, 5), ('date', 7, 12)]
    """
    text, token_at = single_spaced(sentence)
    if not _WORTH_A_LOOK.search(text):
        return
    taken = [False] * len(sentence.tokens)
    for rule, form in _COMPILED:
        for match in form.finditer(text):
            start, end = match.span("value") if "value" in form.groupindex else match.span()
            first, stop = token_at[start], token_at[end - 1] + 1
            if not any(taken[first:stop]):
                taken[first:stop] = [True] * (stop - first)
                yield rule, first, stop
