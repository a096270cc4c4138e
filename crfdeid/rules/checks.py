"""Check digits and other validity tests of numbers: python-stdnum's, and some that it lacks."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

_VIN_VALUES = dict(zip("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "012345678912345678123457923456789"), strict=True))
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_CARD = re.compile(r"\d(?:[ -]?\d){12,18}")


def stdnum_check(module: str, **options: Any) -> Callable[[str], bool]:
    """The validity test of a module of python-stdnum, imported on first use; it reads letters and digits alone.

    Args:
        module: the module's name in ``stdnum``.
        options: further arguments of its ``is_valid``.

    Example:
        >>> check = stdnum_check("es.nif")
        >>> check("48.221.344-G"), check("48221344H")
        (True, False)
    """

    def check(value: str) -> bool:
        return bool(import_module(f"stdnum.{module}").is_valid("".join(filter(str.isalnum, value)), **options))

    return check


is_iban = stdnum_check("iban", check_country=False)


def is_wallet(value: str) -> bool:
    """True for an address of Ethereum, which has no check digit in small letters, and a valid one of Bitcoin."""
    return value.startswith("0x") or stdnum_check("bitcoin")(value)


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


_FOOTER = re.compile(
    r"(?<!\w)(?:DD?|DT|D/T|TD?|TR):? ?\d{1,4}[/.-]\d{1,2}[/.-]\d|(?i:(?<!\w)(?:job|dictation|doc)(?: id)? ?[#:] ?\d)"
)


def has_dictation_footer(note: str) -> bool:
    """True for a note with the date of its dictation, or the number of its job.

    Example:
        >>> [has_dictation_footer(note) for note in ("D: 03/14/2031", "Job #4822", "vitamin D 50")]
        [True, True, False]
    """
    return _FOOTER.search(note) is not None
