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
        finds: values that it must find, whole.
        leaves: texts in which it must find nothing.
    """

    name: str
    form: str
    types: tuple[str, ...]
    finds: tuple[str, ...]
    leaves: tuple[str, ...]


_GAP = r"(?:\s?[:#.º°-]){0,3}\s?"
_PHONES = ("PHONE", "NUMERO_TELEFONO", "CONTACT")
_IDS = ("MEDICALRECORD", "IDNUM", "ID", "ID_SUJETO_ASISTENCIA")


def _numeric_date(mark: str) -> str:
    """A day, a month and a year in any usual order; stricter than `features.patterns`, since nothing else decides."""
    day, month, year = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
    return rf"(?:{day}{mark}{month}|{month}{mark}{day}){mark}(?:{year}|\d\d)|{year}{mark}{month}{mark}{day}"


RULES = (
    Rule(
        "e-mail", PATTERNS["email"], ("EMAIL", "CORREO_ELECTRONICO"), ("j.quill@tawn.org", "a_b@x.y.es"), ("a @", "3@4")
    ),
    Rule(
        "web address",
        r"(?:https?://|www\s?\.\s?)[^\s<>\"'()]{1,200}[\w/]",
        ("URL", "URL_WEB"),
        ("https://tawn.org/a?b=1", "www.tawn.org"),
        ("www", "http://"),
    ),
    Rule(
        "IP address",
        r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}",
        ("IPADDR", "IPADDRESS", "IP", "DIREC_PROT_INTERNET"),
        ("10.0.7.255", "2001:db8:0:0:0:0:0:1"),
        ("10.0.7.256", "1.2.3", "12:30:45"),
    ),
    Rule(
        "social security number", r"\d{3}-\d\d-\d{4}", ("SSN", "ID"), ("078-05-1120",), ("078-05-112", "1078-05-1120")
    ),
    Rule(
        "record number",
        r"(?:mrn|medical record(?: (?:number|no|#))?|record (?:number|no)|unit (?:number|no)|acct|account|nhc|nass|dni"
        rf"|nie|n[ºo°]? ?col(?:egiado)?){_GAP}(?P<value>[a-z]?\d[\d-]{{3,14}}(?:[ -]?[a-z](?!\w))?)",
        _IDS,
        ("MRN: 48-2213-7", "NHC 2213744", "Medical record number: A991204"),
        ("MRN pending", "account 12"),
    ),
    Rule(
        "fax",
        rf"fax{_GAP}(?P<value>(?:\+\d{{1,3}}[ .-]?)?(?:\(\d{{2,4}}\) ?)?\d{{2,4}}(?:[ .-]?\d{{2,4}}){{1,4}})",
        ("FAX", "NUMERO_FAX", "PHONE"),
        ("Fax: (555) 555-0134", "fax 914 555 013"),
        ("fax it", "fax 12"),
    ),
    Rule(
        "telephone",
        r"(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?: ?(?:x|ext\.?) ?\d{1,5})?"
        r"|(?:\+ ?34[ .-]?)?[6789]\d\d[ .-]\d{2,3}[ .-]\d{2,3}(?:[ .-]\d{2,3})?|\+\d{1,3}(?:[ .-]?\d{2,4}){3,4}",
        _PHONES,
        ("(555) 555-0134", "555-555-0134 x12", "+34 914 555 013", "914 55 50 13", "+44 20 7946 0958"),
        ("555-01", "120/80", "5 555"),
    ),
    Rule(
        "telephone after a word for it",
        rf"(?:phone|telephone|tel|tfno|tel[eé]fono|pager|beeper|cell|m[oó]vil){_GAP}"
        r"(?P<value>\(?\d[\d() .-]{3,16}\d)",
        _PHONES,
        ("Tel. 555 0134", "pager: 5-5013", "teléfono 914555013"),
        ("tel aviv", "cell 4"),
    ),
    Rule(
        "date",
        "|".join([*(_numeric_date(mark) for mark in ("/", "-", r"\.")), WRITTEN_DATE]),
        ("DATE", "FECHAS"),
        ("03/14/72", "1972-03-14", "14 de marzo de 1972", "March 14, 1972", "14-03-1972"),
        ("120/80", "3.5", "in may", "93-12-23-7", "7.36/12/02", "10-0-10", "40-30-20"),
    ),
    Rule(
        "age over 89",
        r"(?P<value>(?:9\d|1[01]\d) ?-? ?(?:years?|yrs?|y/?o|años))|(?P<value>(?:9\d|1[01]\d))yo"
        rf"|(?:aged?|edad){_GAP}(?P<value>(?:9\d|1[01]\d))",
        ("AGE", "EDAD_SUJETO_ASISTENCIA"),
        ("93 years", "aged 101", "edad: 95"),
        ("89 years", "193 years", "93 mg"),
    ),
    Rule(
        "US postal code after a state",
        r"(?<!\w)(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]"
        r"|W[AIVY]),? (?P<value>\d{5}(?:-\d{4})?)",
        ("ZIP", "LOCATION"),
        ("MA 02139", "NY, 10001-1234"),
        ("MA 0213", "12345"),
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
