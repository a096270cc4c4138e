"""Other letters and digits in the same places: for numbers, codes, telephones and addresses on the net."""

from __future__ import annotations

from collections.abc import Callable

import regex

from crfdeid.redaction.surrogates.chooser import HmacChooser, casefold_accents, english_ordinal, with_case_of
from features.lexicons import LEXICONS

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxz"
# What announces a number ("MRN", "ext.") says nothing of it.
_ANNOUNCED = (
    LEXICONS["identifier"] | LEXICONS["contact"] | {"x", "tlf", "móv", "nss", "cip", "cipa", "col", "colegiado"}
)
_WORD = regex.compile(r"(?<![\p{L}\p{Nd}])\p{L}+(?!\p{L}|\p{Nd})|(?<!\p{L})x(?=\p{Nd})")
# The number of a province, and where it is repeated ("28 28 12345"), that too.
_AGAIN = "(?P<again>(?P=first))?"
_GROUPED = regex.compile(rf"[^0-9]*(?P<first>[0-5][0-9])[\s/.-]+{_AGAIN}(?=(?:[^\p{{L}}]*[0-9]){{3}})")
_LICENCE = regex.compile(rf"[^0-9]*(?P<first>[0-5][0-9])[\s/.-]*{_AGAIN}")
_COUNTRY_CODE = regex.compile(r"\s*(?:\+|00)?(?:34|1)(?=(?:\D*[0-9]){9,10}\D*$)")
_MAIL = regex.compile(r"\s*(?P<name>[^\s@]+)@(?P<domain>[^\s@]+?)\s*")
_TOP_LEVEL = regex.compile(r"\.(?:com|org|net|edu|gov|es|uk|us|fr|de|it|pt|mx|ar|cl|co)$", regex.IGNORECASE)
_URL = regex.compile(r"(?P<scheme>(?:https?|ftp)://)?(?P<www>www\.)?(?P<host>[^\s/:?#]+\.[^\s/:?#]+)(?P<rest>\S*)")
_OCTETS = regex.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
DOORS = "ABCDEFG"
"""Letters that tell the doors of a floor apart."""
_DOOR = regex.compile(r"(?P<digits>[0-9]{1,3})(?P<door>[a-zA-Z])")
_ORDINAL = regex.compile(
    r"(?P<digits>[0-9]{1,3})(?:(?P<english>st|nd|rd|th)|(?P<spanish>er|ero|do|ro|to|mo|vo|no)|[ºª°]|o)",
    regex.IGNORECASE,
)
# Reserved for examples (RFC 5737): they lead nowhere.
_NETS = ("192.0.2", "198.51.100", "203.0.113")


def substitute_characters(
    text: str, keyed: HmacChooser, province: Callable[[str], str | None] | None = None, *, is_licence: bool = False
) -> str | None:
    """The same shape with other letters and digits: digits for digits, vowels for vowels, consonants for consonants.

    The case of letters, every character that is neither letter nor digit, and words that announce a number stay. What
    comes out depends on the letters and digits alone, so that "555-0134" and "555 0134" get the same ones. A number
    that does not begin with 0 does not do so afterwards. None where there is no digit, or a word in small letters:
    other letters in its place would mean nothing.

    Args:
        text: the value.
        keyed: where the choices come from.
        province: gives the number of the province that the one of a number becomes. Numbers of Spanish colleges and of
            the social insurance begin with one, by itself or twice.
        is_licence: whether it is such a number, also where its first two digits do not stand by themselves.
    """
    words = [match for match in _WORD.finditer(text) if match.group().lower() not in _ANNOUNCED]
    if any(len(match.group()) > 2 and not match.group().isupper() for match in words):
        return None
    value = casefold_accents("".join(c for c in text if c.isalnum()))
    if not any(map(str.isdigit, value)):
        return None
    announced = [match.span() for match in _WORD.finditer(text) if match.group().lower() in _ANNOUNCED]
    for attempt in range(256):
        numbers = keyed.stream(f"shape {attempt}", value)
        found = "".join(_other(c, next(numbers)) if c.isalnum() else c for c in text)
        for start, end in announced:
            found = found[:start] + text[start:end] + found[end:]
        found = _with_province(text, found, province, is_licence=is_licence) if province else found
        if casefold_accents(found) != casefold_accents(text):
            return found
    return None


def _with_province(text: str, found: str, province: Callable[[str], str | None], *, is_licence: bool) -> str:
    """Another number that begins with the province that the text's province becomes."""
    match = (_LICENCE if is_licence else _GROUPED).match(text)
    other = province(match["first"]) if match else None
    if match is None or other is None:
        return found
    for start, end in (match.span("first"), match.span("again")):
        found = found[:start] + other + found[end:] if start >= 0 else found
    return found


def telephone(text: str, keyed: HmacChooser, dialled: Callable[[str], str | None] | None = None) -> str | None:
    """Another number of the same shape; the code of the country, and the kind that its first digit tells, stay.

    Args:
        text: the value.
        keyed: where the choices come from.
        dialled: gives the digits with which numbers of the surrogate of their province begin; None where it has none.
    """
    code = _COUNTRY_CODE.match(text)
    rest = text[code.end() :] if code else text
    first = next((i for i, c in enumerate(rest) if c in "123456789"), None)
    other = substitute_characters(rest, keyed)
    if other is None or first is None:
        return other
    places = [i for i, c in enumerate(rest) if c.isdigit()]
    begin = dialled("".join(rest[i] for i in places)) if dialled else None
    found = list(other)
    for place, digit in zip(places if begin else [first], begin or rest[first], strict=False):
        found[place] = digit
    return text[: len(text) - len(rest)] + ("".join(found) if found != list(rest) else other)


def mail_address(text: str, keyed: HmacChooser, name: str) -> str | None:
    """Another address, of a name, at a domain that is nobody's: "example" before the same last part."""
    match = _MAIL.fullmatch(text)
    if not match:
        return None
    top = _TOP_LEVEL.search(match["domain"])
    return f"{account_name(match['name'], keyed, name)}@example{top.group() if top else '.org'}"


def account_name(text: str, keyed: HmacChooser, name: str) -> str:
    """The name of an account: a family name, and two digits that depend on all of the old one."""
    return f"{casefold_accents(name)}{10 + keyed.number('account', casefold_accents(text), 90)}"


def web_address(text: str, keyed: HmacChooser, name: str) -> str | None:
    """Another page, at a domain that is nobody's; the scheme, "www." and the last part of the domain stay."""
    match = _URL.fullmatch(text.strip())
    if not match:
        return None
    top = _TOP_LEVEL.search(match["host"])
    page = f"/{account_name(match['rest'], keyed, name)}" if len(match["rest"]) > 1 else match["rest"]
    return f"{match['scheme'] or ''}{match['www'] or ''}{casefold_accents(name)}.example{top.group() if top else '.org'}{page}"


def net_address(text: str, keyed: HmacChooser) -> str | None:
    """Another address of a machine: of the networks that are reserved for examples where it has four numbers."""
    if not _OCTETS.fullmatch(text.strip()):
        return substitute_characters(text, keyed)
    return f"{keyed.choice('net', text.strip(), _NETS)}.{1 + keyed.number('machine', text.strip(), 254)}"


def other_code(text: str, keyed: HmacChooser) -> str:
    """Another number of a house or a floor, or a postcode; an ordinal stays one: "1er" becomes "3º"."""
    numbers = keyed.stream("code", casefold_accents(text))
    ordinal, door = _ORDINAL.fullmatch(text), _DOOR.fullmatch(text)
    digits = ordinal["digits"] if ordinal else door["digits"] if door else text
    found = digits
    while casefold_accents(found) == casefold_accents(digits):
        found = "".join(_other(c, next(numbers)) for c in digits)
    if ordinal is None:
        return found + (with_case_of(DOORS[next(numbers) % len(DOORS)], door["door"]) if door else "")
    if ordinal["english"]:
        return found + with_case_of(english_ordinal(int(found)), text)
    return found + ("º" if ordinal["spanish"] else text[len(digits) :])


def _other(character: str, number: int) -> str:
    if character.isdigit():
        return str(number % 10) if character == "0" else str(1 + number % 9)
    if character in "ºª°":
        return character
    options = _VOWELS if casefold_accents(character)[:1] in _VOWELS else _CONSONANTS
    found = options[number % len(options)]
    return found.upper() if character.isupper() else found
