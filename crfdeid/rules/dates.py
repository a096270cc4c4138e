"""Rules for dates."""

from __future__ import annotations

from crfdeid.rules.rule import Rule, one_of
from features.lexicons import MONTHS
from features.patterns import PATTERNS, WRITTEN_DATE

_DATES = ("DATE", "FECHAS")
_MONTHS = tuple(sorted(MONTHS))
_YEAR = r"(?:19[3-9]\d|20[0-4]\d)"
_BEFORE_YEARS = (
    *("en", "desde", "hasta", "entre", "principios de", "mediados de", "finales de"),
    *("in", "since", "until", "between", "during", "before", "after"),
)


def _numeric_date(mark: str) -> str:
    """A day, a month and a year in any usual order; stricter than `features.patterns`, since nothing else decides."""
    day, month, year = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
    return rf"(?:{day}{mark}{month}|{month}{mark}{day}){mark}(?:{year}|\d\d)|{year}{mark}{month}{mark}{day}"


DATE_RULES = (
    Rule(
        "date and time",
        r"(?:19|20)\d\d-[01]\d-[0-3]\dT[0-2]\d:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?",
        _DATES,
        ("1972-03-14T10:22:48Z", "1972-03-14T10:22", "1972-03-14T10:22:48.123+01:00"),
        ("T10:22", "1972-03T10:22"),
    ),
    Rule(
        "date in digits",
        "|".join(_numeric_date(mark) for mark in ("/", "-", r"\.")),
        _DATES,
        ("03/14/72", "1972-03-14", "14-03-1972", "1.2.1972"),
        ("120/80", "3.5", "93-12-23-7", "7.36/12/02", "10-0-10", "40-30-20"),
        words=("/", "-", "."),
    ),
    Rule(
        "date",
        f"(?:{WRITTEN_DATE})" + r"(?<!\.)",
        _DATES,
        ("14 de marzo de 1972", "March 14, 1972", "on [3 Mar]. Then home"),
        ("in may", "14 de 1972"),
        words=_MONTHS,
    ),
    Rule(
        "month and year",
        rf"(?!\d)(?:{one_of(_MONTHS)} (?:y|and) )?(?:{PATTERNS['month']})(?<!\.)"
        rf"|{one_of(_MONTHS)}(?= del? (?:mismo|ese|este|dicho) año(?!\w)| of (?:the same|that|this) year(?!\w))",
        _DATES,
        ("March 1972", "marzo de 1972", "Marzo y abril de 1972", "en [junio] del mismo año"),
        ("in may", "march on", "junio del año"),
        words=_MONTHS,
    ),
    Rule(
        "month and year in digits",
        r"(?:0?[1-9]|1[0-2])[/-](?:19\d\d|20[0-3]\d)",
        _DATES,
        ("since [03/1972]",),
        ("13/197", "13/1972", "1/2048"),
        words=("/", "-"),
    ),
    Rule(
        "year after a word for it",
        rf"(?P<value>(?:año|year) {_YEAR})|\((?P<enclosed>{_YEAR})(?=\)| (?:y|and) {_YEAR}\))"
        rf"|(?:{one_of(_BEFORE_YEARS)}(?: el| the year)? |(?<=(?:19|20)\d\d y )|(?<=(?:19|20)\d\d and ))"
        rf"(?P<alone>{_YEAR})"
        r"(?![\d.,/:-]*\d| ?(?:m?[glm]|mm?ol|kcal|cc|ui|%)(?!\w))",
        _DATES,
        (
            *("en [2006] se operó", "en el [año 1992]", "since [1998]", "in [2011], he", "desde el [2006]"),
            *("a principios de [2006]", "surgery ([2011])"),
        ),
        ("2006", "en 2500 casos", "of 1998", "en 2006 mg", "in 1998.5", "(Quill, 1998)", "(1998 g)"),
        words=(*(word.split()[0] for word in _BEFORE_YEARS), "año", "year", "(", "y", "and"),
        requires_support=True,
    ),
    Rule(
        "date of birth after its name",
        r"\d{6}|\d{8}|\d{1,2} \d{1,2} (?:19|20)?\d\d",
        _DATES,
        ("DOB [14031972]", "date of birth: [14 3 72]", "F. nacimiento: [140372]"),
        ("born 3", "dob unknown", "born at 38 weeks"),
        left_context=(
            *("dob", "d.o.b", "date of birth", "birth date", "birthdate", "birthday", "born", "born on"),
            *("fecha de nacimiento", "nacimiento"),
        ),
    ),
)
