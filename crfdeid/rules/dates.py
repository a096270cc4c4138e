"""Rules for dates."""

from __future__ import annotations

import re

from crfdeid.rules.rule import MARKS, Rule, one_of
from features.lexicons import MONTHS
from features.patterns import PATTERNS, WRITTEN_DATE, lower_for_patterns

_DATES = ("DATE", "FECHAS")
_MONTHS = tuple(sorted(MONTHS))
_YEAR = r"(?:19[3-9]\d|20[0-4]\d)"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_CENTURY = r"(?:19|20)\d\d"
_SHORT_YEAR = rf"(?:{_CENTURY}|['’]?\d\d)"
_BEFORE_YEARS = (
    *("en", "desde", "hasta", "entre", "principios de", "mediados de", "finales de"),
    *("in", "since", "until", "between", "during", "before", "after"),
)


def _numeric_date(mark: str) -> str:
    """A day, a month and a year in any usual order; stricter than `features.patterns`, since nothing else decides."""
    return rf"(?:{_DAY}{mark}{_MONTH}|{_MONTH}{mark}{_DAY}){mark}{_SHORT_YEAR}|{_CENTURY}{mark}{_MONTH}{mark}{_DAY}"


# Between the ends of a range, and between the days of a list. No text is read in two ways: a list would be read in 2^6.
_TO = (
    r"(?: ?[-–—] ?| (?:to|until|till|through|thru|and|al?|hasta|y|bis|und|au|jusqu['’]au|et|&)"
    r"(?: the| el| zum| le| am| día| el día| dem)? )"
)
_COMMA = rf"(?:{_TO}| ?[,/+] ?|& ?| &(?! )| ?, (?:and|y|und|et) (?:the |el |le )?| (?:or|o|e|ou|oder|u\.) )"


_STOP = r"\."


def _range_in_digits(mark: str) -> str:
    """Two dates in digits, one of which may lack its year, or its month and year."""
    day = rf"(?:{_DAY}{mark}{_MONTH}|{_MONTH}{mark}{_DAY})"
    stop = rf"{mark}?" if mark == r"\." else ""  # "14.03.-20.03.2031", "14.-20.03.2031"
    return (
        rf"{day}(?:{mark}{_SHORT_YEAR}|{stop}){_TO}{day}{mark}{_SHORT_YEAR}"
        rf"|{_CENTURY}{mark}{_MONTH}{mark}{_DAY}(?:{_TO}|/)(?:(?:{_CENTURY}{mark})?{_MONTH}{mark})?{_DAY}"
        rf"|{_DAY}{stop}{_TO}{_DAY}{mark}{_MONTH}{mark}{_SHORT_YEAR}"
        rf"|{_MONTH}{mark}{_DAY} ?[-–—] ?{_DAY}{mark}{_CENTURY}"
    )


# Between two dates in digits, each of which has a month of its own.
_BETWEEN_DATES = (
    r"(?:(?<=[/.-]\d)|(?<=[/.-]\d\d)|(?<=[/.-]\d{4}))"
    r"(?:\.?(?:[^\d/._’'-]{2,16}| - | ?[–—] ?)(?=\d+[/.-]\d)|(?<!-\d)(?<!-\d\d)\.?-(?=\d\d?[/.]\d\d?(?!\d))"
    r"|(?<=-\d\d)[-/](?=\d{4}-))"
)

# Days of one month; and what no number after a month's name may have next to it to be a day.
_NTH = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th|er|\.?[ºª]|\.)?"
_NO_DOSE = (
    r"(?![.,]?\d|[.,]\d| ?(?:m?c?g|ml|mm|cm|kg|ui|units?|tablets?|%|/|x|h|hours?|horas|days|días|weeks?|years?|años"
    r"|patients?|pacientes)(?!\w))"
)
_NAMED_MONTH = rf"{one_of(_MONTHS)}(?!\w)"
_OF = r"(?: ?, ?| (?:of|del?|del mes de|days? of) | ?[-/.] ?| ?)"
_OF_YEAR = rf"(?:(?: ?,? ?(?:of |del? |del año |in )?| ?[-/.] ?)(?:{_CENTURY}|['’]\d\d)(?!\d))?"

# Letters that scanners read for digits.
_SCANNED = str.maketrans("oOlI|sSbB", "001115588")
_PLAIN_DATE = re.compile("|".join(map(_numeric_date, ("/", "-", r"\."))))


def is_scanned_date(value: str) -> bool:
    """True for a date in digits, some of which a scanner has read as letters.

    Example:
        >>> [is_scanned_date(value) for value in ("O3/l4/1972", "03/14/1972", "o3/99/1972")]
        [True, False, False]
    """
    read = value.translate(_SCANNED)
    return read != value and _PLAIN_DATE.fullmatch(read) is not None


# A day and a month without a year. Ratios look alike: "5/5 strength", "3/14 nodes", "pain 4/10".
_RATED = (
    *("strength", "power", "grade", "pain", "gcs", "glasgow", "apgar", "score", "mmse", "moca", "gleason", "bp", "iop"),
    *("rated", "murmur", "fuerza", "grado", "grados", "dolor", "eva", "vas", "nrs", "ta", "pa", "pio", "av", "va"),
    *("escala", "motor", "arterial", "soplo", "positivos", "diluciones", "vicryl", "prolene", "kraft", "schmerz"),
    *("schmerzen", "rr", "visus", "kraftgrad", "force", "douleur", "tension", "tensión", "cotée", "cotation"),
)
_NO_RATIO = "".join(
    rf"(?<!\b{word}{between})" for word in _RATED for between in (" ", ": ", " of ", " de ", " is ", r" \(")
)
_NO_SHARE = (
    r"(?!,\d|%| ?(?:strength|power|systolic|diastolic|holosystolic|murmur|sem|ejection|pain|severity|nodes?|lymph|ln"
    r"|bottles?"
    r"|positive|negative|tabs?|tablets?|pills?|caps?|amps?|m?c?g|ml|l|cc|ns|saline|cups?|tsp|teaspoons?|of|mm|mmhg|cm"
    r"|bilateral|bilaterally|throughout|proximal(?:es)?|distal(?:es)?|medio|media|superior(?:es)?|inferior(?:es)?"
    r"|partes?|campos|bue|ble|ue|le|weakness|right|left|derech[oa]|izquierd[oa]|edema|pulses?|reflex(?:es)?|h|hours?"
    r"|horas|de (?:la|los|las|su)|del|al día|on (?:the )?(?:right|left)|tabletten?|comprimés?|comprimidos?|links"
    r"|in (?:the |all |both |bilateral )?(?:right|left|upper|lower|extremities|arms|legs|severity|intensity)|rechts"
    r"|doses?|dosis)(?!\w))"
)
_BEFORE_PAIR = rf"(?=\d\d?/\d\d?(?!\d))(?<![^\W_])(?<!\d[.,/])(?:(?<!\d-)|(?<=/\d-)|(?<=/\d\d-)){_NO_RATIO}"
_AFTER_PAIR = rf"(?![^\W_])(?![/.]\d|-\d{{1,2}}(?:[.-]\d|/\d{{1,2}}/)){_NO_SHARE}"
_WHOLE = rf"(?:{_DAY}/{_MONTH}|{_MONTH}/{_DAY})"
_BETWEEN_DAYS = r"(?:(?<=[/.]\d)|(?<=[/.]\d\d))\.?[^\d/.]{1,16}"
_PAIR = rf"{_BEFORE_PAIR}{_WHOLE}{_AFTER_PAIR}"
_PAIRS = rf"{_PAIR}(?:{_COMMA}{_PAIR}){{0,8}}"
# No ratio: a part with a leading zero, or above 12 and no number that scores are of ("3/15" on Glasgow's scale).
_SHAPE_OF_SURE = r"(?=0\d?/|\d\d?/0|(?:1[3-9]|2\d|3[01])/|\d\d?/(?:1[3479]|2[1236-9]|31))"
_SURE_PAIR = rf"{_BEFORE_PAIR}{_SHAPE_OF_SURE}(?:{_DAY}/{_MONTH}|{_MONTH}/{_DAY}){_AFTER_PAIR}"
_SURE_CUES = (
    *("admitted", "discharged", "transferred", "seen", "dated", "visit", "week of", "as of", "since", "until", "till"),
    *("through", "thru", "appt", "appointment", "f/u", "scheduled for", "due", "started", "stopped", "d/c'd", "dc'd"),
    *("admitted on", "discharged on", "seen on", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"),
    *("sunday", "mon", "tues", "tue", "weds", "wed", "thurs", "thu", "fri", "sat", "desde el", "hasta el", "el día"),
    *("los días", "fecha", "ingresado el", "ingresada el", "ingreso el", "alta el", "lunes", "martes", "miércoles"),
    *("jueves", "viernes", "sábado", "domingo", "vom", "seit", "seit dem", "bis zum", "montag", "dienstag", "mittwoch"),
    *("donnerstag", "freitag", "samstag", "sonntag", "depuis le", "jusqu'au", "lundi", "mardi", "mercredi", "jeudi"),
    *("vendredi", "samedi", "dimanche", "desde", "hasta", "depuis"),
)
_SURE_CUE = rf"(?<!\w){one_of(_SURE_CUES)}[.,:]? ?\(?"
_CUES = ("on", "by", "before", "after", "from", "el", "del", "al", "le", "du", "au", "am", "ab", "bis", "zum")
_CUE = rf"(?<!\w){one_of(_CUES)} \(?"
_FOUND_PAIR = re.compile(rf"(?:(?P<cue>{_SURE_CUE})|(?P<weak>{_CUE}))?(?P<pair>{_PAIR})")
_IS_SURE = re.compile(rf"{_SHAPE_OF_SURE}[\d/]+")
_GERMAN_CUES = ("am", "vom", "zum", "bis", "seit", "ab", "dem", "den", "op", "aufnahme", "entlassung")
_RARE_WORDS = (*_GERMAN_CUES, "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_FULL_DATE = re.compile(rf"(?<!\d)({_DAY}/{_MONTH}|{_MONTH}/{_DAY})/(?:{_CENTURY}|\d\d)(?!\d)")


def has_days_without_year(note: str) -> bool:
    """True for a note with two days that lack their year and are no ratios, or with one and its month again.

    Example:
        >>> [has_days_without_year(note) for note in ("CT 3/14, MRI 3/20", "strength 4/5, pain 3/10", "2/6 and 3/14")]
        [True, False, False]
    """
    text = lower_for_patterns(note)
    sure, others = set[str](), set[str](_FULL_DATE.findall(text))
    cued = False
    for match in _FOUND_PAIR.finditer(text):
        pair = match["pair"]
        (sure if match["cue"] or _IS_SURE.match(pair) else others).add(pair)
        in_range = text.endswith(("-", "–"), 0, match.start("pair"))
        cued = cued or ((match["weak"] is not None or in_range) and pair not in sure)
    return len(sure) > 1 or (bool(sure) and (cued or any(_share_month(min(sure), other) for other in others - sure)))


def _share_month(pair: str, other: str) -> bool:
    """True for two days of one month with day and month in one order."""
    one, two = (tuple(map(int, each.split("/"))) for each in (pair, other))
    return any(one[at] == two[at] < 13 and max(one[1 - at], two[1 - at]) > 6 for at in (0, 1))


DATE_RULES = (
    Rule(
        "range of dates in digits",
        rf"(?=\d{{1,4}}(?:[/.-]| [^\W\d]{{1,8}} | ?[-–—]))(?:{'|'.join(map(_range_in_digits, ('/', '-', _STOP)))})",
        _DATES,
        (
            *(
                "[03/14/2031]-[03/20/2031]",
                "from [3/14/31] to [3/20/31]",
                "[3/14]-[3/20/31]",
                "14-20/03/2031",
                "3/14-20/2031",
            ),
            *("[2031-03-14] - [2031-03-20]", "2031-03-14 to 20", "del [14/03] al [20/03/2031]", "14.-20.03.2031"),
            *("[14.03].-[20.03.2031]", "vom [14.03]. bis zum [20.03.2031]", "du [14/03/2031] au [20/03/2031]"),
            "[2031-03-14]/[2031-03-20]",
        ),
        ("14-20", "3/14-3/20", "2-4/5", "1.5-2.5", "10-12-14"),
        words=MARKS,
        separator=_BETWEEN_DATES,
        digits=5,
    ),
    Rule(
        "date and time",
        r"(?:19|20)\d\d-[01]\d-[0-3]\dT[0-2]\d:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?",
        _DATES,
        ("1972-03-14T10:22:48Z", "1972-03-14T10:22", "1972-03-14T10:22:48.123+01:00"),
        ("T10:22", "1972-03T10:22"),
        digits=12,
    ),
    Rule(
        "date in digits",
        "|".join(_numeric_date(mark) for mark in ("/", "-", r"\. ?", "_"))
        # in German; a decimal at the end of a sentence has no further mark
        + r"|(?:0[1-9]|[12]\d|3[01])\.(?:0[1-9]|1[0-2])(?=\.[:,;)/–-])",
        _DATES,
        (
            *("03/14/72", "1972-03-14", "14-03-1972", "1.2.1972", "12-04-'31", "14. 3. 2031", "2031_03_14"),
            *("[14.03].: Fieber", "Sono [14.03]., gut"),
        ),
        ("120/80", "3.5", "93-12-23-7", "7.36/12/02", "10-0-10", "40-30-20", "Hb 12.05. Today"),
        words=MARKS,
        digits=4,
    ),
    Rule(
        "date in digits with letters of a scanner",
        r"(?=[\doli|sb]{1,4}[/.-])(?=(?:[^\d ]{0,4}\d){3})(?:[\doli|sb]{1,2}([/.-])[\doli|sb]{1,2}\1[\doli|sb]{4}"
        r"|[\doli|sb]{4}([/.-])[\doli|sb]{1,2}\2[\doli|sb]{1,2})",
        _DATES,
        ("O3/14/1972", "l4.03.1972", "03-1S-1972", "2O31-03-14"),
        ("03/14/1972", "sol/si/bobo", "10/is/1234", "O3/99/1972"),
        words=MARKS,
        check=is_scanned_date,
        digits=3,
    ),
    Rule(
        "day, month in Roman numerals and year",
        rf"(?=\d\d?[/.-] ?[IVX]|[IVX]{{1,4}}[./-]\d)(?-i:{_DAY}(?:\. ?|[/-])(?:I{{1,3}}|I?V|VI{{1,3}}|I?X"
        rf"|XI{{1,2}})(?:\. ?|[/-])(?:{_CENTURY}|['’]?\d\d)"
        rf"|(?:I{{1,3}}|I?V|VI{{1,3}}|I?X|XI{{1,2}})[./-]{_CENTURY})",
        _DATES,
        ("14.III.2031", "14/XI/31", "4.IV.2031", "14-XII-2031", "since [III.2031]"),
        ("grade 2/IV", "III/VI", "14.iii.2031", "II-III"),
        words=_RARE_WORDS,
        digits=3,
    ),
    Rule(
        "days of a month",
        rf"(?:{_NTH}(?:{_COMMA}{_NTH}){{1,6}}(?: of| de|,)? (?!(?-i:may|march)(?!\w)){_NAMED_MONTH}{_OF_YEAR}"
        rf"|(?!(?-i:may|march)(?!\w)){_NAMED_MONTH}\.? (?:the )?{_NTH}(?:{_COMMA}{_NTH}(?!\w)){{1,6}}{_NO_DOSE}"
        rf"(?:,? (?:of )?{_CENTURY})?)(?<!\.)",
        _DATES,
        (
            *("14-20 March 2031", "14 to 20 March", "14th and 20th of May", "March 14-20, 2031", "March 14, 16 and 20"),
            *("del [14 al 20 de marzo de 2031]", "los días [14, 16 y 20 de marzo]", "entre el [14 y el 20 de marzo]"),
            *("vom [14. bis 20. März 2031]", "am [14./15. März]", "du [14 au 20 mars 2031]", "les [14 et 20 mars]"),
        ),
        ("2 or 3 may help", "March 14-20 mg", "1 and 2", "14 al 20 de mayores"),
        words=_MONTHS,
        digits=2,
    ),
    Rule(
        "date with other marks",
        rf"(?:{_NTH}{_OF}{_NAMED_MONTH}\.?(?: ?,? ?| ?[-/.] ?)['’]\d\d|{_NAMED_MONTH}\.? (?:{_NTH},? )?['’]\d\d"
        rf"|[0-3]?\d{one_of(_MONTHS)}(?:{_CENTURY}|\d\d)|{one_of(_MONTHS)}{_CENTURY}"
        rf"|{_NTH}\. ?{_NAMED_MONTH}\. ?{_SHORT_YEAR}|{_CENTURY}[-/. ]{_NAMED_MONTH}[-/. ]{_NTH}"
        rf"|{_NTH} (?:day of|del mes de) {_NAMED_MONTH}{_OF_YEAR}|{_NAMED_MONTH} the {_NTH}(?!\w){_OF_YEAR})(?<!\.)",
        _DATES,
        (
            *("14 Mar '31", "March '31", "14MAR2031", "14mar31", "14.Mar.2031", "2031-Mar-14"),
            *("the [14th day of March, 2031]", "March the 14th", "14-Mar-'31", "el [14 del mes de marzo]"),
        ),
        ("may '", "14 marks", "2031 patients", "mar31"),
        words=_MONTHS,
        digits=1,
    ),
    Rule(
        "date",
        f"(?:{WRITTEN_DATE})" + r"(?<!\.)",
        _DATES,
        ("14 de marzo de 1972", "March 14, 1972", "on [3 Mar]. Then home"),
        ("in may", "14 de 1972"),
        words=_MONTHS,
        digits=1,
    ),
    Rule(
        "month and year",
        rf"(?!\d)(?:{one_of(_MONTHS)}(?: (?:y|and|to|through|a|bis|und|et|à) "
        rf"| ?[-–/] ?))?(?:{PATTERNS['month']})(?<!\.)"
        rf"|{one_of(_MONTHS)}(?= del? (?:mismo|ese|este|dicho) año(?!\w)| of (?:the same|that|this) year(?!\w))",
        _DATES,
        (
            *("March 1972", "marzo de 1972", "Marzo y abril de 1972", "en [junio] del mismo año", "March-April 1972"),
            "March to April 1972",
        ),
        ("in may", "march on", "junio del año"),
        words=_MONTHS,
    ),
    Rule(
        "month and year in digits",
        r"(?:0?[1-9]|1[0-2])[/-](?:19\d\d|20[0-3]\d)|(?<![^\W_])(?<![\d,.])(?:0[1-9]|1[0-2])\.(?:19[3-9]\d|20[0-3]\d)"
        r"(?![.,]?\d| ?(?:[a-zµ]{1,4}/|%|m?[glm](?!\w)))|(?:19[3-9]\d|20[0-3]\d)[-/]0[1-9]",
        _DATES,
        ("since [03/1972]", "im [03.2021]", "in [2031-03]"),
        ("13/197", "13/1972", "1/2048", "10.2021 mg", "0.2021", "3.2021", "2009-10"),
        words=MARKS,
        digits=5,
    ),
    Rule(
        "day and month after a word for it",
        rf"{_SURE_CUE}(?P<sure>{_PAIRS})|{_CUE}(?P<value>{_SURE_PAIR}(?:{_COMMA}{_PAIR}){{0,8}})",
        _DATES,
        (
            *(
                "on [3/14]",
                "seen [3/5]",
                "since [3/14]",
                "Mon [3/15]",
                "from [3/14] to [3/20]",
                "el [14/03]",
                "le [14/03]",
            ),
            *("del [14/03] al [20/03]", "desde el [5/3]", "discharged [3/14] and [3/20]"),
        ),
        ("on 4/5", "from 4/10 to 2/10", "el 1/3 medio", "strength on 5/5", "after 3/14 nodes", "seen 120/80", "by 2/3"),
        words=("/",),
        separator=_BETWEEN_DAYS,
        digits=2,
    ),
    Rule(
        "day and month in German",
        rf"(?:{'|'.join(_GERMAN_CUES)}) (?P<value>"
        rf"(?:{_DAY}\.(?: ?{_MONTH}\.)?(?: ?[-–,/] ?| (?:und|bis|bis zum|u\."
        rf"|sowie) )(?:am )?){{0,5}}{_DAY}\. ?{_MONTH})"
        r"(?=\.(?!\d))",
        _DATES,
        (
            *("am [14.03]. und [20.3]. gesehen", "vom [14.-20.03]. hier", "seit [4.3]. krank"),
            "vom [14.3]. bis zum [20.3].",
        ),
        ("am 4.13.", "am 4.1 mmol", "4.1.", "am 14. Tag", "Hb 12.05. Heute"),
        words=_RARE_WORDS,
        separator=_BETWEEN_DAYS,
        language="de",
        digits=2,
    ),
    Rule(
        "day and month in a note with several",
        _PAIRS,
        _DATES,
        ("CT [3/14], [3/20] again",),
        ("CT 3/14, strength 4/5", "2/6 murmur", "3/14 nodes and 4/17 nodes", "pain 4/10, then 2/10", "vision 20/20"),
        words=("/",),
        in_note=has_days_without_year,
        separator=_BETWEEN_DAYS,
        digits=2,
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
        digits=4,
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
        digits=4,
    ),
)
