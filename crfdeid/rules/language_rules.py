"""Rules that a language pack makes (`features.languages`): people's names, places, streets and institutions after cues.

Each template is a rule in every language but English and Spanish, whose own rules in `crfdeid.rules.names` and
`crfdeid.rules.entities` are finer; Spanish addresses are made here too. A cue of one kind is a list of the pack; a
language without the list has no such rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from crfdeid.rules.contact import _DIALLED, _PHONES
from crfdeid.rules.name_words import NameWords
from crfdeid.rules.names import _DOCTORS, _PATIENTS, _RELATIVES, _WORD
from crfdeid.rules.rule import CAPITAL, CODE, RECORD_TYPES, UPPER, Rule, one_of
from features.languages import Language
from features.lexicons import spellings
from features.tokenizer import tokenize

_HOSPITALS = ("HOSPITAL", "CENTRO_SALUD", "ORGANIZATION")
_ORGANIZATIONS = ("ORGANIZATION", "INSTITUCION", "EMPLOYER", "HOSPITAL")
_TOWNS = ("CITY", "TERRITORIO", "LOCATION", "GEOGRAPHIC_LOCATION")
_CODES = ("ZIP", "TERRITORIO", "LOCATION", "GEOGRAPHIC_LOCATION")
_STREETS = ("STREET", "CALLE", "LOCATION", "GEOGRAPHIC_LOCATION")
# Between a title and a name, after the name of a field, and between any other cue and a name.
_NEXT = r"[:,]? ?"
_COLON = r" ?(?:[:;|=]+| -) ?"
_GAP = r"(?:(?<=['’])|(?:,|:)? )\(?"
_NUMBER = (
    r"(?:(?:nº?|n\.?[ºo°]|núm|no|#)\.? ?)?\d{1,4}(?!\d)(?: ?(?:bis|ter|quater|[a-z])(?!\w))?"
    r"(?: ?[-/] ?\d{1,4} ?[a-z]?(?!\w))?"
)
# What Spanish addresses have for a number: none ("s/n"), or the kilometre of a road.
_NO_NUMBER = r"(?:s ?/ ?n(?!\w)|km\.? ?\d[\d.,]*(?<=\d))"
_SHORT = 3  # shorter cues need a capital: "M", "Fr"


def _starts(cues: Iterable[str]) -> tuple[str, ...]:
    """The first tokens of some cues."""
    return tuple(sorted({tokenize(form)[0].text for cue in cues for form in (cue, *spellings(cue))}))


def _cue(cues: Iterable[str]) -> str:
    """The expression of a cue, with or without its full stop; "c/" is sign enough in small letters."""
    long = {form for cue in cues if len(cue.rstrip(".")) >= _SHORT or cue[-1] == "/" for form in (cue, *spellings(cue))}
    short = "|".join(re.escape(form) for cue in sorted({*cues} - long) for form in {cue.capitalize(), cue.upper()})
    forms = [one_of(cue.removesuffix(".") for cue in long)] * bool(long) + [f"(?-i:{short})"] * bool(short)
    ends = r"(?:(?<=['’/])|(?!\w))\.?"
    return f"(?:{'|'.join(forms)})".replace("'", "['’]") + ends


def _name_rules(pack: Language, checks: NameWords) -> Iterator[Rule]:
    """Rules for people's names."""
    particles = one_of(part for part in pack.particles if not part.endswith("'"))
    elided = one_of([*(part[:-1] for part in pack.particles if part.endswith("'")), "d"])
    join = rf"(?: (?:(?:{particles} (?:l['’])?|{elided}['’])){{0,2}}|-|(?<=\.)|(?<=\. ))"
    before = rf"(?:{particles} |{elided}['’]){{0,2}}"
    # A name of initials alone is none.
    long = rf"(?=(?:{UPPER}\.[ -]?){{0,3}}{before}{UPPER}['’]?[^\W\d_])"
    words = rf"{_WORD}(?:{join}{_WORD})"
    name = rf"(?-i:{before}{long}{words}{{0,5}}(?:, ?{words}{{0,2}})?)"
    value = rf"(?P<value>{name})"
    initial = rf"(?P<initial>(?-i:{UPPER}\.(?! ?{UPPER}|\w)))"  # "Herr K."
    somebody = f"{pack.male[0]} {pack.family[0]}"
    strict = checks.is_known if pack.capital_nouns else checks.is_after_word
    titles, honorifics = pack.words["title"] - {*pack.cues["role"]}, pack.words["honorific"]
    address = _cue(honorifics)
    title = _cue(titles)
    of = rf"(?: {one_of(pack.cues['of'])}(?!\w)){{0,4}}" if pack.cues["of"] else ""

    def named(
        kind: str,
        cues: Iterable[str],
        form: str,
        types: tuple[str, ...],
        check: Callable[[str], bool] = checks.is_after_title,
        between: str = " ",
    ) -> Iterator[Rule]:
        """A rule for names after some cues; ``between`` is what its example has between the two."""
        first = min((cue for cue in cues if len(cue) >= _SHORT), key=lambda cue: (not cue.isalpha(), cue), default="")
        if first:
            yield Rule(
                f"{kind} in {pack.name}",
                form,
                types,
                (f"{first}{between}[{somebody}]",),
                (f"{first}{between}{min(pack.common).capitalize()}", f"x {first} x"),
                words=_starts(cues),
                starts_with_word=True,
                check=check,
                language=pack.code,
            )

    def after(kind: str, types: tuple[str, ...], check: Callable[[str], bool], gap: str = _GAP) -> Iterator[Rule]:
        cues = pack.cues[kind]
        yield from named(f"name after {kind}", cues, rf"{_cue(cues)}{gap}{value}", types, check) if cues else ()

    yield from named(
        "name after a title",
        titles,
        rf"{title}(?:{_NEXT}(?:{title}|{address})){{0,4}}{_NEXT}{value}",
        _DOCTORS,
    )
    yield from named(
        "name after a form of address",
        honorifics,
        rf"{address}(?:{_NEXT}{address}){{0,2}}{_NEXT}(?:{value}|{initial})",
        _PATIENTS,
    )
    roles = pack.cues["role"]
    named_roles = rf"{_cue(roles)}{of}" if roles else ""
    yield from named("name after a role", roles, rf"{named_roles},? \(?{value}", _DOCTORS, strict)
    fields = (("patient", _PATIENTS), ("field", _PATIENTS), ("role", _DOCTORS), ("signature", _DOCTORS))
    for kind, types in fields:
        cues = pack.cues[kind]
        form = rf"{_cue(cues)}{of if kind == 'role' else ''}{_COLON}{value}" if cues else ""
        yield from named(f"name in a field, {kind}", cues, form, types, checks.is_after_word, ": ")
    yield from after("patient", _PATIENTS, strict)
    yield from after("maiden", _PATIENTS, checks.is_after_title)
    yield from after("called", _PATIENTS, strict)
    yield from after("signature", _DOCTORS, checks.is_after_word, r" ?[.:,;|=-]{0,2} ?")
    yield from after("seen_by", _DOCTORS, strict)
    kin = {*pack.words["kin"], *pack.cues["companion"]}
    yield from named("name of a relative", kin, rf"{_cue(kin)}{_GAP}{value}", _RELATIVES, strict)


def _town_rules(pack: Language, checks: NameWords) -> Iterator[Rule]:
    """Rules for towns after cues."""
    place, town = _place(pack)
    for kind in ("birthplace", "residence"):
        cues = pack.cues[kind]
        if cues:
            yield Rule(
                f"town after {kind} in {pack.name}",
                rf"{_cue(cues)}{_GAP}{place}",
                _TOWNS,
                (f"{cues[0]} [{town}]",),
                (f"{cues[0]} {min(pack.common).capitalize()}", f"x {cues[0]} x"),
                words=_starts(cues),
                starts_with_word=True,
                check=checks.is_town,
                language=pack.code,
            )


def _place(pack: Language) -> tuple[str, str]:
    """The expression of a place's name, and the first town of one word."""
    word = rf"{CAPITAL}[\w’']{{1,40}}+"
    other = rf" (?!{one_of((*pack.countries, *pack.regions))}(?!\w))"  # "Getafe Madrid" is two places
    place = rf"(?P<value>{word}(?:(?:-|{other}|['’])(?:[\w]{{1,3}}(?:-| |['’])){{0,2}}{word}){{0,3}})"
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
        rf"{code}(?=,? {CAPITAL}[^\W\d_]{{2}})(?!,? {one_of(pack.common)}(?!\w))",
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
    name = rf"{CAPITAL}[\w’']{{0,30}}+(?:\.(?=[ -]\w))?"
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
        words = rf"{_cue(pack.street_words)}{part}{name}(?:{part}{name}){{0,4}}"
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
    name = rf"{CAPITAL}[\w’']{{1,30}}+(?:\.(?=[ -]\w))?"
    cues = (("hospital", pack.words["hospital"], _HOSPITALS), ("institution", pack.cues["institution"], _ORGANIZATIONS))
    for kind, words, types in cues:
        first = min((word for word in words if word.isalpha() and len(word) > _SHORT), key=lambda w: (len(w), w))
        yield Rule(
            f"{kind} in {pack.name}",
            rf"{_cue(words)}{part}{name}(?:(?:{part}){name}){{0,3}}",
            types,
            (f"{first} {town}",),
            (f"{first} {min(pack.common).capitalize()}", first),
            words=_starts(words),
            starts_with_word=True,
            check=checks.has_proper_name,
            language=pack.code,
        )


def _number_rules(pack: Language, checks: NameWords) -> Iterator[Rule]:
    """Rules for numbers after the words of the table "numbers", for words that `crfdeid.rules.identifiers` lacks."""
    record = rf"(?!(?:19|20)\d\d(?![\w-]))(?:{CODE}|\d{{2,3}}(?:\.\d{{2,3}}){{2}}(?:[-/]\w{{1,3}}(?:\.\d\d)?)?)"
    kinds = (
        ("records", "record number", record, RECORD_TYPES, "48221344"),
        ("telephones", "telephone", _DIALLED, _PHONES, "555 0134"),
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


def language_rules(packs: Sequence[Language], checks: NameWords) -> Iterator[Rule]:
    """The rules of each language, but for languages that have rules of their own."""
    makers = ((_name_rules, {"en", "es"}), (_town_rules, {"en", "es"}), (_address_rules, {"en"}))
    for make, own in (*makers, (_institution_rules, {"en", "es"}), (_number_rules, set())):
        for pack in packs:
            if pack.code not in own:
                yield from make(pack, checks)
