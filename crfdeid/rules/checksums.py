"""Check digits and other validity tests of numbers: python-stdnum's, and some that it lacks."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

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
    *digits, last = map(int, value[2:])
    return (sum(digits[0::2]) + 2 * sum(digits[1::2])) % 10 == last


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
    return len(digits) == 12 and int(digits[:-2]) % 97 == int(digits[-2:])


def is_ip(value: str) -> bool:
    """True for an IP address, or two with a hyphen or slash between them, with port, prefix or zone.

    Short ones that could be words with colons, such as "::1" and "add::2", are left out.

    Example:
        >>> is_ip("10.0.7.255"), is_ip("10.0.7.256"), is_ip("2001:db8::8a2e:7"), is_ip("edad::93")
        (True, False, True, False)
    """
    return all(map(_is_one_ip, re.split(r"-|/(?=\d+\.)", value)))


def _is_one_ip(value: str) -> bool:
    address = value.partition("/")[0]
    if ":" in address and address.count(".") == 3 and address.count(":") == 1:
        address = address.partition(":")[0]
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    groups = [group for group in address.partition("%")[0].split(":") if group]
    if found.version == 4 or "." in address:
        return True
    is_hardware = len(groups) == 8 and all(len(group) == 2 for group in groups)  # EUI-64
    return not is_hardware and (len(groups) > 2 or bool(_PUBLIC_OR_LOCAL.match(address)))


_PUBLIC_OR_LOCAL = re.compile("(?i)(?=.*::)(?:fe[89ab][0-9a-f]|f[cd][0-9a-f]{2}|ff0[0-9a-f]|2[0-9a-f]{3}):")
"""First group of an IPv6 address that is no word: link-local, unique local, multicast or global unicast (RFC 4291)."""
