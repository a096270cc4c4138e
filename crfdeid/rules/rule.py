"""`Rule`, a row of the table of rules, and parts of expressions that several rules share."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple


class Rule(NamedTuple):
    r"""An expression for one kind of PHI, and its examples.

    Attributes:
        name: the kind of value.
        form: expression of the value, case-insensitive. A named group, such as "value", marks the part to report; with
            several groups, the last one that matched.
        types: type names in corpora, in order of preference; the first one that a corpus has is the label if the
            training notes hold no example.
        positive_examples: texts with the value in brackets; without brackets the whole text is the value.
        negative_examples: texts without a match.
        left_context: names of fields, one of which must precede the value ("MRN: 4822"); empty: no field needed.
        words: lower-case tokens, one of which is in every match, so that the rule is tried in sentences with one; taken
            from ``left_context`` if that is set.
        starts_with_word: a match starts with one of ``words``; the rule is tried at those words only.
        check: validates a value, such as by its checksum. If a match fails, the part before its last space, hyphen or
            comma is tried.
        has_checksum: ``check`` hardly passes by chance, so that a match is PHI even if annotators missed it.
        requires_support: use the rule only if the training notes hold right matches: its values are PHI in some corpora
            only, such as words for relatives.
        exact: the ends of its matches that are ends of annotators' spans too: "both", "start", or "" for none. There a
            hybrid of few training notes splits a span of its model, such as a street with the postal code after it.
        language: code of the language of the notes that the rule is for; None for all.

    Example:
        >>> Rule("room", r"\d{3}[a-d]?", ("ROOM",), ("room [214b]",), ("room to move",), ("room",)).name
        'room'
    """

    name: str
    form: str
    types: tuple[str, ...]
    positive_examples: tuple[str, ...]
    negative_examples: tuple[str, ...]
    left_context: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    starts_with_word: bool = False
    check: Callable[[str], bool] | None = None
    has_checksum: bool = False
    requires_support: bool = False
    exact: Literal["", "start", "both"] = ""
    language: str | None = None


def forms(stems: str, *endings: str) -> tuple[str, ...]:
    """Each stem with each ending; without endings, the stems themselves.

    Example:
        >>> forms("herman hij", "o", "a"), forms("wife husband")
        (('hermano', 'hermana', 'hijo', 'hija'), ('wife', 'husband'))
    """
    return tuple(stem + ending for stem in stems.split() for ending in endings or ("",))


def one_of(words: Iterable[str]) -> str:
    """An expression for any of some words, longest match first; a trie, so that each letter is compared once.

    Example:
        >>> one_of(["sister", "sisters", "son", "aunt"])
        '(?=[as])(?:aunt|s(?:ister(?:s)?|on))'
    """
    words = set(words)
    return f"(?=[{''.join(sorted({word[0] for word in words}))}]){_branches(words)}"


def _branches(words: set[str]) -> str:
    """The expression for any of some words or word endings."""
    tails: dict[str, set[str]] = defaultdict(set)
    for word in words - {""}:
        tails[word[0]].add(word[1:])
    if not tails:
        return ""
    branches = [re.escape(letter) + _branches(rest) for letter, rest in sorted(tails.items())]
    whole = branches[0] if len(branches) == 1 and "" not in words else f"(?:{'|'.join(branches)})"
    return whole + "?" * ("" in words)


# Numbers in three groups or more, or letters and digits with two digits among them: "48-2213-7", "QX-48221", "A991204".
CODE = r"(?:\d{2,4}(?:[ -]\d{3,4}){1,4}|(?=(?:[a-z-]{0,8}\d){2})[a-z0-9](?:[a-z0-9]|[-/](?=[a-z0-9])){3,23}+)"

# A word of a name, and what follows it. An address that comes next is no part of the name.
CAPITAL = "(?-i:[A-ZÁÉÍÓÚÜÑÇÀÈÒ])"
_ADDRESS = (
    r"(?:c ?[/\\]|(?:e-?mail|correo|av|ave|avda|avenida|avenue|calle|carrer|carretera|ctra|paseo|plaza|pza|street|road"
    r"|box|apdo|glorieta|pso|planta|apartado|campus|servicio|service|departamento|department|dpto|dept|unidad|unit|sección|seccion|hospital"
    r"|tel|tfno|tlf|fax|phone|dra?|cp|españa)(?!\w))"
)
NAME_PART = rf"[\"“”«»]?(?!{_ADDRESS}){CAPITAL}[\w’'&]{{0,40}}+[\"“”«»]?"
NAME_REST = (
    rf"(?:(?: (?:(?:de|del|da|do|dos|para|en|la|las|los|el|y|e|i|of|for|the|and) |d['’]){{0,3}}|-){NAME_PART}){{0,6}}"
)

# Type names of identifying numbers in corpora.
RECORD_TYPES = ("MEDICALRECORD", "MEDICAL_RECORD_NUMBER", "ID_SUJETO_ASISTENCIA", "IDNUM", "ID")
PERSON_TYPES = ("IDNUM", "UNIQUE_IDENTIFIER", "ID_SUJETO_ASISTENCIA", "ID")
PLAN_TYPES = ("HEALTHPLAN", "HEALTH_PLAN_BENEFICIARY_NUMBER", "NUMERO_BENEF_PLAN_SALUD", "ID_ASEGURAMIENTO", "ID")
SECURITY_TYPES = ("SSN", "SOCIAL_SECURITY_NUMBER", "ID_ASEGURAMIENTO", "IDNUM", "ID")
ACCOUNT_TYPES = ("ACCOUNT", "ACCOUNT_NUMBER", "OTRO_NUMERO_IDENTIF", "IDNUM", "ID")
LICENCE_TYPES = ("LICENSE", "CERTIFICATE_LICENSE_NUMBER", "IDNUM", "ID")
VEHICLE_TYPES = ("VEHICLE", "VEHICLE_IDENTIFIER", "IDENTIF_VEHICULOS_NRSERIE_PLACAS", "IDNUM", "ID")
DEVICE_TYPES = ("DEVICE", "DEVICE_IDENTIFIER", "IDENTIF_DISPOSITIVOS_NRSERIE", "IDNUM", "ID")
