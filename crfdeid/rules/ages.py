"""Rules for ages from 90 to 120, in figures and in words.

HIPAA's Safe Harbor counts ages over 89 as identifiers. The same numbers are temperatures, pulses, pressures and doses.
Each rule therefore needs a sign of an age: the name of its field, a unit, a sex, a person, or a verb such as "turned".
The signs are the words of the tables "ages" of all language packs, whatever the language of the notes, because notes
quote patients. The value is the number without its unit; only units that annotators mark too ("within") belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from crfdeid.rules.rule import CAPITAL, Rule, forms, one_of
from features.languages import LANGUAGES, Language
from features.lexicons import spellings
from features.tokenizer import tokenize

_TYPES = ("AGE", "EDAD_SUJETO_ASISTENCIA")
_END = r"(?![^\W_])"
_DASH = " ?[-–—] ?"


def written_ages(packs: Iterable[Language], gap: str = "[ –—-]{1,3}", *, words: bool = False) -> str:
    """The expression of ages from 90 on in words; one that never matches for packs without them.

    Args:
        packs: the languages.
        gap: expression of the characters between two words of a number.
        words: with words such as "nonagenarian", and before the ending of a compound.

    Example:
        >>> bool(re.fullmatch(written_ages(LANGUAGES.values()), "ninety-four"))
        True
    """
    packs = tuple(packs)
    numbers = [(entry, pack) for pack in packs for entry in pack.entries("ages", "numbers")]
    # The longest first: "ninety four" is more than "ninety".
    forms = [_written(*item, gap) for item in sorted(numbers, key=lambda item: -len(item[0]))]
    if words:
        named = _any([*_entries("words", packs), *_entries("adjectives", packs)])
        end = rf"(?=(?:{_any(_entries('endings', packs))})?{_END})"
        return f"(?:{'|'.join([*forms, named])}){end}"
    return f"(?:{'|'.join(forms)})" if forms else "(?!)"


def written_numbers(packs: Iterable[Language]) -> str:
    """The expression of numbers below 90 in words, also before the ending of a compound.

    Example:
        >>> found = re.compile(written_numbers(LANGUAGES.values()))
        >>> [bool(found.fullmatch(text)) for text in ("eighty-nine", "quatre-vingt", "fifth", "score")]
        [True, True, True, False]
    """
    packs = tuple(packs)
    numbers = [(entry, pack) for pack in packs for entry in pack.entries("ages", "younger")]
    forms = "|".join(_written(*item, "[ –—-]{0,3}") for item in sorted(numbers, key=lambda item: -len(item[0])))
    return rf"(?:{forms})(?:{_any(_entries('endings', packs))})?{_END}"


def _pieces(entry: str, pack: Language) -> list[Sequence[str]]:
    """The pieces of a number in words, each with its alternatives: those of a list for its name in braces."""
    pieces = re.split(r"\{(\w+)\}", entry)
    return [pack.entries("ages", piece) if i % 2 else [piece] for i, piece in enumerate(pieces) if piece]


def _written(entry: str, pack: Language, gap: str) -> str:
    """The expression of a number in words."""
    return "".join(gap if piece == [" "] else _any(piece, gap) for piece in _pieces(entry, pack))


def _entries(name: str, packs: Iterable[Language] = tuple(LANGUAGES.values())) -> list[str]:
    """The entries of a list of the tables "ages"."""
    return [entry for pack in packs for entry in pack.entries("ages", name)]


def _spelled(entries: Iterable[str]) -> set[str]:
    """Some entries in all their spellings."""
    return {form for entry in entries for form in (entry, *spellings(entry))}


def _any(entries: Iterable[str], gap: str = " ") -> str:
    """The expression of any of some entries; one that never matches for none."""
    known = _spelled(entries)
    return f"(?:{one_of(known)})".replace("\\ ", gap).replace("'", "['’]") if known else "(?!)"


def _words(*names: str) -> str:
    """The expression of any entry of some lists."""
    return _any(entry for name in names for entry in _entries(name))


def _capitals(entries: Iterable[str]) -> str:
    """The expression of any of some letters in capitals."""
    return f"(?-i:{one_of(entry.upper() for entry in entries)})"


# --- numbers

_WHOLE = r"0?(?:9\d|1[01]\d|120)(?![.,]?\d)"
_NINETIES = r"0?9\d(?![.,]?\d)"  # rarely a measure: most of those from 90 on are 100 and more
_FIGURE = r"(?:90['’]?s(?![^\W_])|0?(?:9\d|1[01]\d|120)(?:[.,]\d{1,2}(?!\d)| ?[½¼¾]| 1/2(?!\d))?(?![.,]?\d))"
_NUMBER = rf"(?:{_FIGURE}|{written_ages(LANGUAGES.values())})"
_JOINT = rf"{_words('joint')} "
# "91", "91-93", "88-92", "91 and 93", "91- to 93", "91, 92 and 93".
_RANGE = (
    rf"(?:(?:(?!9\d)\d{{1,2}}{_DASH})?{_NUMBER}"
    rf"(?:(?:-?(?:{_DASH}| {_JOINT})|, ){_NUMBER}|-?{_DASH}(?!{_WHOLE})\d{{2,3}}){{0,4}})"
)
_IS_NUMBER = re.compile(_NUMBER, re.IGNORECASE)


def _number_tokens() -> Iterator[str]:
    """Lower-case tokens, one of which is in every number from 90 on."""
    yield from (f"{zero}{age}" for zero in ("", "0") for age in range(90, 121))
    endings = ("", *_spelled(_entries("endings")))
    for pack in LANGUAGES.values():
        for entry in pack.entries("ages", "numbers"):
            for number in map("".join, product(*_pieces(entry, pack))):
                for form in (number, *spellings(number)):
                    longest = max((token.text for token in tokenize(form)), key=len)
                    yield from (longest + ending for ending in endings)


def _is_age(value: str) -> bool:
    """False for the temperatures that `_HEAT` matched."""
    return _IS_NUMBER.match(value) is not None


_TOKENS = tuple(sorted({*_number_tokens(), *_spelled(_entries("adjectives"))}))

# --- measures

_SYMBOLS = forms(
    "mg mcg µg ug ng pg g gr kg ml cc dl l cm mm km m bpm lpm mmhg h hz kcal cal ui iu u meq mmol mosm fr ch w j db ms"
)
_SIGNS = r" ?[%‰°²³]| ?x ?\d|:\d| (?:on )?\d"
_MEASURES = _words("measures")
_BARE = rf"{_END}(?!{_SIGNS}| ?[-–]?(?:{one_of(_SYMBOLS)}|{_MEASURES}){_END})"
# What is before a temperature, such as the name of another vital sign.
_BEFORE_HEAT = forms(
    "t temp temps temperature tmax tmin tc tm fever fevers febrile afebrile pyrexia hypothermia hypothermic vs vss p r"
    " vital vitals bp hr rr pulse resp sat sats spo2 o2 oral orally rectal axillary tympanic core heated warmed cooled"
    " water chills ta fc fr rf hf af temperatura temperatur température"
)
_JUST_BEFORE_HEAT = forms("of to at was above below than over under reached hit")
_HEAT = (
    rf"(?:{one_of(_BEFORE_HEAT)}(?!\w)[^;]{{0,60}}?|{one_of(_JUST_BEFORE_HEAT)} |[~<>=] ?)"
    rf"(?<!\d)\d{{2,3}}(?:[.,]\d)? ?°? ?(?-i:[FC]){_END}"
)
_NO_HEAT = r"(?!,? \(?(?:oral|rectal|axillary|tympanic|temporal|core))"

# --- people

_KIN = _any(word for pack in LANGUAGES.values() for word in pack.words["kin"])
_PEOPLE = f"(?:{_KIN}|{_words('people')})"
_PATIENT = _any(word.removesuffix(".") for pack in LANGUAGES.values() for word in pack.cues["patient"])
_HONORIFIC = _any(word for pack in LANGUAGES.values() for word in pack.words["honorific"])
_APART = "[ ,:(=†–-]{1,3}"
_LINK = rf"(?:{_words('links')}(?!\w)[ ,.]{{1,2}})"
# What makes a number with a letter after it an age: the start of a sentence, an article or a person.
_SOMEBODY = rf"(?:{_words('articles')}|{_PEOPLE}|{_PATIENT})(?!\w)[ ,.:(]{{1,3}}{_LINK}{{0,3}}"
_START = rf"(?:^|(?<=[.:;(|] )|(?<=[(|])|{_SOMEBODY})"
_SEX = _words("sexes")
_SEXES = _capitals(_entries("sexes"))
# Letters for a sex that mean nothing else after a number: "112 H" has a flag, "100 W" a unit, "96h" are hours.
_CLEAR_SEXES = _capitals(sex for sex in _entries("sexes") if sex.endswith(("f", "m")))
_SMALL_SEXES = one_of(sex for sex in _entries("sexes") if sex != "h")

# --- rules

_ABOUT = rf"(?:{_words('about')}[ .]{{1,2}}|[~≈] ?)"
_NTH = _any(sign for sign in _entries("ordinals") if sign.isalpha())
_WITHIN = rf"{_words('within')}{_END}"
_TAIL = rf"\.?(?:{_SEX}{_END})?(?:\d{{1,2}}[^\W\d_]{{1,3}})?{_END}"
_SHORT = _words("short")

AGE_RULES = (
    Rule(
        "age over 89 after its name",
        rf"{_ABOUT}{{0,3}}(?:[1-8]?\d {_JOINT}|{_SEX} ?[/,;|-] ?)?(?P<value>{_RANGE}(?: ?{_WITHIN})?)"
        rf"(?:(?:{_SHORT}|{_SEX}){_END})?(?!{_NTH}{_END}|{_SIGNS}| ?[-–]?{_MEASURES}{_END})",
        _TYPES,
        (
            *("aged [101]", "edad: [95 años]", "Age [93]", "Age/Sex: [94]/M", "Sex/Age: F/[94]", "age: [094]"),
            *("Alter [94]",),
            *("aged [91-93]", "aged between [91 and 93]", "age of [ninety-one]", "Âge : [94] ans"),
            *("at the age of about [92.5]",),
        ),
        ("age 89", "aged 930", "Age: 94 months", "age 94 %", "age 94th percentile", "Alter: 94 Tage"),
        left_context=tuple(sorted(_spelled(_entries("names")), reverse=True)),
    ),
    Rule(
        "age over 89",
        rf"(?P<value>{_RANGE}(?P<within> ?{_WITHIN})?)"
        rf"(?(within)|(?:(?<!90)\+)?(?: ?[-–—]? ?{_words('units')}{_TAIL}|(?<=\d){_words('glued')}{_TAIL}"
        rf"| ?-?{_SHORT}\.?(?= ?[,;/(-]? ?(?:{_SEX}|{_words('people')}){_END})))"
        rf"|(?:^|(?<=[;(|] )|(?<=[(|])|{_SOMEBODY}|{_SEX}\.?[,/ ]{{1,2}})"
        rf"(?P<short>{_NINETIES}) ?-?{_SHORT}{_END}(?! ?\d)"
        rf"|\((?P<enclosed>{_NINETIES}) ?-?{_SHORT}\.?(?=\))",
        _TYPES,
        (
            *("[93] years", "a [101]-year-old", "[93] y.o.", "[93]yo", "de [95 años]", "[91.5] years", "[94]Y"),
            *("[94]yoF",),
            *("[ninety-four]-year-old", "[one hundred and two] years", "[94]-jährige", "[94] J., w", "([94] J.)"),
            *("[vierundneunzigjährige] Dame", "[94] ans", "[quatre-vingt-quatorze] ans", "mujer [94]a"),
            *("[noventa y dos años]",),
        ),
        (
            *("89 years", "193 years", "93 mg", "page 93", "121 years", "94 months", "96 h", "94 y 100"),
            *("mit 100 J", "1 de 94 a 96"),
        ),
        words=_TOKENS,
    ),
    Rule(
        "age over 89 with a sex",
        rf"{_HEAT}|(?:{_SEX} ?/|{_SEXES},) ?(?P<after>{_NUMBER}){_BARE}"
        rf"|(?P<before>{_NUMBER})(?: ?/ ?{_SEXES}{_END}|[ ,/-]{{1,3}}{_PEOPLE}{_END}(?! {_MEASURES}{_END}))"
        rf"|(?:(?<![-–])(?P<letter>{_NINETIES}),? ?-?{_CLEAR_SEXES}|{_START}(?:(?P<any>{_WHOLE}) ?-?{_CLEAR_SEXES}"
        rf"|(?P<other>{_NINETIES}) ?-?(?:{_SEXES}|(?<=\d){_SMALL_SEXES}|/ ?{_SMALL_SEXES}))){_END}{_NO_HEAT}"
        rf"|{_HONORIFIC}\.?(?: {CAPITAL}[\w’'-]{{0,30}}+){{1,3}}(?:, ?| ?\()(?P<titled>{_FIGURE})(?= ?[,.;)])",
        _TYPES,
        (
            *("[94]F", "[94]/M", "[94] M", "F/[94]", "M, [94]", "a [94]m", "a [101]M", "[94] male", "[94]-male"),
            *("[94], female", "[94]/W", "Mrs. Quill, [94], well"),
        ),
        (
            *("T 98F", "temp 99 F", "fever to 101 F", "HR 94, T 98F", "98.6 F", "98F oral", "F94.1", "M94"),
            *("120/94", "194M"),
            *("112 H", "100 W", "96h", "Tc-99M", "94 male patients", "89F"),
        ),
        words=_TOKENS,
        check=_is_age,
    ),
    Rule(
        "age over 89 of a person",
        rf"(?:{_PEOPLE}(?!\w){_APART}{_LINK}{{0,4}}|{_PATIENT}(?!\w)\.?{_APART}{_LINK}{{1,4}}"
        rf"|{_KIN}(?!\w)(?: [\w,./-]{{1,20}}){{1,6}}? {_words('at')} "
        rf"|{_words('before')}(?!\w)[ :]{{1,2}}{_ABOUT}{{0,2}})"
        rf"(?P<value>{_RANGE}){_BARE}"
        rf"|{_PATIENT}(?!\w)\.?(?:, ?| ?\()(?P<enclosed>{_NUMBER})(?= ?(?:[,.;)]|$))"
        rf"|(?P<ordinal>{_NUMBER}) ?{_words('ordinals')}? ?{_words('birthdays')}{_END}"
        rf"|{_words('before_ordinals')} (?P<year>{_NINETIES})(?=\.$)"
        rf"|(?:{_PEOPLE}|{_PATIENT}) (?P<adjective>{_words('adjectives')}){_END}",
        _TYPES,
        (
            *("wife [91]", "Mother: [94]", "mother died at [94]", "his mother had a stroke at [94]", "turned [96]"),
            *("She is [94]",),
            *("her [94]th birthday", "[ninety-fourth] birthday", "in her [90s]"),
            *("varón, [94]",),
            *("cumplió [94]", "Mutter mit [94]", "Patientin, [94], kam", "ihren [94]. Geburtstag", "fêté ses [94]"),
            *("mujer [centenaria]",),
        ),
        (
            *("turned 90 degrees", "wife 89", "she is 92 kg", "she was 94% on RA", "patient 94", "mother 94 mg"),
            *("in the 90s", "she is 94.123"),
        ),
        words=_TOKENS,
    ),
    Rule(
        "age over 89 in one word",
        _words("words"),
        _TYPES,
        ("nonagenarian", "a [centenarian]", "mujer [nonagenaria]", "[nonagénaire]"),
        ("octogenarian", "centennial"),
        words=tuple(sorted(_spelled(_entries("words")))),
    ),
)
