"""Parts of rules: `Rule`, a row of the table, shared parts of expressions, and check digits.

The check digits, and other validity tests of numbers, are python-stdnum's, and some that it lacks.
"""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, Literal, NamedTuple

from features.languages import Language
from features.lexicons import spellings
from features.tokenizer import tokenize


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
            comma is tried, unless the answer is None: then no part of it can be valid.
        has_checksum: ``check`` hardly passes by chance, so that a match is PHI even if annotators missed it.
        requires_support: use the rule only if its matches in the training notes are PHI, or if there are training notes
            without a match: its values are PHI in some corpora only, such as words for relatives.
        in_note: says of a whole note, by its text, whether the matches in it are PHI; None: in every note.
        exact: the ends of its matches that are ends of annotators' spans too: "both", "start", or "" for none. There a
            hybrid of few training notes splits a span of its model, such as a street with the postal code after it.
        language: code of the language of the notes that the rule is for; None for all.
        separator: expression of what is between the values of a list, "Quill, Marsh and Tawn"; "" for one value.
        digits: the least number of digits of a match with its context; the rule is tried in sentences with as many.

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
    check: Callable[[str], bool | None] | None = None
    has_checksum: bool = False
    requires_support: bool = False
    in_note: Callable[[str], bool] | None = None
    exact: Literal["", "start", "both"] = ""
    language: str | None = None
    separator: str = ""
    digits: int = 0


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


def any_of(entries: Iterable[str]) -> str:
    """The expression of any of some entries of a list in a language pack; one that never matches for none."""
    forms = {form for entry in entries for form in (entry, entry.replace("'", "’"))}
    return f"(?:{one_of(forms)})" if forms else "(?!)"


def cue(entries: Iterable[str], pack: Language, *, capitals: int = 1) -> str:
    """The expression of any of some cues of a language, in any spelling; one that never matches for none.

    A full stop may follow an entry; an entry that the list has with a full stop alone needs it. An entry in capitals is
    found in capitals.

    Args:
        entries: the cues.
        pack: the language.
        capitals: letters at most of entries that are found with a capital alone, such as "M.".
    """
    entries = {*entries}
    groups: dict[tuple[str, bool, bool], set[str]] = defaultdict(set)
    for entry in entries:
        start, rest = _split_cue(entry, pack)
        for form in _spelled(rest):
            letters = form.removesuffix(".")
            needs_stop = letters != form and letters not in entries
            exact = rest.isupper() or len(letters) <= capitals
            cases = {letters} if rest.isupper() or not exact else {letters.capitalize(), letters.upper()}
            groups[start, needs_stop, exact].update(cases)
    parts = []
    for (start, needs_stop, exact), forms in sorted(groups.items()):
        before = f"(?<={re.escape(start)} )".replace("'", "['’]") if start else ""
        stop = r"\." if needs_stop else r"(?:(?<=['’/])|(?!\w))\.?"
        parts.append(before + (f"(?-i:{any_of(forms)})" if exact else any_of(forms)) + stop)
    return f"(?:{'|'.join(parts)})" if parts else "(?!)"


def cue_starts(entries: Iterable[str], pack: Language) -> tuple[str, ...]:
    """Lower-case tokens at which the cues of a list are looked for: `Rule.words` of a rule that begins with a cue."""
    rests = (_split_cue(entry, pack)[1].lower() for entry in entries)
    return tuple(sorted({tokenize(form)[0].text for rest in rests for form in _spelled(rest)}))


def _spelled(entry: str) -> set[str]:
    """An entry in all its spellings."""
    return {entry} if entry.isupper() or len(entry) <= _SHORT else {entry, *spellings(entry)}


_FREQUENT, _SHORT = 3, 3  # letters at most of a frequent word, and of a cue with one spelling


def _split_cue(entry: str, pack: Language) -> tuple[str, str]:
    """Frequent words that a cue begins with, and the rest: a rule is tried at a word that is rare."""
    words = entry.split()
    rare = (i for i, word in enumerate(words) if len(word) > _FREQUENT or word not in pack.function_words)
    count = next(rare, 0)
    return " ".join(words[:count]), " ".join(words[count:])


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
CAPITAL = "(?-i:[A-ZÀ-ÖØ-ÞĂĄĆČĎĐĘĚĞĢĪİĶĹĻŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŸŹŻŽȘȚ])"
UPPER = r"(?:(?![a-zªºß-ÿ]|œ)[^\W\d_])"
"""A capital, or a letter of another script, which may have none. It is for parts without regard to case turned off."""
_ADDRESS = (
    r"(?:c ?[/\\]|(?:e-?mail|correo|av|ave|avda|avenida|avenue|calle|carrer|carretera|ctra|paseo|plaza|pza|street|road"
    r"|avinguda|boulevard|bulevar|paraje|prolongación|box|apdo|glorieta|pso|planta|apartado|campus|servicio|servei"
    r"|service|departamento|department|dpto|dept|unidad|unit|sección|seccion|hospital|complejo|complexo|supervisora?"
    r"|tel|tfno|tlf|fax|phone|dra?|cp|españa)(?!\w))"
)
NAME_PART = rf"[\"“”«»]?(?!{_ADDRESS}){CAPITAL}[\w’'&]{{0,40}}+[\"“”«»]?"
NAME_REST = (
    rf"(?:(?: (?:(?:de|del|da|do|dos|para|en|la|las|los|el|y|e|i|of|for|the|and) |d['’]){{0,3}}|-){NAME_PART}){{0,6}}"
)

# Signs inside dates: one set for many rules, since the prefilter keeps a bit for each set of words.
MARKS = ("/", "-", ".", "_")

# Type names of identifying numbers in corpora.
RECORD_TYPES = ("MEDICALRECORD", "MEDICAL_RECORD_NUMBER", "ID_SUJETO_ASISTENCIA", "IDNUM", "ID")
PERSON_TYPES = ("IDNUM", "UNIQUE_IDENTIFIER", "ID_SUJETO_ASISTENCIA", "ID")
PLAN_TYPES = ("HEALTHPLAN", "HEALTH_PLAN_BENEFICIARY_NUMBER", "NUMERO_BENEF_PLAN_SALUD", "ID_ASEGURAMIENTO", "ID")
SECURITY_TYPES = ("SSN", "SOCIAL_SECURITY_NUMBER", "ID_ASEGURAMIENTO", "IDNUM", "ID")
ACCOUNT_TYPES = ("ACCOUNT", "ACCOUNT_NUMBER", "OTRO_NUMERO_IDENTIF", "IDNUM", "ID")
LICENCE_TYPES = ("LICENSE", "CERTIFICATE_LICENSE_NUMBER", "IDNUM", "ID")
VEHICLE_TYPES = ("VEHICLE", "VEHICLE_IDENTIFIER", "IDENTIF_VEHICULOS_NRSERIE_PLACAS", "IDNUM", "ID")
DEVICE_TYPES = ("DEVICE", "DEVICE_IDENTIFIER", "IDENTIF_DISPOSITIVOS_NRSERIE", "IDNUM", "ID")


# --- check digits

_VIN_VALUES = dict(zip("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "012345678912345678123457923456789"), strict=True))
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_CARD = re.compile(r"\d(?:[ -]?\d){12,18}")


def stdnum_check(module: str, **options: Any) -> Callable[[str], bool]:
    """The validity test of a module of python-stdnum, imported on first use.

    Args:
        module: the module's name in ``stdnum``.
        options: further arguments of its ``is_valid``.

    Example:
        >>> stdnum_check("es.dni")("48221344G"), stdnum_check("es.dni")("48221344H")
        (True, False)
    """

    def check(value: str) -> bool:
        return bool(import_module(f"stdnum.{module}").is_valid(value, **options))

    return check


def _digits_of(value: str) -> str:
    """The digits of a value."""
    return "".join(filter(str.isdecimal, value))


def is_card(value: str) -> bool:
    """True for the number of a payment card: 13 to 19 digits with Luhn's check digit.

    Example:
        >>> is_card("4929 5260 1815 9081"), is_card("4929 5260 1815 9082")
        (True, False)
    """
    return _CARD.fullmatch(value) is not None and stdnum_check("luhn")(_digits_of(value))


def is_npi(value: str) -> bool:
    """True for a US national provider identifier: Luhn's check digit after the prefix 80840.

    Example:
        >>> is_npi("1482213448"), is_npi("1482213449")
        (True, False)
    """
    return stdnum_check("luhn")("80840" + value)


def is_dea(value: str) -> bool:
    """True for a number of the US Drug Enforcement Administration: two letters, six digits and a check digit.

    Example:
        >>> is_dea("BQ4822133"), is_dea("BQ4822134")
        (True, False)
    """
    *digits, last = map(int, _digits_of(value[2:]) or "0")
    return len(digits) == 6 and (sum(digits[0::2]) + 2 * sum(digits[1::2])) % 10 == last


def is_vin(value: str) -> bool:
    """True for a North American vehicle identification number: its ninth character is a check digit.

    Example:
        >>> is_vin("1TTWX4827KA482213"), is_vin("1TTWX4820KA482213")
        (True, False)
    """
    letters = value.upper()
    total = sum(_VIN_VALUES[c] * weight for c, weight in zip(letters, _VIN_WEIGHTS, strict=True))
    return not letters.isdecimal() and letters[8] == "0123456789X"[total % 11]


def is_nss(value: str) -> bool:
    """True for a Spanish social security number: 10 digits, and their remainder by 97 as two more.

    Example:
        >>> is_nss("28/48221344/62"), is_nss("28/48221344/63")
        (True, False)
    """
    digits = _digits_of(value)
    number = digits[:2] + digits[2:-2].removeprefix("0")  # 8 digits, without a leading zero 7
    return len(digits) == 12 and int(number) % 97 == int(digits[-2:])


def is_kvnr(value: str) -> bool:
    """True for a German health insurance number: a letter, eight digits and a check digit (section 290 SGB V).

    Example:
        >>> is_kvnr("Q482213442"), is_kvnr("Q482213443")
        (True, False)
    """
    return len(value) == 10 and _cross_sums(value[:-1], (1, 2) * 5) % 10 == int(value[-1])


def is_rvnr(value: str) -> bool:
    """True for a German pension insurance number: area, date of birth, letter, serial number, check digit (VKVV).

    Example:
        >>> is_rvnr("65 140372 Q 487"), is_rvnr("65 140372 Q 488")
        (True, False)
    """
    plain = "".join(filter(str.isalnum, value))
    date = 0 < int(plain[2:4] or 0) < 32 and 0 < int(plain[4:6] or 0) < 13
    return len(plain) == 12 and date and _cross_sums(plain[:-1], (2, 1, 2, 5, 7, *(1, 2) * 3, 1)) % 10 == int(plain[-1])


def _cross_sums(value: str, weights: Sequence[int]) -> int:
    """Sum of the digits of each digit times its weight; a letter is two digits, its place in the alphabet."""
    digits = "".join(c if c.isdecimal() else f"{ord(c.upper()) - 64:02}" for c in value)
    return sum(sum(divmod(int(digit) * weight, 10)) for digit, weight in zip(digits, weights, strict=True))


def is_telephone(value: str) -> bool:
    """True for 9 to 17 digits: a telephone number with its area, and perhaps its country and an extension.

    Example:
        >>> is_telephone("+44 20 7946 0958"), is_telephone("01.02.2019")
        (True, False)
    """
    return 9 <= len(_digits_of(value)) <= 17


def is_ip(value: str) -> bool:
    """True for an IP address, or two with a hyphen or slash between them, with port, prefix or zone.

    Short ones that could be words or times with colons, such as "1::2" and "add::2", are left out.

    Example:
        >>> is_ip("10.0.7.255"), is_ip("10.0.7.256"), is_ip("2001:db8::8a2e:7"), is_ip("edad::93")
        (True, False, True, False)
    """
    return all(map(_is_one_ip, re.split(r"(?<=\d)-(?=\d)|/(?=\d+\.)", value)))


def _is_one_ip(value: str) -> bool:
    address = value.partition("/")[0]
    if ":" in address and address.count(".") == 3 and address.count(":") == 1:
        address = address.partition(":")[0]
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    groups = [group for group in address.partition("%")[0].split(":") if group]
    if found.version == 4 or "." in address or address in ("::", "::1"):
        return True
    if all(len(group) < 3 and group.isdecimal() for group in groups) and len(groups) < 8:  # times
        return False
    is_hardware = len(groups) == 8 and all(len(group) == 2 for group in groups)  # EUI-64
    return not is_hardware and (len(groups) > 2 or bool(_PUBLIC_OR_LOCAL.match(address)))


_PUBLIC_OR_LOCAL = re.compile("(?i)(?=.*::)(?:fe[89ab][0-9a-f]|f[cd][0-9a-f]{2}|ff0[0-9a-f]|2[0-9a-f]{3}):")
"""First group of an IPv6 address that is no word: link-local, unique local, multicast or global unicast (RFC 4291)."""
