"""Other letters and digits in the same places: for numbers, codes, addresses on the net, and words of no known kind."""

from __future__ import annotations

import regex

from crfdeid.redaction.surrogates.keyed import Keyed

_DIGITS = "0123456789"
_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxz"
_KEPT_IN_ADDRESSES = regex.compile(
    r"^(?:https?|ftp)://|^www\.|(?<=://)www\.|\.[a-z]{2,4}(?=$|[/:?#])", regex.IGNORECASE
)


def scrambled(text: str, keyed: Keyed) -> str:
    """The same shape with other letters and digits: digits for digits, vowels for vowels, consonants for consonants.

    The case of letters, and every character that is neither letter nor digit, stay. What comes out depends on the
    letters and digits alone, so that "555-0134" and "555 0134" get the same ones; it is never what went in, unless
    there is no letter and no digit at all.

    Args:
        text: what to replace.
        keyed: where the choices come from.
    """
    value = "".join(c for c in text if c.isalnum()).casefold()
    if not value:
        return text
    for attempt in range(256):
        numbers = keyed.stream(f"shape {attempt}", value)
        found = "".join(_other(c, next(numbers)) if c.isalnum() else c for c in text)
        if found.casefold() != text.casefold():
            break
    return found


def scrambled_address(text: str, keyed: Keyed) -> str:
    """An e-mail or web address with all but its scheme, "www." and top-level domain scrambled."""
    parts, end = [], 0
    for match in _KEPT_IN_ADDRESSES.finditer(text):
        parts += [scrambled(text[end : match.start()], keyed), match.group()]
        end = match.end()
    found = "".join([*parts, scrambled(text[end:], keyed)])
    return found if found != text else scrambled(text, keyed)


def _other(character: str, number: int) -> str:
    if character.isdecimal():
        return _DIGITS[number % 10]
    plain = character.lower()
    options = _VOWELS if plain in "aeiouáéíóúàèìòùäëïöüâêîôû" else _CONSONANTS
    found = options[number % len(options)]
    return found.upper() if character.isupper() else found
