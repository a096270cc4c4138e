"""Surrogates with other letters and digits in the same positions: numbers, codes, telephones, network addresses.

Values of one shape have distinct surrogates (`_permuted`), and each digit and letter of a surrogate is another one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

import regex

from crfdeid.redaction.surrogates.choices import Chooser
from crfdeid.redaction.surrogates.words import ENGLISH_AND_SPANISH_WORDS, casefold_accents, splice, with_case_of
from features.lexicons import english_ordinal

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"
_ZERO, _NOT_ZERO, _DIGITS = "0", "123456789", "0123456789"
_SHARED = 3  # characters in a row that a surrogate does not share with its value, wherever they are in it
_SHARING = range(7, 21)  # characters of values that are permuted again for that: few of many are
_MOST_WALKS = 16
# Words that announce a number ("MRN", "ext.") do not identify.
_ANNOUNCING = (
    ENGLISH_AND_SPANISH_WORDS["identifier"]
    | ENGLISH_AND_SPANISH_WORDS["contact"]
    | {"x", "tlf", "móv", "nss", "cip", "cipa", "col", "colegiado"}
)
_WORD = regex.compile(r"(?<![\p{L}\p{Nd}])\p{L}+(?!\p{L}|\p{Nd})|(?<!\p{L})x(?=\p{Nd})")
# The number of a province, perhaps repeated ("28 28 12345").
_AGAIN = "(?P<again>(?P=first))?"
_GROUPED = regex.compile(rf"[^0-9]*(?P<first>[0-5][0-9])[\s/.-]+{_AGAIN}(?=(?:[^\p{{L}}]*[0-9]){{3}})")
_LICENCE = regex.compile(rf"[^0-9]*(?P<first>[0-5][0-9])[\s/.-]*{_AGAIN}")
_COUNTRY_CODE = regex.compile(r"\s*(?:\+|00)?(?:34|1)(?=(?:\D*[0-9]){9,10}\D*$)")
_AREA_CODE = regex.compile(r"\s*\(?(?:(?:\+|00)[0-9]{2}[\s/-]*)?(?:\(0\)|0)?\s?(?P<code>[1-9][0-9]{1,2})(?![0-9])")
_MAIL = regex.compile(r"\s*(?P<name>[^\s@]+)@(?P<domain>[^\s@]+?)\s*")
_TOP_LEVEL = regex.compile(r"\.(?:com|org|net|edu|gov|es|uk|us|fr|de|at|ch|be|it|pt|mx|ar|cl|co)$", regex.IGNORECASE)
_URL = regex.compile(r"(?P<scheme>(?:https?|ftp)://)?(?P<www>www\.)?(?P<host>[^\s/:?#]+\.[^\s/:?#]+)(?P<rest>\S*)")
_OCTETS = regex.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
DOORS = "ABCDEFG"
"""Letters of the doors on a floor."""
_DOOR = regex.compile(r"(?P<digits>[0-9]{1,3})(?P<door>[a-zA-Z])")
_ORDINAL = regex.compile(
    r"(?P<digits>[0-9]{1,3})(?:(?P<english>st|nd|rd|th)|(?P<spanish>er|ero|do|ro|to|mo|vo|no)|[ºª°]|o)",
    regex.IGNORECASE,
)
# Networks reserved for documentation (RFC 5737).
_NETS = ("192.0.2", "198.51.100", "203.0.113")


def substitute_characters(
    text: str,
    keyed: Chooser,
    province: Callable[[str], str | None] | None = None,
    *,
    is_licence: bool = False,
    announcing: frozenset[str] = frozenset(),
    fixed: Iterable[int] = (),
) -> str | None:
    """Return the same shape with other characters: digits for digits, vowels for vowels, consonants for consonants.

    Case, signs and words that announce a number stay. The result depends on letters and digits alone, so "555-0134" and
    "555 0134" get the same ones. A number gets a leading 0 only if it has one. None is returned for a text without
    digits, or with a word in lower case, since substituted letters would make no word.

    Args:
        text: the value.
        keyed: the source of choices.
        province: returns the number of the province that replaces another; numbers of Spanish professional colleges
            and social insurance begin with one, perhaps twice.
        is_licence: True for such a number even if its first two digits are not separated.
        announcing: further words that announce a number.
        fixed: offsets of characters that stay, since the caller replaces them.
    """
    announcing |= _ANNOUNCING
    words = [match for match in _WORD.finditer(text) if match.group().lower() not in announcing]
    if any(len(match.group()) > 2 and not match.group().isupper() for match in words):
        return None
    if not any(map(str.isdigit, casefold_accents("".join(c for c in text if c.isalnum())))):
        return None
    announced = {i for m in _WORD.finditer(text) if m.group().lower() in announcing for i in range(*m.span())}
    match = (_LICENCE if is_licence else _GROUPED).match(text) if province else None
    other = province(match["first"]) if province and match else None
    stay = set(fixed)
    if match is not None and other is not None:
        stay |= {i for name in ("first", "again") if match[name] for i in range(*match.span(name))}
    found = _permuted(text, keyed, stay, announced)
    if match is not None and other is not None:
        found = splice(found, [(*match.span(name), other) for name in ("first", "again") if match[name]])
    return found if casefold_accents(found) != casefold_accents(text) else None


def _permuted(text: str, keyed: Chooser, fixed: set[int], ignored: set[int]) -> str:
    """Return a text with other letters and digits, which no other text of its shape and fixed characters gets.

    Each character in turn moves by a number of places in its alphabet that depends on all others. Each step can be
    undone, and moves the character. Only a result of a long value that shares three characters in a row with the
    original goes through them again, so that it is that of another value; there are millions of such values.

    Args:
        text: the value.
        keyed: the source of choices.
        fixed: offsets of characters that stay, and of which the others depend.
        ignored: offsets of characters that stay, and that have no influence.
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


def telephone(text: str, keyed: Chooser, dialled: Callable[[str], str | None] | None = None) -> str | None:
    """Return another number of the same shape, with the same country code and first digit, which shows its kind.

    Args:
        text: the value.
        keyed: the source of choices.
        dialled: returns the area code of the province that replaces the number's province; None for no province.
    """
    code = _COUNTRY_CODE.match(text)
    rest = text[code.end() :] if code else text
    first = next((i for i, c in enumerate(rest) if c in _NOT_ZERO), None)
    digits = [i for i, c in enumerate(rest) if c.isdigit()]
    begin = dialled("".join(rest[i] for i in digits)) if dialled else None
    fixed = dict(zip(digits, begin, strict=False)) if begin else {} if first is None else {first: rest[first]}
    other = substitute_characters(rest, keyed, fixed=fixed)
    if other is None:
        other = substitute_characters(rest, keyed)
        return other and text[: len(text) - len(rest)] + other
    return text[: len(text) - len(rest)] + "".join(fixed.get(i, c) for i, c in enumerate(other))


def number_of_form(
    text: str,
    keyed: Chooser,
    forms: Sequence[regex.Pattern[str]],
    dated: Callable[[str], str | None],
    province: Callable[[str], str | None],
    announcing: frozenset[str],
) -> str | None:
    """Return another number whose parts keep their meaning: dates shift, provinces change, a group "kept" stays.

    Args:
        text: the value.
        keyed: the source of choices.
        forms: expressions with groups among day, month, year, province and kept.
        dated: returns the surrogate of a date: "13.03.67".
        province: returns the number of the province that replaces another.
        announcing: further words that announce a number.
    """
    match = next((found for form in forms if (found := form.search(text))), None)
    whole = substitute_characters(text, keyed, announcing=announcing)
    if match is None or whole is None:
        return whole
    parts = {name: part for name, part in match.groupdict().items() if part is not None}
    fixed = [i for name in parts for i in range(*match.span(name))]
    other = substitute_characters(text, keyed, announcing=announcing, fixed=fixed) or text
    new = {"kept": parts["kept"]} if "kept" in parts else {}
    if "province" in parts:
        new["province"] = province(parts["province"]) or parts["province"]
    if "month" in parts:
        shifted = dated(f"{parts.get('day', '15')}.{parts['month']}.{parts['year']}")
        if shifted is None:  # no date
            return whole
        new |= dict(zip(("day", "month", "year"), shifted.split("."), strict=True))
    return splice(other, sorted((*match.span(name), new[name]) for name in parts if name in new))


def telephone_after(
    text: str,
    keyed: Chooser,
    prefix: regex.Pattern[str],
    area_codes: Sequence[Sequence[str]],
    announcing: frozenset[str],
) -> str | None:
    """Return another telephone number of the same shape that begins with the same prefix, or with another area code.

    Args:
        text: the value.
        keyed: the source of choices.
        prefix: expression of what stays at the beginning.
        area_codes: groups of area codes that replace each other, without the leading 0.
        announcing: further words that announce a number.
    """
    area = _AREA_CODE.match(text)
    group = next((codes for codes in area_codes if area and area["code"] in codes), None)
    begins = prefix.match(text)
    end = begins.end() if begins else 0
    start = text[:end]
    if area and group:
        end = area.end()
        start = text[: area.start("code")] + keyed.other("area", area["code"], tuple(group))
    rest = substitute_characters(text[end:], keyed, announcing=announcing)
    return None if rest is None else start + rest


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


def net_address(text: str, keyed: Chooser) -> str | None:
    """Return another network address; an IPv4 address gets one that is reserved for documentation."""
    if not _OCTETS.fullmatch(text.strip()):
        return substitute_characters(text, keyed)
    return f"{keyed.choice('net', text.strip(), _NETS)}.{1 + keyed.number('machine', text.strip(), 254)}"


def other_code(text: str, keyed: Chooser) -> str:
    """Return another number of a house or floor, or a postcode; an ordinal stays one: "1er" becomes "3º"."""
    ordinal, door = _ORDINAL.fullmatch(text), _DOOR.fullmatch(text)
    digits = ordinal["digits"] if ordinal else door["digits"] if door else text
    found = _permuted(digits, keyed, set(), set())
    if found == digits:  # 0
        found = keyed.choice("code", digits, _NOT_ZERO)
    if ordinal is None:
        return found + (
            with_case_of(keyed.other("door", door["door"].lower(), tuple(DOORS)), door["door"]) if door else ""
        )
    if ordinal["english"]:
        return found + with_case_of(english_ordinal(int(found)), text)
    return found + ("º" if ordinal["spanish"] else text[len(digits) :])
