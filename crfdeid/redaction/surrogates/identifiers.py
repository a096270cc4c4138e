"""Surrogates with other letters and digits in the same positions: numbers, codes, telephones, network addresses.

Values of one shape have distinct surrogates (`_permuted`), and each digit and letter of a surrogate is another one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

import regex

from crfdeid.redaction.surrogates.calendars import calendar_of
from crfdeid.redaction.surrogates.choices import Chooser
from crfdeid.redaction.surrogates.words import (
    casefold_accents,
    packs_anywhere,
    packs_of,
    splice,
    surrogate_entries,
    surrogate_table,
    with_case_of,
)
from features.lexicons import lexicons

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"
_ZERO, _NOT_ZERO, _DIGITS = "0", "123456789", "0123456789"
_SHARED = 3  # characters in a row that a surrogate does not share with its value, wherever they are in it
_SHARING = range(7, 21)  # characters of values that are permuted again for that: few of many are
_MOST_WALKS = 16
_WORD = regex.compile(r"(?<![\p{L}\p{Nd}])\p{L}+(?!\p{L}|\p{Nd})|(?<!\p{L})x(?=\p{Nd})")
# The number of a province, perhaps repeated ("28 28 12345").
_AGAIN = "(?P<again>(?P=first))?"
_GROUPED = regex.compile(rf"[^0-9]*(?P<first>[0-5][0-9])[\s/.-]+{_AGAIN}(?=(?:[^\p{{L}}]*[0-9]){{3}})")
_LICENCE = regex.compile(rf"[^0-9]*(?P<first>[0-5][0-9])[\s/.-]*{_AGAIN}")
_AREA_CODE = regex.compile(r"\s*\(?(?:(?:\+|00)[0-9]{2}[\s/-]*)?(?:\(0\)|0)?\s?(?P<code>[1-9][0-9]{1,2})(?![0-9])")
_MAIL = regex.compile(r"\s*(?P<name>[^\s@]+)@(?P<domain>[^\s@]+?)\s*")
_TOP_LEVEL = regex.compile(r"(?i)\.(?:com|org|net|edu|gov|es|uk|us|fr|de|at|ch|be|it|nl|pt|br|mx|ar|cl|co)$")
_URL = regex.compile(r"(?P<scheme>(?:https?|ftp)://)?(?P<www>www\.)?(?P<host>[^\s/:?#]+\.[^\s/:?#]+)(?P<rest>\S*)")
_OCTETS = regex.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_SUFFIXED = regex.compile(r"(?P<digits>[0-9]{1,3})(?P<suffix>\p{L}+|[ºª°])")
# Networks reserved for documentation (RFC 5737).
_NETS = ("192.0.2", "198.51.100", "203.0.113")


class Numbers:
    """Surrogates of numbers and telephone numbers.

    Args:
        keyed: the source of choices.
        locale: language and country.
        dated: returns the surrogate of a date: "13.03.67".
        province: returns the number of the province that replaces another; None for an unknown one.
        dialled: returns the area code of the province that replaces a telephone number's province; None for none.
    """

    def __init__(
        self,
        keyed: Chooser,
        locale: str,
        dated: Callable[[str], str | None],
        province: Callable[[str], str | None],
        dialled: Callable[[str], str | None],
    ) -> None:
        self._keyed, self._dated, self._province, self._dialled = keyed, dated, province, dialled
        section = surrogate_table(packs_of(locale)[0], "numbers")
        self._begins_with_province = section.get("province_first", False)
        self._forms = [regex.compile(form) for form in section.get("forms", ())]
        self._prefix = regex.compile(section["phone_prefix"]) if "phone_prefix" in section else None
        self._area_codes = [tuple(codes.replace(",", " ").split()) for codes in section.get("area_codes", ())]
        codes = "|".join(surrogate_entries(locale, "numbers", "country_codes")) or "(?!)"
        self._country_code = regex.compile(rf"\s*(?:\+|00)?(?:{codes})(?=(?:\D*[0-9]){{9,10}}\D*$)")
        packs = packs_anywhere(locale)
        words = lexicons(tuple(pack.code for pack in packs))
        self._announcing = (words["identifier"] | words["contact"]).union(
            *(pack.entries("surrogates", "numbers", "announcing") for pack in packs)
        )

    def number(self, text: str, *, is_licence: bool = False) -> str | None:
        """Return another number whose parts keep their meaning: dates shift, provinces change, a group "kept" stays.

        Args:
            text: the value.
            is_licence: True for a number that begins with that of a province even if its digits are not separated.
        """
        match = next((found for form in self._forms if (found := form.search(text))), None)
        province = self._province if self._begins_with_province else None
        whole = self._substituted(text, province, is_licence=is_licence)
        if match is None or whole is None:
            return whole
        parts = {name: part for name, part in match.groupdict().items() if part is not None}
        fixed = [i for name in parts for i in range(*match.span(name))]
        other = self._substituted(text, fixed=fixed) or text
        new = {"kept": parts["kept"]} if "kept" in parts else {}
        if "province" in parts:
            new["province"] = self._province(parts["province"]) or parts["province"]
        if "month" in parts:
            shifted = self._dated(f"{parts.get('day', '15')}.{parts['month']}.{parts['year']}")
            if shifted is None:  # no date
                return whole
            new |= dict(zip(("day", "month", "year"), shifted.split("."), strict=True))
        return splice(other, sorted((*match.span(name), new[name]) for name in parts if name in new))

    def telephone(self, text: str) -> str | None:
        """Return another number of the same shape and kind, which its first digits show.

        Its prefix stays, or an area code becomes another one. In a language without a prefix, country code and first
        digit stay, or the area code of a province becomes that of another.
        """
        if self._prefix is not None:
            area = _AREA_CODE.match(text)
            group = next((codes for codes in self._area_codes if area and area["code"] in codes), None)
            begins = self._prefix.match(text)
            end = begins.end() if begins else 0
            start = text[:end]
            if area and group:
                end = area.end()
                start = text[: area.start("code")] + self._keyed.other("area", area["code"], group)
            rest = self._substituted(text[end:])
            return None if rest is None else start + rest
        code = self._country_code.match(text)
        start, rest = (text[: code.end()], text[code.end() :]) if code else ("", text)
        first = next((i for i, c in enumerate(rest) if c in _NOT_ZERO), None)
        digits = [i for i, c in enumerate(rest) if c.isdigit()]
        dialled = self._dialled("".join(rest[i] for i in digits))
        fixed = dict(zip(digits, dialled, strict=False)) if dialled else {} if first is None else {first: rest[first]}
        other = self._substituted(rest, fixed=fixed)
        if other is None:
            other = self._substituted(rest)
            return other and start + other
        return start + "".join(fixed.get(i, c) for i, c in enumerate(other))

    def net_address(self, text: str) -> str | None:
        """Return another network address; an IPv4 address gets one that is reserved for documentation."""
        if not _OCTETS.fullmatch(text.strip()):
            return self._substituted(text)
        keyed = self._keyed
        return f"{keyed.choice('net', text.strip(), _NETS)}.{1 + keyed.number('machine', text.strip(), 254)}"

    def _substituted(
        self,
        text: str,
        province: Callable[[str], str | None] | None = None,
        *,
        is_licence: bool = False,
        fixed: Iterable[int] = (),
    ) -> str | None:
        """Return the same shape with other characters: digits for digits, vowels for vowels, consonants for consonants.

        Case, signs and words that announce a number stay. The result depends on letters and digits alone, so
        "555-0134" and "555 0134" get the same ones. A number gets a leading 0 only if it has one. None is returned for
        a text without digits, or with a word in lower case, since substituted letters would make no word.
        """
        words = [(match, match.group().lower() in self._announcing) for match in _WORD.finditer(text)]
        if any(len(match.group()) > 2 and not match.group().isupper() for match, announces in words if not announces):
            return None
        if not any(map(str.isdigit, casefold_accents("".join(c for c in text if c.isalnum())))):
            return None
        announced = {i for match, announces in words if announces for i in range(*match.span())}
        match = (_LICENCE if is_licence else _GROUPED).match(text) if province else None
        other = province(match["first"]) if province and match else None
        if match is None or other is None:
            found = _permuted(text, self._keyed, {*fixed}, announced)
        else:
            spans = [match.span(name) for name in ("first", "again") if match[name]]
            stay = {*fixed, *(i for span in spans for i in range(*span))}
            found = _permuted(text, self._keyed, stay, announced)
            found = splice(found, [(*span, other) for span in spans])
        return found if casefold_accents(found) != casefold_accents(text) else None


def _permuted(text: str, keyed: Chooser, fixed: set[int], ignored: set[int]) -> str:
    """Return a text with other letters and digits, which no other text of its shape and fixed characters gets.

    Each character in turn moves by a number of places in its alphabet that depends on all others. Each step can be
    undone, and moves the character. Only a result of a long value that shares three characters in a row with the
    original goes through them again, so that it is that of another value; there are millions of such values.
    Characters at fixed and ignored offsets stay; the others depend on the former.
    """
    offsets = [i for i, c in enumerate(text) if c.isalnum() and c not in "ºª°" and i not in ignored]
    old = [_plain(text[i]) for i in offsets]
    moving = [n for n, i in enumerate(offsets) if i not in fixed]
    runs = [n == 0 or not old[n - 1].isdigit() for n in range(len(old))]
    alphabets = [_alphabet(c, begins=begins) for c, begins in zip(old, runs, strict=True)]
    new = list(old)
    for _ in range(_MOST_WALKS):
        for n in moving:
            alphabet, others = alphabets[n], "".join([*new[:n], " ", *new[n + 1 :]])
            place = alphabet.find(new[n]) if new[n] in alphabet else ord(new[n])
            new[n] = alphabet[(place + keyed.shift(others, len(alphabet))) % len(alphabet)]
        if len(moving) not in _SHARING or not _shares(old, new, moving):
            break
    found = list(text)
    for n in moving:
        i = offsets[n]
        found[i] = new[n].upper() if text[i].isupper() else new[n]
    return "".join(found)


def _plain(character: str) -> str:
    """Return a digit, or the first letter of the casefolded form."""
    value = unicodedata.digit(character, None)
    return str(value) if value is not None else casefold_accents(character)[:1] or character


def _alphabet(character: str, *, begins: bool) -> str:
    """Return the characters that may replace one; a number gets a leading 0 only if it has one."""
    if character.isdigit():
        return _DIGITS if not begins else _ZERO if character == _ZERO else _NOT_ZERO
    return _VOWELS if character in _VOWELS else _CONSONANTS


def _shares(old: Sequence[str], new: Sequence[str], moving: Sequence[int]) -> bool:
    """Return True if two values share some characters in a row, of which at most one does not move."""
    moved = {*moving}
    rows = [range(n, n + _SHARED) for n in range(len(old) - _SHARED + 1)]
    rows = [row for row in rows if len(moved.intersection(row)) + 1 >= _SHARED]
    parts = [{"".join(some[n] for n in row) for row in rows} for some in (old, new)]
    return not parts[0].isdisjoint(parts[1])


def contact_kind(text: str) -> str:
    """Return the kind of a contact by its form: "mail", "net", "web" or "telephone".

    Example:
        >>> [contact_kind(text) for text in ("j.quill@tawn.org", "10.0.0.7", "www.tawn.org", "555-0134")]
        ['mail', 'net', 'web', 'telephone']
    """
    forms = {"mail": _MAIL, "net": _OCTETS, "web": _URL}
    return next((kind for kind, form in forms.items() if form.fullmatch(text.strip())), "telephone")


def mail_address(text: str, keyed: Chooser, name: str) -> str | None:
    """Return an address of another name at the domain "example" with the same top-level domain."""
    match = _MAIL.fullmatch(text)
    if not match:
        return None
    top = _TOP_LEVEL.search(match["domain"])
    return f"{account_name(match['name'], keyed, name)}@example{top.group() if top else '.org'}"


def account_name(text: str, keyed: Chooser, name: str) -> str:
    """Return the name of an account: a family name, and two digits that depend on the whole original."""
    return f"{casefold_accents(name)}{10 + keyed.number('account', casefold_accents(text), 90)}"


def web_address(text: str, keyed: Chooser, name: str) -> str | None:
    """Return another page at a reserved domain with the same scheme, "www." and top-level domain."""
    match = _URL.fullmatch(text.strip())
    if not match:
        return None
    top = _TOP_LEVEL.search(match["host"])
    page = f"/{account_name(match['rest'], keyed, name)}" if len(match["rest"]) > 1 else match["rest"]
    host = f"{match['scheme'] or ''}{match['www'] or ''}{casefold_accents(name)}"
    return f"{host}.example{top.group() if top else '.org'}{page}"


def other_code(text: str, keyed: Chooser, locale: str) -> str:
    """Return another number of a house or floor, or a postcode; an ordinal stays one: "1er" becomes "3º"."""
    match = _SUFFIXED.fullmatch(text)
    digits, suffix = match.groups() if match else (text, "")
    is_ordinal = bool(match and _ordinal(int(digits), suffix, locale))
    if not is_ordinal and not (suffix.isascii() and len(suffix) == 1):
        digits, suffix = text, ""
    found = _permuted(digits, keyed, set(), set())
    if found == digits:  # 0
        found = keyed.choice("code", digits, _NOT_ZERO)
    return found + (_ordinal(int(found), suffix, locale) if is_ordinal else other_door(suffix, keyed) if suffix else "")


def other_door(letter: str, keyed: Chooser) -> str:
    """Return another letter of a door on a floor."""
    return with_case_of(keyed.other("door", letter.lower(), tuple("ABCDEFG")), letter)


def _ordinal(number: int, suffix: str, locale: str) -> str:
    """Return what follows a number in place of the suffix of an ordinal; "" for another suffix."""
    if suffix in "ºª°oO":
        return suffix
    streets = (surrogate_table(pack, "streets") for pack in packs_of(locale))
    by_street = (
        one.get("ordinal", suffix)
        for one in streets
        if regex.fullmatch(one.get("ordinals", "(?!)"), suffix, regex.IGNORECASE)
    )
    return calendar_of(locale).ordinal(suffix, number) or next(by_street, "")
