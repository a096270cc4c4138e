"""Rules for dates, with the words of the tables "dates" of the language packs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from crfdeid.rules.rule import Rule, any_of
from features.languages import Language
from features.lexicons import spellings
from features.patterns import lower_for_patterns

_DATES = ("DATE", "FECHAS")
_YEAR = r"(?:19[3-9]\d|20[0-4]\d)"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_CENTURY = r"(?:19|20)\d\d"
_SHORT_YEAR = rf"(?:{_CENTURY}|['’]?\d\d)"
_STOP = r"\."
_SPACE = "(?: |(?<=['’]))"  # none after an elision: "dall'11"
# Signs inside dates: one set for many rules, since the prefilter keeps a bit for each set of words.
_MARKS = ("/", "-", ".", "_")


def _numeric_date(mark: str) -> str:
    """A day, a month and a year in any usual order; stricter than `features.patterns`, since nothing else decides."""
    return rf"(?:{_DAY}{mark}{_MONTH}|{_MONTH}{mark}{_DAY}){mark}{_SHORT_YEAR}|{_CENTURY}{mark}{_MONTH}{mark}{_DAY}"


def _range_in_digits(mark: str, to: str) -> str:
    """Two dates in digits, one of which may lack its year, or its month and year; ``to`` is what is between them."""
    day = rf"(?:{_DAY}{mark}{_MONTH}|{_MONTH}{mark}{_DAY})"
    stop = rf"{mark}?" if mark == _STOP else ""  # "14.03.-20.03.2031", "14.-20.03.2031"
    return (
        rf"{day}(?:{mark}{_SHORT_YEAR}|{stop}){to}{day}{mark}{_SHORT_YEAR}"
        rf"|{_CENTURY}{mark}{_MONTH}{mark}{_DAY}(?:{to}|/)(?:(?:{_CENTURY}{mark})?{_MONTH}{mark})?{_DAY}"
        rf"|{_DAY}{stop}{to}{_DAY}{mark}{_MONTH}{mark}{_SHORT_YEAR}"
        rf"|{_MONTH}{mark}{_DAY} ?[-–—] ?{_DAY}{mark}{_CENTURY}"
    )


# Between two dates in digits, each of which has a month of its own.
_BETWEEN_DATES = (
    r"(?:(?<=[/.-]\d)|(?<=[/.-]\d\d)|(?<=[/.-]\d{4}))"
    r"(?:\.?(?:[^\d/._’'-]{2,16}['’]?| - | ?[–—] ?)(?=\d+[/.-]\d)|(?<!-\d)(?<!-\d\d)\.?-(?=\d\d?[/.]\d\d?(?!\d))"
    r"|(?<=-\d\d)[-/](?=\d{4}-))"
)

# A day of a month, before its name or after it; as a feature has it.
_NTH = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th|er|\.?[ºª]|\.)?"
_PLAIN_DAY = r"[0-3]?\d(?:st|nd|rd|th|er|º)?"

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


_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


def _entries(packs: Iterable[Language], name: str) -> set[str]:
    """The entries of a list of the tables "dates"."""
    return {entry for pack in packs for entry in pack.entries("dates", name)}


def _between(packs: Iterable[Language]) -> tuple[str, str]:
    """What is between the ends of a range, and between the days of a list.

    No text is read in two ways: a list would be read in 2^6.
    """
    articles = rf"(?: {any_of(_entries(packs, 'articles'))})?{_SPACE}"
    to = rf"(?: ?[-–—] ?| (?:{any_of(_entries(packs, 'between'))}|&){articles})"
    joint = any_of({word for pack in packs for word in pack.cues["and"]} - {"&"})
    last = rf"(?: {any_of(_entries(packs, 'joint'))}{articles})"
    return to, rf"(?:{to}| ?[,/+] ?|& ?| &(?! )| ?, {joint}{articles}|{last})"


# --- a day and a month without a year

# Ratios look alike: "5/5 strength", "3/14 nodes", "pain 4/10".
_SCORES = ("gcs", "glasgow", "apgar", "mmse", "moca", "gleason", "iop", "vas", "nrs", "va", "vicryl", "prolene")
_UNITS = r"m?c?g|ml|l|cc|ns|mm|mmhg|cm|h"
_WHOLE = rf"(?:{_DAY}/{_MONTH}|{_MONTH}/{_DAY})"
_BETWEEN_DAYS = r"(?:(?<=[/.]\d)|(?<=[/.]\d\d))\.?[^\d/.]{1,16}"
# No ratio: a part with a leading zero, or above 12 and no number that scores are of ("3/15" on Glasgow's scale).
_SHAPE_OF_SURE = r"(?=0\d?/|\d\d?/0|(?:1[3-9]|2\d|3[01])/|\d\d?/(?:1[3479]|2[1236-9]|31))"
_IS_SURE = re.compile(rf"{_SHAPE_OF_SURE}[\d/]+")
_FULL_DATE = re.compile(rf"(?<!\d)({_DAY}/{_MONTH}|{_MONTH}/{_DAY})/(?:{_CENTURY}|\d\d)(?!\d)")


class DaysWithoutYear:
    """A day and a month without a year, such as "3/14", in notes of some languages.

    Args:
        packs: the languages.

    Attributes:
        pairs: expression of one such day or several.
        cued: expression of one or several after a word that announces a day.
    """

    def __init__(self, packs: Sequence[Language]) -> None:
        weekdays = {names[0] for pack in packs for names in pack.weekdays}
        sure_cue = rf"(?<!\w){any_of({*weekdays, *_entries(packs, 'cues')})}[.,:]? ?\(?"
        cue = rf"(?<!\w){any_of(_entries(packs, 'weak_cues'))}{_SPACE}\(?"
        links = (" ", ": ", r" \(", *(f" {word} " for word in _entries(packs, "score_links")))
        scores = {*_SCORES, *_entries(packs, "scores")}
        no_ratio = "".join(rf"(?<!\b{word}{link})" for word in sorted(scores) for link in sorted(links))
        before = rf"(?=\d\d?/\d\d?(?!\d))(?<![^\W_])(?<!\d[.,/])(?:(?<!\d-)|(?<=/\d-)|(?<=/\d\d-)){no_ratio}"
        no_share = rf"(?!,\d|%| ?(?:{_UNITS}|{any_of(_entries(packs, 'shares'))})(?!\w))"
        after = rf"(?![^\W_])(?![/.]\d|-\d{{1,2}}(?:[.-]\d|/\d{{1,2}}/)){no_share}"
        pair, comma = rf"{before}{_WHOLE}{after}", _between(packs)[1]
        self.pairs = rf"{pair}(?:{comma}{pair}){{0,8}}"
        sure_pair = rf"{before}{_SHAPE_OF_SURE}{_WHOLE}{after}"
        self.cued = rf"{sure_cue}(?P<sure>{self.pairs})|{cue}(?P<value>{sure_pair}(?:{comma}{pair}){{0,8}})"
        self._found = re.compile(rf"(?:(?P<cue>{sure_cue})|(?P<weak>{cue}))?(?P<pair>{pair})")

    def are_in(self, note: str) -> bool:
        """True for a note with two days that lack their year and are no ratios, or with one and its month again.

        Example:
            >>> from features.languages import LANGUAGES
            >>> are_in = DaysWithoutYear([LANGUAGES["en"]]).are_in
            >>> [are_in(note) for note in ("CT 3/14, MRI 3/20", "strength 4/5, pain 3/10", "2/6 and 3/14")]
            [True, False, False]
        """
        text = lower_for_patterns(note)
        sure, others = set[str](), set[str](_FULL_DATE.findall(text))
        cued = False
        for match in self._found.finditer(text):
            pair = match["pair"]
            (sure if match["cue"] or _IS_SURE.match(pair) else others).add(pair)
            in_range = text.endswith(("-", "–"), 0, match.start("pair"))
            cued = cued or ((match["weak"] is not None or in_range) and pair not in sure)
        return len(sure) > 1 or (
            bool(sure) and (cued or any(_share_month(min(sure), other) for other in others - sure))
        )


def _share_month(pair: str, other: str) -> bool:
    """True for two days of one month with day and month in one order."""
    one, two = (tuple(map(int, each.split("/"))) for each in (pair, other))
    return any(one[at] == two[at] < 13 and max(one[1 - at], two[1 - at]) > 6 for at in (0, 1))


def date_rules(packs: Sequence[Language]) -> Iterator[Rule]:
    """The rules for dates in notes of some languages."""
    to, comma = _between(packs)
    yield from _rules_in_digits(packs, to)
    yield from _rules_with_months(packs, to, comma)
    yield from _rules_with_cues(packs)


def _rules_in_digits(packs: Sequence[Language], to: str) -> Iterator[Rule]:
    """Rules for dates without names of months."""
    stops = _entries(packs, "stops")
    ranges = "|".join(_range_in_digits(mark, to) for mark in ("/", "-", _STOP))
    rare_words = (*sorted({word.split()[0] for word in stops}), *_NUMERALS)
    yield Rule(
        "range of dates in digits",
        rf"(?=\d{{1,4}}(?:[/.-]| [^\W\d]{{1,8}} | ?[-–—]))(?:{ranges})",
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
        words=_MARKS,
        separator=_BETWEEN_DATES,
        digits=5,
    )
    yield Rule(
        "date and time",
        r"(?:19|20)\d\d-[01]\d-[0-3]\dT[0-2]\d:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?",
        _DATES,
        ("1972-03-14T10:22:48Z", "1972-03-14T10:22", "1972-03-14T10:22:48.123+01:00"),
        ("T10:22", "1972-03T10:22"),
        digits=12,
    )
    yield Rule(
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
        words=_MARKS,
        digits=4,
    )
    yield Rule(
        "date in digits with letters of a scanner",
        r"(?=[\doli|sb]{1,4}[/.-])(?=(?:[^\d ]{0,4}\d){3})(?:[\doli|sb]{1,2}([/.-])[\doli|sb]{1,2}\1[\doli|sb]{4}"
        r"|[\doli|sb]{4}([/.-])[\doli|sb]{1,2}\2[\doli|sb]{1,2})",
        _DATES,
        ("O3/14/1972", "l4.03.1972", "03-1S-1972", "2O31-03-14"),
        ("03/14/1972", "sol/si/bobo", "10/is/1234", "O3/99/1972"),
        words=_MARKS,
        check=is_scanned_date,
        digits=3,
    )
    yield Rule(
        "day, month in Roman numerals and year",
        rf"(?=\d\d?[/.-] ?[IVX]|[IVX]{{1,4}}[./-]\d)(?-i:{_DAY}(?:\. ?|[/-])(?:I{{1,3}}|I?V|VI{{1,3}}|I?X"
        rf"|XI{{1,2}})(?:\. ?|[/-])(?:{_CENTURY}|['’]?\d\d)"
        rf"|(?:I{{1,3}}|I?V|VI{{1,3}}|I?X|XI{{1,2}})[./-]{_CENTURY})",
        _DATES,
        ("14.III.2031", "14/XI/31", "4.IV.2031", "14-XII-2031", "since [III.2031]"),
        ("grade 2/IV", "III/VI", "14.iii.2031", "II-III"),
        words=rare_words,
        digits=3,
    )
    yield Rule(
        "month and year in digits",
        r"(?:0?[1-9]|1[0-2])[/-](?:19\d\d|20[0-3]\d)|(?<![^\W_])(?<![\d,.])(?:0[1-9]|1[0-2])\.(?:19[3-9]\d|20[0-3]\d)"
        r"(?![.,]?\d| ?(?:[a-zµ]{1,4}/|%|m?[glm](?!\w)))|(?:19[3-9]\d|20[0-3]\d)[-/]0[1-9]",
        _DATES,
        ("since [03/1972]", "im [03.2021]", "in [2031-03]"),
        ("13/197", "13/1972", "1/2048", "10.2021 mg", "0.2021", "3.2021", "2009-10"),
        words=_MARKS,
        digits=5,
    )
    if stops:
        joint = any_of({word for pack in packs for word in (*pack.cues["and"], *pack.entries("dates", "joint"))})
        between = any_of(_entries(packs, "between"))
        articles = any_of(_entries(packs, "articles"))
        mark = rf"(?: ?[-–,/] ?| (?:{joint}|{between}(?: {articles})?) )(?:{articles} )?"
        yield Rule(
            "day and month with full stops",
            rf"{any_of(stops)} (?P<value>(?:{_DAY}\.(?: ?{_MONTH}\.)?{mark}){{0,5}}{_DAY}\. ?{_MONTH})(?=\.(?!\d))",
            _DATES,
            (
                *("am [14.03]. und [20.3]. gesehen", "vom [14.-20.03]. hier", "seit [4.3]. krank"),
                "vom [14.3]. bis zum [20.3].",
            ),
            ("am 4.13.", "am 4.1 mmol", "4.1.", "am 14. Tag", "Hb 12.05. Heute"),
            words=rare_words,
            separator=_BETWEEN_DAYS,
            digits=2,
        )


def _rules_with_months(packs: Sequence[Language], to: str, comma: str) -> Iterator[Rule]:
    """Rules for dates with the name of a month."""
    names = {form.lower() for pack in packs for names in pack.months for form in names}
    names = {form for name in names for form in (name, *spellings(name))}
    words, small = tuple(sorted(names)), _entries(packs, "small")
    month, month_after_stop = any_of(names), any_of(names - small)
    whole, no_word = rf"{month}(?!\w)", rf"(?!(?-i:{any_of(small)})(?!\w))"
    articles, of = any_of(_entries(packs, "articles")), any_of(_entries(packs, "of"))
    days_of, of_year = any_of(_entries(packs, "days_of")), any_of(_entries(packs, "of_year"))
    between_parts = rf"(?: ?, ?| (?:{days_of}|{of}) | ?[-/.] ?| ?)"
    year = rf"(?:(?: ?,? ?(?:{of_year} )?| ?[-/.] ?)(?:{_CENTURY}|['’]\d\d)(?!\d))?"
    no_dose = (
        r"(?![.,]?\d|[.,]\d| ?(?:m?c?g|ml|mm|cm|kg|ui|%|/|x|h"
        rf"|{any_of(_entries(packs, 'counted'))})(?!\w))"
    )
    plain_month, plain_of = rf"{month}\.?", rf"(?: ?, ?| (?:{of_year}|{of}) | |-|/)"
    plain_year = rf"(?:{plain_of}(?:{_CENTURY}|\d\d))"
    in_month = rf"{any_of(_entries(packs, 'month'))} "
    yield Rule(
        "days of a month",
        rf"(?:{_NTH}(?:{comma}{_NTH}){{1,6}}(?: {of}|,)? {no_word}{whole}{year}"
        rf"|{no_word}{whole}\.? (?:{articles} )?{_NTH}(?:{comma}{_NTH}(?!\w)){{1,6}}{no_dose}"
        rf"(?:,? (?:{of} )?{_CENTURY})?)(?<!\.)",
        _DATES,
        (
            *("14-20 March 2031", "14 to 20 March", "14th and 20th of May", "March 14-20, 2031", "March 14, 16 and 20"),
            *("del [14 al 20 de marzo de 2031]", "los días [14, 16 y 20 de marzo]", "entre el [14 y el 20 de marzo]"),
            *("vom [14. bis 20. März 2031]", "am [14./15. März]", "du [14 au 20 mars 2031]", "les [14 et 20 mars]"),
        ),
        ("2 or 3 may help", "March 14-20 mg", "1 and 2", "14 al 20 de mayores"),
        words=words,
        digits=2,
    )
    yield Rule(
        "date with other marks",
        rf"(?:{_NTH}{between_parts}{whole}\.?(?: ?,? ?| ?[-/.] ?)['’]\d\d|{whole}\.? (?:{_NTH},? )?['’]\d\d"
        rf"|[0-3]?\d{month}(?:{_CENTURY}|\d\d)|{month}{_CENTURY}"
        rf"|{_NTH}\. ?{whole}\. ?{_SHORT_YEAR}|{_CENTURY}[-/. ]{whole}[-/. ]{_NTH}"
        rf"|{_NTH} {days_of} {whole}{year}|{whole} {articles} {_NTH}(?!\w){year})(?<!\.)",
        _DATES,
        (
            *("14 Mar '31", "March '31", "14MAR2031", "14mar31", "14.Mar.2031", "2031-Mar-14"),
            *("the [14th day of March, 2031]", "March the 14th", "14-Mar-'31", "el [14 del mes de marzo]"),
        ),
        ("may '", "14 marks", "2031 patients", "mar31"),
        words=words,
        digits=1,
    )
    yield Rule(
        "date",
        rf"(?:{_PLAIN_DAY}{plain_of}{plain_month}{plain_year}?|{plain_month}{plain_of}{_PLAIN_DAY}(?:{plain_of}{_CENTURY})?"
        rf"|[0-3]?\d\. ?{month_after_stop}\.?{plain_year}?)(?<!\.)",
        _DATES,
        ("14 de marzo de 1972", "March 14, 1972", "on [3 Mar]. Then home"),
        ("in may", "14 de 1972"),
        words=words,
        digits=1,
    )
    yield Rule(
        "month and year",
        rf"(?!\d)(?:{month}(?:{to}| ?/ ?))?(?:(?:{in_month})?{plain_month}{plain_year}|{in_month}{plain_month})(?<!\.)"
        rf"|{month}(?= {any_of(_entries(packs, 'same_year'))}(?!\w))",
        _DATES,
        (
            *("March 1972", "marzo de 1972", "Marzo y abril de 1972", "en [junio] del mismo año", "March-April 1972"),
            "March to April 1972",
        ),
        ("in may", "march on", "junio del año"),
        words=words,
    )


def _rules_with_cues(packs: Sequence[Language]) -> Iterator[Rule]:
    """Rules for parts of dates after a word that announces them."""
    days = DaysWithoutYear(packs)
    before_years, years = _entries(packs, "before_years"), _entries(packs, "years")
    ands = sorted({word for pack in packs for word in pack.cues["and"] if word.isalpha()})
    after_year = "|".join(rf"(?<=(?:19|20)\d\d {word} )" for word in ands)
    articles = any_of(_entries(packs, "articles"))
    yield Rule(
        "day and month after a word for it",
        days.cued,
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
    )
    yield Rule(
        "day and month in a note with several",
        days.pairs,
        _DATES,
        ("CT [3/14], [3/20] again",),
        ("CT 3/14, strength 4/5", "2/6 murmur", "3/14 nodes and 4/17 nodes", "pain 4/10, then 2/10", "vision 20/20"),
        words=("/",),
        in_note=days.are_in,
        separator=_BETWEEN_DAYS,
        digits=2,
    )
    yield Rule(
        "year after a word for it",
        rf"(?P<value>{any_of(years)} {_YEAR})|\((?P<enclosed>{_YEAR})(?=\)| {any_of(ands)} {_YEAR}\))"
        rf"|(?:{any_of(before_years)}(?: {articles})? |{after_year or '(?!)'})"
        rf"(?P<alone>{_YEAR})"
        r"(?![\d.,/:-]*\d| ?(?:m?[glm]|mm?ol|kcal|cc|ui|%)(?!\w))",
        _DATES,
        (
            *("en [2006] se operó", "en el [año 1992]", "since [1998]", "in [2011], he", "desde el [2006]"),
            *("a principios de [2006]", "surgery ([2011])"),
        ),
        ("2006", "en 2500 casos", "of 1998", "en 2006 mg", "in 1998.5", "(Quill, 1998)", "(1998 g)"),
        words=tuple(sorted({*(word.split()[0] for word in before_years), *years, *ands, "("})),
        requires_support=True,
        digits=4,
    )
    yield Rule(
        "date of birth after its name",
        r"\d{6}|\d{8}|\d{1,2} \d{1,2} (?:19|20)?\d\d",
        _DATES,
        ("DOB [14031972]", "date of birth: [14 3 72]", "F. nacimiento: [140372]"),
        ("born 3", "dob unknown", "born at 38 weeks"),
        left_context=tuple(sorted({cue for pack in packs for cue in pack.cues["birth"]}, reverse=True)),
        digits=4,
    )
