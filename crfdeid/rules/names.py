"""Rules for people's names in prose, made from a language pack.

A name follows a title, a form of address, a role, a word for the patient, a relative, the name of a field or a
signature, or precedes a degree. Each rule begins with such a cue and ends before a word that is no name (`name_words`),
so that a title alone does not mask the words after it. A language without a list of cues has no such rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from crfdeid.rules.name_words import NameWords
from crfdeid.rules.rule import Rule, any_of, cue, cue_starts
from crfdeid.rules.tables import PARTS
from features.languages import Language
from features.tokenizer import tokenize

_UPPER = PARTS["UPPER"]
_DOCTORS = ("NOMBRE_PERSONAL_SANITARIO", "DOCTOR", "NAME")
_PATIENTS = ("NOMBRE_SUJETO_ASISTENCIA", "PATIENT", "NAME")
_RELATIVES = ("FAMILIARES_SUJETO_ASISTENCIA", "RELATIVE", "FAMILY", *_PATIENTS)

# Particles of names of any origin.
_PARTICLES = (
    *("de", "de la", "de lo", "de las", "de los", "de el", "del", "da", "das", "do", "dos", "di", "du", "la", "las"),
    *("le", "les", "lo", "los", "van", "van de", "van den", "van der", "von", "von der", "den", "der", "ten", "ter"),
    *("bin", "ibn", "al", "el", "sant", "santa", "san"),
)
# Between a title and a name, after the name of a field, and between another cue and a name.
_NEXT = r"[:,]? ?"
_COLON = r" ?(?:[:;|=,]+| -) ?"
_GAP = r"(?:(?<=['’])|(?:,|:)? )\(?"
_ELISION = "'"
_SHORT = 3  # letters of a cue that an example may have


class _Forms(NamedTuple):
    """Expressions for names in a language.

    Attributes:
        word: a word of a name ("O'Neill", "PÉREZ"), an initial ("M.ª"), or a short form of a given name ("Wm.").
        leading: particles before the first word, but for those between a role and its place ("médico de Quillón").
        particles: all particles, after the name of a field.
        name: one name, perhaps "Surname, First", or two.
        names: a list of several names.
        between: what is between two names of a list.
        title: a title.
        address: a form of address.
        called: what is between a cue and a name.
    """

    word: str
    leading: str
    particles: str
    name: str
    names: str
    between: str
    title: str
    address: str
    called: str


def _forms(pack: Language) -> _Forms:
    # Other short words without a vowel: "Av.", "Sr.".
    others = {*pack.abbreviations, *_addresses(pack), *_titles(pack)}
    short = (word for word in others if re.fullmatch("[a-z][b-df-hj-np-tv-wz]{1,3}", word))
    not_short = rf"(?!{any_of(word.capitalize() for word in short)}\.)"
    word = (
        rf"(?:(?:{not_short}{_UPPER}[b-df-hj-np-tv-wz]{{1,3}}|{any_of(pack.entries('names', 'short'))})"
        rf"\.(?=[ -]?{_UPPER})"
        rf"|{_UPPER}(?:[^\W\d_ºª]|['’](?!s(?!\w))(?=[^\W\d_])){{1,30}}+(?!\w)"
        rf"|{_UPPER}(?:\.?ª\.?|\.a(?!\w)|(?!\w|/|-[a-z])\.?))"
    )
    particles = {*_PARTICLES, *pack.particles} - {*pack.cues["and"]}
    particle = f"{any_of(part for part in particles if not part.endswith(_ELISION))} "
    elided = f"{any_of({'d', *(part[:-1] for part in particles if part.endswith(_ELISION))})}['’]"
    leading = any_of(part for part in particles - {*pack.cues["of"]} if not part.endswith(_ELISION))
    # Possessive, since "de la" is also two particles: a name would be read in 2^5 ways.
    join = rf"(?: (?:{particle}|{elided}){{0,2}}+|-(?:{particle})?|(?<=\.))"
    plain = rf"(?-i:{word}(?:{join}{word}){{0,5}})"
    name = rf"(?-i:{word}(?:{join}{word}){{0,5}}(?:, ?{word}(?:{join}{word}){{0,2}})?)"
    # In capitals, "MR", "SR" and "MS" without a full stop are more often a scan, a rhythm and a sclerosis.
    doubtful = {*pack.entries("people", "unsure_in_capitals")}
    capitals = any_of(map(str.upper, doubtful))
    address = (
        rf"(?:(?!(?-i:{capitals})(?!\w)){cue(_addresses(pack), pack, capitals=2)}"
        rf"|(?-i:{capitals})\.(?= (?-i:{_UPPER}{{2}}|{_UPPER}\.)))"
    )
    title = cue(_titles(pack), pack)
    ands = {form for entry in pack.cues["and"] for form in (entry, entry.upper())}
    conjunction = f"(?-i:{any_of(ands)})"
    between = rf"(?: ?[,;/] ?(?:{conjunction} )?| {conjunction} )(?:{title} )?"
    called = any_of((*pack.entries("people", "is"), *pack.entries("people", "called")))
    return _Forms(
        word=word,
        leading=rf"(?-i:(?:{leading} |{elided}){{0,2}})",
        particles=rf"(?-i:(?:{particle}|{elided}){{0,2}})",
        name=name,
        names=rf"(?P<value>{plain}(?:{between}{plain}){{1,9}})",
        between=between,
        title=title,
        address=address,
        # A ";" or "|" comes as often before the next field, so that one word is not enough there.
        called=rf"(?:,? {called}(?!\w))?(?: ?[:,(]| ?[;|=](?=(?-i: ?{word},? {word})))? ?[\"“«]?",
    )


def _addresses(pack: Language) -> tuple[str, ...]:
    return pack.entries("people", "addresses") or tuple(sorted(pack.words["honorific"]))


def _titles(pack: Language) -> tuple[str, ...]:
    return pack.entries("people", "titles") or tuple(sorted(pack.words["title"] - {*pack.cues["role"]}))


class _Maker(NamedTuple):
    """What makes the rules of a language."""

    pack: Language
    checks: NameWords
    forms: _Forms

    def after(
        self,
        kind: str,
        cues: Iterable[str],
        form: str,
        types: tuple[str, ...],
        check: Callable[[str], bool],
        *,
        between: str = " ",
        separator: str = "",
        exact: bool = False,
        examples: Iterable[str] = (),
    ) -> Iterator[Rule]:
        """A rule for names after some cues, with an example; none without a cue of three letters.

        Args:
            kind: what the rule finds.
            cues: the cues.
            form: the expression, cue included.
            types: type names in corpora.
            check: validates a name.
            between: what the example has between its cue and its name.
            separator: what is between the names of a list.
            exact: whether both ends are those of annotators.
            examples: the cues of which one is in the example; all of them if empty.
        """
        pack = self.pack
        long = (entry for entry in examples or cues if len(entry) >= _SHORT)
        first = min(long, key=lambda entry: (not entry.isalpha(), entry), default="")
        if not first:
            return
        somebody, other = f"{pack.male[0]} {pack.family[0]}", f"{pack.female[0]} {pack.family[-1]}"
        joint = f" {pack.cues['and'][0]} [{other}]" if separator else ""
        yield Rule(
            f"{kind} in {pack.name}",
            form,
            types,
            (f"{first}{between}[{somebody}]{joint}",),
            (f"{first}{between}{min(pack.common).capitalize()}", f"x {first} x"),
            words=cue_starts(cues, pack),
            starts_with_word=True,
            check=check,
            language=pack.code,
            separator=separator,
            exact="both" if exact else "",
        )


def name_rules(pack: Language, checks: NameWords) -> Iterator[Rule]:
    """The rules for names in notes of a language; ``checks`` tells names from other words."""
    make = _Maker(pack, checks, _forms(pack))
    yield from _after_titles(make)
    yield from _after_relatives(make)
    yield from _after_fields(make)
    yield from _after_words(make)
    yield from _after_participles(make)
    yield from _before_degrees(make)


def _after_titles(make: _Maker) -> Iterator[Rule]:
    """Rules for names after a title or a form of address."""
    pack, checks, forms = make.pack, make.checks, make.forms
    plural = pack.entries("people", "plural_titles")
    yield from make.after(
        "names after a plural title",
        plural,
        rf"{cue(plural, pack)}{_NEXT}{forms.names}",
        _DOCTORS,
        checks.is_after_title,
        separator=forms.between,
    )
    doubtful = pack.entries("people", "unsure_addresses")
    any_title = rf"(?:{forms.title}|{forms.address}|{cue(doubtful, pack)})"
    after_titles = rf"(?:{forms.address}{_NEXT}){{0,2}}{forms.title}(?:{_NEXT}{any_title}){{0,4}}{_NEXT}"
    cues = (*_titles(pack), *_addresses(pack))
    led = rf"(?P<value>{forms.leading}{forms.name})"
    yield from make.after(
        "name after a title", cues, rf"{after_titles}{led}", _DOCTORS, checks.is_after_title, examples=_titles(pack)
    )
    second = rf"{after_titles}{forms.name},? {any_of(pack.cues['and'])} (?P<value>{forms.name})"
    example = f" {pack.family[-1]} {pack.cues['and'][0]} "
    yield from make.after(
        "second name after a title", cues, second, _DOCTORS, checks.is_known, between=example, examples=_titles(pack)
    )
    yield from make.after(
        "name after a form of address",
        _addresses(pack),
        rf"{forms.address}(?:{_NEXT}(?:{forms.address}|{cue(doubtful, pack)})){{0,2}}{_NEXT}{led}",
        _PATIENTS,
        checks.is_after_title,
    )
    if doubtful:
        yield Rule(
            f"name after {doubtful[0].upper()} in {pack.name}",
            rf"{cue(doubtful, pack)} ?(?P<value>{forms.name})",
            _PATIENTS,
            (f"{doubtful[0].capitalize()} [{pack.male[0]} {pack.family[0]}]",),
            (f"{doubtful[0].capitalize()} {min(pack.common).capitalize()}",),
            words=cue_starts(doubtful, pack),
            starts_with_word=True,
            check=checks.is_whole,
            language=pack.code,
        )


def _after_relatives(make: _Maker) -> Iterator[Rule]:
    """Rules for names of relatives, and of others who accompany a patient."""
    pack, checks, forms = make.pack, make.checks, make.forms
    # With a capital, a word for a relative is part of a name, "Calle Hermanos Quill", unless all is in capitals.
    small = "" if not pack.content.get("people", {}).get("small_kin") else rf"(?=(?-i:(?!{_UPPER})|{_UPPER}{{3}}))"
    called = rf"(?:,? {any_of(pack.entries('people', 'called'))}(?!\w))?"
    plural = pack.entries("people", "plural_kin")
    are = rf"(?:,? {any_of((*pack.entries('people', 'is'), *pack.entries('people', 'called')))}(?!\w))?"
    yield from make.after(
        "names of relatives",
        plural,
        rf"{small}{cue(plural, pack)}{are}(?: ?:|,)? \(?{forms.names}",
        _RELATIVES,
        checks.is_after_word,
        separator=forms.between,
    )
    kin = tuple(sorted({*pack.words["kin"], *pack.cues["companion"]}))
    which = rf"(?:(?:-| ){any_of(pack.entries('people', 'which_kin'))}(?!\w))?"
    yield from make.after(
        "name of a relative",
        kin,
        rf"(?:{small}{cue(kin, pack)}{which}{called}(?:,? | ?\()|{cue(kin, pack)}{which} ?: )(?P<value>{forms.name})",
        _RELATIVES,
        _strict(make),
    )


def _after_words(make: _Maker) -> Iterator[Rule]:
    """Rules for names after a role, a word for the patient, and words such as "called" and "born"."""
    pack, checks, forms = make.pack, make.checks, make.forms
    roles, value = pack.cues["role"], rf"(?P<value>{forms.name})"
    # No name of a person follows a preposition or an article: "médico de la Quill".
    no_of = "".join(rf"(?<! {re.escape(word)})" for word in pack.cues["of"] if len(word) < 4)
    of = rf"(?: {any_of(pack.cues['of'])}(?!\w)){{0,4}}{no_of}"
    after_role = rf"{cue(roles, pack)}{of}{forms.called}{value}"
    yield from make.after("name after a role", roles, after_role, _DOCTORS, _strict(make))
    patients = pack.cues["patient"]
    after_patient = rf"{cue(patients, pack)}(?:['’]s {any_of(pack.cues['field'])})?{forms.called}{value}"
    yield from make.after("name after a word for the patient", patients, after_patient, _PATIENTS, _strict(make))
    called = pack.cues["called"]
    yield from make.after("name after called", called, rf"{cue(called, pack)} {value}", _PATIENTS, checks.is_known)
    maiden = pack.cues["maiden"]
    led = rf"(?P<value>{forms.leading}{forms.name})"
    yield from make.after(
        "name after maiden", maiden, rf"{cue(maiden, pack)}{_GAP}{led}", _PATIENTS, checks.is_after_title
    )


def _after_fields(make: _Maker) -> Iterator[Rule]:
    """Rules for names after the name of a field."""
    pack, checks, forms = make.pack, make.checks, make.forms
    fields = pack.cues["field"]
    no_field = "".join(rf"(?<!{re.escape(word)} )" for word in pack.entries("people", "before_other_names"))
    whose = any_of({*pack.cues["of"], *pack.cues["patient"]})
    both = rf"(?: {any_of(pack.cues['and'])} {cue(fields, pack)})?(?: {whose}(?!\w)){{0,3}}"
    # With a space alone after it, the name of a field is in its line or cell: it has a capital.
    labels = [word for word in fields if word.isalpha() and len(word) > _SHORT and not pack.capital_nouns]
    label = "|".join(f"(?<={form})" for word in labels for form in (word.capitalize(), word.upper()))
    colon = rf"(?:{_COLON}| {any_of(pack.entries('people', 'is'))} |(?-i:{label or '(?!)'}) )"
    yield from make.after(
        "name after its field",
        fields,
        rf"{no_field}{cue(fields, pack)}{both}{colon}(?P<value>{forms.particles}{forms.name})",
        _PATIENTS,
        checks.is_after_word if pack.capital_nouns else checks.is_after_title,
        between=": ",
        exact=True,
    )
    if pack.capital_nouns:  # a colon is sign enough for names that no list has
        of = rf"(?: {any_of(pack.cues['of'])}(?!\w)){{0,4}}"
        for kind, after, types in (("patient", "", _PATIENTS), ("role", of, _DOCTORS)):
            cues = pack.cues[kind]
            form = rf"{cue(cues, pack)}{after}{_COLON}(?P<value>{forms.particles}{forms.name})"
            yield from make.after(f"name in a field, {kind}", cues, form, types, checks.is_after_word, between=": ")


def _after_participles(make: _Maker) -> Iterator[Rule]:
    """Rules for names after a signature, and of those who act."""
    pack, checks, forms = make.pack, make.checks, make.forms
    value, by = rf"(?P<value>{forms.name})", any_of(pack.entries("people", "by"))
    adverbs = rf"(?: {any_of(pack.entries('people', 'adverbs'))}(?: \w{{4,12}})?)?"
    signed, signatures = pack.entries("people", "signed"), pack.cues["signature"]
    after_signature = (
        rf"(?:{cue(signed, pack)}{adverbs}(?: {by}:?|:)|{cue(signatures, pack)})(?!\w) ?[.:,;|=-]{{0,2}} ?"
    )
    yield from make.after(
        "name after a signature",
        (*signatures, *signed),
        rf"(?<!\d ){after_signature}{value}",
        _DOCTORS,
        checks.is_after_word,
        examples=signatures,
    )
    seen, phrases = pack.entries("people", "seen"), pack.cues["seen_by"]
    after_seen = rf"(?:{cue(seen, pack)}{adverbs} {by}|{cue(phrases, pack)})(?!\w)(?:(?<=['’])|[:,]? ?)\(?"
    yield from make.after(
        "name after who acts", (*phrases, *seen), rf"{after_seen}{value}", _DOCTORS, _strict(make), examples=phrases
    )


def _before_degrees(make: _Maker) -> Iterator[Rule]:
    """The rule for names before a degree."""
    pack = make.pack
    degrees, others = pack.entries("people", "degrees"), pack.entries("people", "degrees_after_comma")
    if degrees:
        # A cue with a capital is no part of a name: "Attending Jane Quill, MD".
        cues = (*pack.cues["role"], *pack.cues["patient"], *_titles(pack), *_addresses(pack))
        verbs = {entry.split()[0] for name in ("signed", "seen", "by") for entry in pack.entries("people", name)}
        yield Rule(
            f"name before a degree in {pack.name}",
            rf"(?=(?-i:[^\W\d_a-z]))(?!{any_of({*verbs, *cues})}(?!\w))(?P<value>{make.forms.name})"
            rf"(?:,? (?-i:{any_of(degrees)})|, ?(?-i:{any_of(others)}))",
            _DOCTORS,
            (f"[{pack.male[0]} {pack.family[0]}], {degrees[0]}",),
            (f"an {degrees[0]}", f"{degrees[0]}, {degrees[-1]}"),
            words=tuple(sorted({tokenize(degree.lower())[0].text for degree in (*degrees, *others)})),
            check=make.checks.is_after_word,
            language=pack.code,
        )


def _strict(make: _Maker) -> Callable[[str], bool]:
    """The check after a word that more often precedes no name: where all nouns have capitals, for known names."""
    return make.checks.is_known if make.pack.capital_nouns else make.checks.is_after_word
