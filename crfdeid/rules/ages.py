"""Rules for ages from 90 to 120, in figures and in words.

HIPAA's Safe Harbor counts ages over 89 as identifiers. The same numbers are temperatures, pulses, pressures and doses.
Each rule therefore needs a sign of an age: the name of its field, a unit, a sex, a person, or a verb such as "turned".
The signs are the words of the tables "ages" of the language packs. The value is the number without
its unit; only units that annotators mark too ("within") belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from crfdeid.rules.rule import Rule, any_of, one_of
from crfdeid.rules.tables import PARTS
from features.languages import Language
from features.lexicons import spellings, word_set
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
        >>> from features.languages import packs
        >>> bool(re.fullmatch(written_ages(packs()), "ninety-four"))
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
        >>> from features.languages import packs
        >>> found = re.compile(written_numbers(packs()))
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


def _entries(name: str, packs: Iterable[Language]) -> list[str]:
    """The entries of a list of the tables "ages"."""
    return [entry for pack in packs for entry in pack.entries("ages", name)]


def _spelled(entries: Iterable[str]) -> set[str]:
    """Some entries in all their spellings."""
    return {form for entry in entries for form in (entry, *spellings(entry))}


def _any(entries: Iterable[str], gap: str = " ") -> str:
    """The expression of any of some entries in any spelling; one that never matches for none."""
    return any_of(_spelled(entries)).replace("\\ ", gap)


def _capitals(entries: Iterable[str]) -> str:
    """The expression of any of some letters in capitals."""
    return f"(?-i:{any_of(entry.upper() for entry in entries)})"


_WHOLE = r"0?(?:9\d|1[01]\d|120)(?![.,]?\d)"
_NINETIES = r"0?9\d(?![.,]?\d)"  # rarely a measure: most of those from 90 on are 100 and more
_FIGURE = r"(?:90['’]?s(?![^\W_])|0?(?:9\d|1[01]\d|120)(?:[.,]\d{1,2}(?!\d)| ?[½¼¾]| 1/2(?!\d))?(?![.,]?\d))"
_SYMBOLS = word_set(
    "mg mcg µg ug ng pg g gr kg ml cc dl l cm mm km m bpm lpm mmhg h hz kcal cal ui iu u meq mmol mosm fr ch w j db ms"
)
_SIGNS = r" ?[%‰°²³]| ?x ?\d|:\d| (?:on )?\d"
_NO_HEAT = r"(?!,? \(?(?:oral|rectal|axillary|tympanic|temporal|core))"
_APART = "[ ,:(=†–-]{1,3}"
_BEFORE_HEAT = word_set("t temp temps tmax tmin tc tm p r bp hr rr fc fr rf hf af ta spo2 o2")


def _number_tokens(packs: Sequence[Language]) -> Iterator[str]:
    """Lower-case tokens, one of which is in every number from 90 on."""
    yield from (f"{zero}{age}" for zero in ("", "0") for age in range(90, 121))
    endings = ("", *_spelled(_entries("endings", packs)))
    for pack in packs:
        for entry in pack.entries("ages", "numbers"):
            for number in map("".join, product(*_pieces(entry, pack))):
                for form in (number, *spellings(number)):
                    longest = max((token.text for token in tokenize(form)), key=len)
                    yield from (longest + ending for ending in endings)


def age_rules(packs: Sequence[Language]) -> Iterator[Rule]:
    """The rules for ages in notes of some languages; none if no language has a table of ages."""
    packs = [pack for pack in packs if "ages" in pack.content]
    if not packs:
        return

    def words(*names: str) -> str:
        """The expression of any entry of some lists."""
        return _any(entry for name in names for entry in _entries(name, packs))

    number = rf"(?:{_FIGURE}|{written_ages(packs)})"
    joint = rf"{words('joint')} "
    # "91", "91-93", "88-92", "91 and 93", "91- to 93", "91, 92 and 93".
    several = (
        rf"(?:(?:(?!9\d)\d{{1,2}}{_DASH})?{number}"
        rf"(?:(?:-?(?:{_DASH}| {joint})|, ){number}|-?{_DASH}(?!{_WHOLE})\d{{2,3}}){{0,4}})"
    )
    is_number = re.compile(number, re.IGNORECASE)

    def is_age(value: str) -> bool:
        """False for the temperatures that ``heat`` matched."""
        return is_number.match(value) is not None

    tokens = tuple(sorted({*_number_tokens(packs), *_spelled(_entries("adjectives", packs))}))
    measures = words("measures")
    bare = rf"{_END}(?!{_SIGNS}| ?[-–]?(?:{one_of(_SYMBOLS)}|{measures}){_END})"
    # What is before a temperature, such as the name of another vital sign.
    vital_signs = any_of({*_BEFORE_HEAT, *_entries("temperatures", packs)})
    just_before = any_of(_entries("just_before_temperatures", packs))
    before_heat = rf"(?:{vital_signs}(?!\w)[^;]{{0,60}}?|{just_before} |[~<>=] ?)"
    heat = rf"{before_heat}(?<!\d)\d{{2,3}}(?:[.,]\d)? ?°? ?(?-i:[FC]){_END}"
    kin = _any(word for pack in packs for word in pack.words["kin"])
    people = f"(?:{kin}|{words('people')})"
    patient = _any(word.removesuffix(".") for pack in packs for word in pack.cues["patient"])
    honorific = _any(word for pack in packs for word in pack.words["honorific"])
    link = rf"(?:{words('links')}(?!\w)[ ,.]{{1,2}})"
    # What makes a number with a letter after it an age: the start of a sentence, an article or a person.
    somebody = rf"(?:{words('articles')}|{people}|{patient})(?!\w)[ ,.:(]{{1,3}}{link}{{0,3}}"
    start = rf"(?:^|(?<=[.:;(|] )|(?<=[(|])|{somebody})"
    sex = words("sexes")
    sexes = _capitals(_entries("sexes", packs))
    # Letters for a sex that mean nothing else after a number: "112 H" has a flag, "100 W" a unit, "96h" are hours.
    clear_sexes = _capitals(sex for sex in _entries("sexes", packs) if sex.endswith(("f", "m")))
    small_sexes = any_of(sex for sex in _entries("sexes", packs) if sex != "h")

    about = rf"(?:{words('about')}[ .]{{1,2}}|[~≈] ?)"
    nth = _any(sign for sign in _entries("ordinals", packs) if sign.isalpha())
    within = rf"{words('within')}{_END}"
    tail = rf"\.?(?:{sex}{_END})?(?:\d{{1,2}}[^\W\d_]{{1,3}})?{_END}"
    short = words("short")
    yield Rule(
        "age over 89 after its name",
        rf"{about}{{0,3}}(?:[1-8]?\d {joint}|{sex} ?[/,;|-] ?)?(?P<value>{several}(?: ?{within})?)"
        rf"(?:(?:{short}|{sex}){_END})?(?!{nth}{_END}|{_SIGNS}| ?[-–]?{measures}{_END})",
        _TYPES,
        (
            *("aged [101]", "edad: [95 años]", "Age [93]", "Age/Sex: [94]/M", "Sex/Age: F/[94]", "age: [094]"),
            *("Alter [94]",),
            *("aged [91-93]", "aged between [91 and 93]", "age of [ninety-one]", "Âge : [94] ans"),
            *("at the age of about [92.5]",),
        ),
        ("age 89", "aged 930", "Age: 94 months", "age 94 %", "age 94th percentile", "Alter: 94 Tage"),
        left_context=tuple(sorted(_spelled(_entries("names", packs)), reverse=True)),
    )
    yield Rule(
        "age over 89",
        rf"(?P<value>{several}(?P<within> ?{within})?)"
        rf"(?(within)|(?:(?<!90)\+)?(?: ?[-–—]? ?{words('units')}{tail}|(?<=\d){words('glued')}{tail}"
        rf"| ?-?{short}\.?(?= ?[,;/(-]? ?(?:{sex}|{words('people')}){_END})))"
        rf"|(?:^|(?<=[;(|] )|(?<=[(|])|{somebody}|{sex}\.?[,/ ]{{1,2}})"
        rf"(?P<short>{_NINETIES}) ?-?{short}{_END}(?! ?\d)"
        rf"|\((?P<enclosed>{_NINETIES}) ?-?{short}\.?(?=\))",
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
        words=tokens,
    )
    yield Rule(
        "age over 89 with a sex",
        rf"{heat}|(?:{sex} ?/|{sexes},) ?(?P<after>{number}){bare}"
        rf"|(?P<before>{number})(?: ?/ ?{sexes}{_END}|[ ,/-]{{1,3}}{people}{_END}(?! {measures}{_END}))"
        rf"|(?:(?<![-–])(?P<letter>{_NINETIES}),? ?-?{clear_sexes}|{start}(?:(?P<any>{_WHOLE}) ?-?{clear_sexes}"
        rf"|(?P<other>{_NINETIES}) ?-?(?:{sexes}|(?<=\d){small_sexes}|/ ?{small_sexes}))){_END}{_NO_HEAT}"
        rf"|{honorific}\.?(?: {PARTS['CAPITAL']}[\w’'-]{{0,30}}+){{1,3}}(?:, ?| ?\()(?P<titled>{_FIGURE})(?= ?[,.;)])",
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
        words=tokens,
        check=is_age,
    )
    yield Rule(
        "age over 89 of a person",
        rf"(?:{people}(?!\w){_APART}{link}{{0,4}}|{patient}(?!\w)\.?{_APART}{link}{{1,4}}"
        rf"|{kin}(?!\w)(?: [\w,./-]{{1,20}}){{1,6}}? {words('at')} "
        rf"|{words('before')}(?!\w)[ :]{{1,2}}{about}{{0,2}})"
        rf"(?P<value>{several}){bare}"
        rf"|{patient}(?!\w)\.?(?:, ?| ?\()(?P<enclosed>{number})(?= ?(?:[,.;)]|$))"
        rf"|(?P<ordinal>{number}) ?{words('ordinals')}? ?{words('birthdays')}{_END}"
        rf"|{words('before_ordinals')} (?P<year>{_NINETIES})(?=\.$)"
        rf"|(?:{people}|{patient}) (?P<adjective>{words('adjectives')}){_END}",
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
        words=tokens,
    )
    yield Rule(
        "age over 89 in one word",
        words("words"),
        _TYPES,
        ("nonagenarian", "a [centenarian]", "mujer [nonagenaria]", "[nonagénaire]"),
        ("octogenarian", "centennial"),
        words=tuple(sorted(_spelled(_entries("words", packs)))),
    )
