"""What a rule is, and the pieces that expressions of several rules are made of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Rule(NamedTuple):
    r"""A row of the table.

    Attributes:
        name: what it finds.
        form: the expression of what is found, tried without regard to case; where only part of it is to be found, that
            is a named group, such as "value"; of several, the one that matched.
        types: what corpora call it; the first that a corpus has is its type where the training notes hold no example.
        finds: texts in which it must find exactly what stands in brackets, or the whole text where nothing does.
        leaves: texts in which it must find nothing.
        after: names of fields, one of which must stand before it ("MRN: 4822"); none where its form says enough.
        words: tokens in lower case, one of which stands in every find: a sentence without is not searched. For a rule
            with ``left_context`` they come from there.
        token: an expression that is found in a token of each find, with regard to case: a sentence without is not
            searched. It may be slow, since what a token has is remembered.
        near: where more than 0, a match of ``form`` begins with one of ``words`` and holds a token with a capital, at
            most so many tokens after it: it is tried there and nowhere else.
        digits: the least number of digits that a find has: a sentence with fewer is not searched.
        run: the least number of digits that stand in a row in a find: a sentence with fewer is not searched.
        dense: the least number of characters of a find from a digit on with no space between them: as above.
        chain: the least number of digits of a find with nothing but spaces and the marks ().-/+ between them, where
            the least number of all is 7 or more: as above.
        sign: an expression of which a match stands in every find and that is found in no time, with regard to case: a
            sentence without is not searched.
        check: what tells a right value from one that only looks like it, such as a checksum. Of a find that fails, the
            part before its last space or hyphen is tried.
        proven: whether the check is one that a number hardly passes by chance, so that the rule is right about what it
            finds even where annotators left it.
        by_example: whether it is used only where the training notes hold right finds: what it finds is PHI in some
            corpora and plain text in others, such as a word for a relative.

    Example:
        >>> Rule("room", r"\d{3}[a-d]?", ("ROOM",), ("room [214b]",), ("room to move",), after=("room",), digits=3).name
        'room'
    """

    name: str
    form: str
    types: tuple[str, ...]
    positive_examples: tuple[str, ...]
    negative_examples: tuple[str, ...]
    left_context: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    token: str = ""
    near: int = 0
    digits: int = 0
    run: int = 0
    dense: int = 0
    chain: int = 0
    sign: str = ""
    check: Callable[[str], bool] | None = None
    has_checksum: bool = False
    requires_support: bool = False


def forms(stems: str, *endings: str) -> tuple[str, ...]:
    """Each stem with each ending; without endings, the stems themselves.

    Example:
        >>> forms("herman hij", "o", "a"), forms("wife husband")
        (('hermano', 'hermana', 'hijo', 'hija'), ('wife', 'husband'))
    """
    return tuple(stem + ending for stem in stems.split() for ending in endings or ("",))


def one_of(words: Iterable[str]) -> str:
    """An expression for any of some words, the longest that fits first: it looks at each letter once, not at each word.

    Example:
        >>> one_of(["sister", "sisters", "son", "aunt"])
        '(?=[as])(?:aunt|s(?:ister(?:s)?|on))'
    """
    words = set(words)
    return f"(?=[{''.join(sorted({word[0] for word in words}))}]){_branches(words)}"


def _branches(words: set[str]) -> str:
    """The expression for any of some words, or for the ends of them."""
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
    r"(?:e-?mail|correo|av|ave|avda|avenida|avenue|calle|c/|carrer|carretera|ctra|paseo|plaza|pza|street|road|box|apdo"
    r"|apartado|campus|servicio|service|departamento|department|dpto|dept|unidad|unit|sección|seccion|hospital|tel|tfno"
    r"|tlf|fax|phone|dra?|cp|españa)(?!\w)"
)
NAME_WORD = rf"[\"“”«»]?(?!{_ADDRESS}){CAPITAL}[\w’'&]{{0,40}}+[\"“”«»]?"
NAME_REST = (
    rf"(?:(?: (?:(?:de|del|da|do|dos|para|en|la|las|los|el|y|e|i|of|for|the|and) |d['’]){{0,3}}|-){NAME_WORD}){{0,6}}"
)

# What corpora call the numbers that stand for somebody or something.
RECORD_TYPES = ("MEDICALRECORD", "MEDICAL_RECORD_NUMBER", "ID_SUJETO_ASISTENCIA", "IDNUM", "ID")
PERSON_TYPES = ("IDNUM", "UNIQUE_IDENTIFIER", "ID_SUJETO_ASISTENCIA", "ID")
PLAN_TYPES = ("HEALTHPLAN", "HEALTH_PLAN_BENEFICIARY_NUMBER", "NUMERO_BENEF_PLAN_SALUD", "ID_ASEGURAMIENTO", "ID")
SECURITY_TYPES = ("SSN", "SOCIAL_SECURITY_NUMBER", "ID_ASEGURAMIENTO", "IDNUM", "ID")
ACCOUNT_TYPES = ("ACCOUNT", "ACCOUNT_NUMBER", "OTRO_NUMERO_IDENTIF", "IDNUM", "ID")
LICENCE_TYPES = ("LICENSE", "CERTIFICATE_LICENSE_NUMBER", "IDNUM", "ID")
VEHICLE_TYPES = ("VEHICLE", "VEHICLE_IDENTIFIER", "IDENTIF_VEHICULOS_NRSERIE_PLACAS", "IDNUM", "ID")
DEVICE_TYPES = ("DEVICE", "DEVICE_IDENTIFIER", "IDENTIF_DISPOSITIVOS_NRSERIE", "IDNUM", "ID")
