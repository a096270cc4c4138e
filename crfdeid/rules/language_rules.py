"""Rules that a language pack makes (`features.languages`): towns after cues, addresses, and institutions.

In a language whose words for streets and institutions come last, as in English, other rules find both. A language
without a list of cues has no such rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crfdeid.rules.name_words import NameWords
from crfdeid.rules.rule import Rule, any_of, cue, cue_starts, one_of
from crfdeid.rules.tables import LISTS, PARTS
from features.languages import Language
from features.tokenizer import tokenize

_CAPITAL = PARTS["CAPITAL"]
_HOSPITALS = ("HOSPITAL", "CENTRO_SALUD", "ORGANIZATION")
_ORGANIZATIONS = ("ORGANIZATION", "INSTITUCION", "EMPLOYER", "HOSPITAL")
_TOWNS = ("CITY", "TERRITORIO", "LOCATION", "GEOGRAPHIC_LOCATION")
_CODES = ("ZIP", "TERRITORIO", "LOCATION", "GEOGRAPHIC_LOCATION")
_STREETS = ("STREET", "CALLE", "LOCATION", "GEOGRAPHIC_LOCATION")
_REGIONS = ("TERRITORIO", "STATE", "LOCATION", "GEOGRAPHIC_LOCATION")
_NATIONS = ("PAIS", "COUNTRY", "LOCATION", "GEOGRAPHIC_LOCATION")
# Between a cue and the name of a town.
_GAP = r"(?:(?<=['’])|(?:,|:)? )\(?"
_NUMBER = (
    r"(?:(?:nº?|n\.?[ºo°]|núm|no|#)\.? ?)?\d{1,4}(?!\d)(?: ?(?:bis|ter|quater|[a-z])(?!\w))?"
    r"(?: ?[-/] ?\d{1,4} ?[a-z]?(?!\w))?"
)
# What Spanish addresses have for a number: none ("s/n"), or the kilometre of a road.
_NO_NUMBER = r"(?:s ?/ ?n(?!\w)|km\.? ?\d[\d.,]*(?<=\d))"
_SHORT = 3  # letters of a word for an institution


def _town_rules(pack: Language, checks: NameWords) -> Iterator[Rule]:
    """Rules for towns after cues."""
    place, town = _place(pack)
    for kind in ("birthplace", "residence"):
        cues = pack.cues[kind]
        if cues:
            yield Rule(
                f"town after {kind} in {pack.name}",
                rf"{cue(cues, pack)}{_GAP}(?!{one_of(pack.countries)}(?!\w)){place}",
                _TOWNS,
                (f"{cues[0]} [{town}]",),
                (f"{cues[0]} {min(pack.common).capitalize()}", f"x {cues[0]} x"),
                words=cue_starts(cues, pack),
                starts_with_word=True,
                check=checks.is_town,
                language=pack.code,
            )


def _place(pack: Language) -> tuple[str, str]:
    """The expression of a place's name, and the first town of one word."""
    word = rf"{_CAPITAL}[\w’']{{1,40}}+"
    area = one_of(name.lower() for name in (*pack.countries, *pack.regions))
    # "Getafe Madrid" is two places, but "Reggio Calabria" is one.
    name = rf"{word}(?:(?:-| (?!{area}(?!\w))|['’])(?:[\w]{{1,3}}(?:-| |['’])){{0,2}}{word}){{0,3}}"
    towns = any_of(town.lower() for town in pack.towns if re.search(f" {area}$", town.lower()))
    place = rf"(?P<value>(?={_CAPITAL}){towns}(?!\w)|{name})"
    return place, next(town for town in pack.towns if town.isalpha())


def _address_rules(pack: Language, checks: NameWords) -> Iterator[Rule]:
    """Rules for postal codes, the towns after them, and streets."""
    place, town = _place(pack)
    before = r"(?:^|(?<=[,;:|(.] )|(?<=[(,;|])|(?<=[a-z] ))|(?<=[\w.] )(?=(?-i:[A-Z])-\d)"
    code = rf"(?:{before})(?!(?:19|20)\d\d )(?:{pack.postcode})"
    sample = pack.postcode_example
    no_town = (f"{sample} {min(pack.common).capitalize()}", f"{sample} {town.lower()}")
    yield Rule(
        f"postal code in {pack.name}",
        rf"{code}(?=,? {_CAPITAL}[^\W\d_]{{2}})(?!,? {one_of(pack.common)}(?!\w))",
        _CODES,
        (f"[{sample}] {town}",),
        no_town,
        language=pack.code,
        exact="both",
        digits=2,
    )
    yield Rule(
        f"town after a postal code in {pack.name}",
        rf"{code},? (?!{one_of(pack.countries)}(?!\w)){place}",
        _TOWNS,
        (f"{sample} [{town}]",),
        no_town,
        check=checks.is_place,
        language=pack.code,
        exact="both",
        digits=2,
    )
    name = rf"{_CAPITAL}[\w’']{{0,30}}+(?:\.(?=[ -]\w))?"
    if pack.street_suffixes:
        ending = one_of(suffix.removesuffix(".") for suffix in pack.street_suffixes)
        yield Rule(
            f"street of one word in {pack.name}",
            rf"(?=(?-i:[^\W\d_a-zß-ÿ]))(?:{name}[ -]){{0,3}}?[^\W\d_]{{2,30}}?-?{ending}(?!\w)\.? {_NUMBER}",
            _STREETS,
            (f"Quill{pack.street_suffixes[0]} 12", f"[Quill-Tawn-{pack.street_suffixes[0].capitalize()} 3 a], x"),
            (f"quill{pack.street_suffixes[0]} 12", f"Quill{pack.street_suffixes[0]}"),
            exact="start",
            language=pack.code,
            digits=1,
        )
    if pack.street_words:
        articles = one_of(("de", "du", "des", "la", "le", "les", "et", *pack.particles))
        part = rf"(?:(?: |(?<=/))(?:{articles} |[dl]['’]){{0,3}}|-)"  # after "C/" there need be no space
        floor = rf"(?:(?:,| ?-)? ?{pack.floor}){{0,4}}(?:(?<![,.])|(?<=\.)(?= ?\.))" if pack.floor else ""
        words = rf"{cue(pack.street_words, pack)}{part}{name}(?:{part}{name}){{0,4}}"
        first = next(word for word in pack.street_words if word.isalpha()).capitalize()
        yield Rule(
            f"street in {pack.name}",
            rf"{_NUMBER},? {words}"
            if pack.number_first
            else rf"{words}(?:,? (?:{_NUMBER}|{_NO_NUMBER}){floor}|(?=,? (?:- )?(?:{pack.postcode})(?!\d)))",
            _STREETS,
            (f"12 {first} Quill" if pack.number_first else f"{first} Quill 12",),
            (f"{first} Quill", f"{first} 12"),
            exact="start",
            language=pack.code,
            digits=int(pack.number_first),
        )


def _institution_rules(pack: Language, checks: NameWords) -> Iterator[Rule]:
    """Rules for hospitals and other institutions with a proper name: of a town, a person or a saint."""
    _, town = _place(pack)
    part = r"(?: (?:[^\W\d_]{1,20} |[dl]['’]){0,4}|-)"
    name = rf"{_CAPITAL}[\w’']{{1,30}}+(?:\.(?=[ -]\w))?"
    others = tuple(word for word in pack.cues["institution"] if word not in pack.words["hospital"])
    cues = (("hospital", pack.words["hospital"], _HOSPITALS), ("institution", others, _ORGANIZATIONS))
    for kind, words, types in cues:
        first = min((word for word in words if word.isalpha() and len(word) > _SHORT), key=lambda w: (len(w), w))
        yield Rule(
            f"{kind} in {pack.name}",
            rf"{cue(words, pack)}{part}{name}(?:(?:{part}){name}){{0,3}}",
            types,
            (f"{first} {town}",),
            (f"{first} {min(pack.common).capitalize()}", first),
            words=cue_starts(words, pack),
            starts_with_word=True,
            check=checks.has_proper_name,
            language=pack.code,
        )


def _number_rules(pack: Language) -> Iterator[Rule]:
    """Rules for numbers after the words of the table "numbers", for words that ``numbers.toml`` lacks."""
    with_stops = r"\d{2,3}(?:\.\d{2,3}){2}(?:[-/]\w{1,3}(?:\.\d\d)?)?"
    record = rf"(?!(?:19|20)\d\d(?![\w-]))(?:{PARTS['CODE']}|{with_stops})"
    kinds = (
        ("records", "record number", record, LISTS["RECORD_TYPES"], "48221344"),
        ("telephones", "telephone", PARTS["DIALLED"], LISTS["PHONE_TYPES"], "555 0134"),
        ("postcodes", "postal code", pack.postcode, _CODES, pack.postcode_example),
    )
    for table, kind, form, types, sample in kinds:
        names = pack.entries("numbers", table)
        if names:
            yield Rule(
                f"{kind} after its name in {pack.name}",
                form,
                types,
                (f"{names[0]}: [{sample}]",),
                (f"{names[0]} 2", sample),
                left_context=names,
                language=pack.code,
                digits=2,
            )


def place_rules(pack: Language) -> Iterator[Rule]:
    """The rules for regions and countries of a language."""
    for kind, places, types in (("region", pack.regions, _REGIONS), ("country", pack.countries, _NATIONS)):
        names = sorted({name.lower() for name in {*places} - {*pack.entries("places", "often_other")}})
        yield Rule(
            f"{kind} in {pack.name}",
            rf"(?={_CAPITAL}){one_of(names)}",
            types,
            (places[0], f"x [{places[-1]}], x"),
            (names[0],),
            words=tuple(tokenize(name)[0].text for name in names),
            starts_with_word=True,
            requires_support=True,
            language=pack.code,
        )


def language_rules(pack: Language, checks: NameWords) -> Iterator[Rule]:
    """The rules for towns, addresses and institutions of a language."""
    yield from _town_rules(pack, checks)
    if pack.content["street"].get("words") != "last":
        yield from _address_rules(pack, checks)
        yield from _institution_rules(pack, checks)
    yield from _number_rules(pack)
