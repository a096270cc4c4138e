"""Rules for addresses on networks: e-mail, web, IP and hardware addresses."""

from __future__ import annotations

from crfdeid.rules.checks import is_ip
from crfdeid.rules.rule import DEVICE, Rule

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}+(?<=[a-z0-9]))?"
# Endings of domains that are no word or abbreviation of notes: "pain.it" may lack a space.
_ENDINGS = (
    *("com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "io", "eu", "health", "hospital"),
    *("clinic", "cat"),
    *("gal", "eus", "es", "uk", "fr", "ch", "nl", "pl", "pt", "ca", "au", "nz", "ie", "mx"),
    *("br", "cl"),
    *("jp", "cn", "kr", "ru", "ar", "pe", "za"),
)
_ENDING = rf"(?-i:{'|'.join(_ENDINGS)})"
_IP = ("IPADDR", "IPADDRESS", "IP_ADDRESS", "IP", "DIREC_PROT_INTERNET")
_URL = ("URL", "URL_WEB", "WEB_URL")

ONLINE = (
    Rule(
        "e-mail",
        r"[\w+%][\w.+%'-]{0,63}+ ?@ ?[\w-]{1,63}+(?: ?\.[\w-]{1,63}+){0,4} ?\.[a-z]{2,24}+",
        ("EMAIL", "CORREO_ELECTRONICO", "EMAIL_ADDRESS"),
        ("j.quill@tawn.org", "a_b@x.y.es", "write to [j+q@tawn.org].", "o'tawn@quill.com", "j.quill @ tawn.org"),
        ("a @", "3@4", "80 @ 3.5 mg", "2 @ 5.30"),
        words=("@",),
    ),
    Rule(
        "web address",
        r"(?:(?:https?|s?ftp)://|www\s?\.\s?)[^\s<>\"'()]{1,2000}[\w/]",
        _URL,
        ("https://tawn.org/a?b=1", "www.tawn.org", "see [http://tawn.org/a].", "ftp://tawn.org/x.zip"),
        ("www", "http://"),
        words=("www", "http", "https", "ftp", "sftp"),
    ),
    Rule(
        "domain",
        rf"(?:(?:{_LABEL}\.){{2,4}}|[a-z0-9][a-z0-9-]{{1,61}}[a-z0-9]\.){_ENDING}(?:/[^\s<>\"'()]{{0,2000}}[\w/])?",
        _URL,
        ("tawn-clinic.org", "see [portal.tawn.co.uk/notes/4].", "quill.com"),
        ("well.Es", "p.es", "done.in time", "e.g. this"),
        words=_ENDINGS,
        sign=r"\.[a-z]{2}",
    ),
    Rule(
        "IP address",
        r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5}|/\d{1,2})?",
        _IP,
        ("10.0.7.255", "10.0.7.25:8080", "10.0.0.0/8"),
        ("10.0.7.256", "1.2.3", "1.2.3.4.5"),
        words=(".",),
        digits=4,
        dense=7,
        sign=r"\.\d{1,3}\.\d",
        check=is_ip,
    ),
    Rule(
        "IPv6 address",
        r"(?:[0-9a-f]{1,4}:|::?(?=[0-9a-f])){2,8}(?:[0-9a-f]{1,4}|:)(?:/\d{1,3})?",
        _IP,
        ("2001:db8:0:0:0:0:0:1", "2001:db8::8a2e:7", "fe80::1", "2001:DB8::1/64", "fd12:3456:789a::1"),
        ("12:30:45", "a: b:: c", "edad::93", "1::2"),
        words=(":",),
        digits=2,
        sign=r":[0-9a-fA-F]{0,4}:",
        check=is_ip,
    ),
    Rule(
        "hardware address",
        r"(?=[\d:-]{0,16}[a-f])[0-9a-f]{2}(?:(?::[0-9a-f]{2}){5}|(?:-[0-9a-f]{2}){5})",
        DEVICE,
        ("00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7"),
        ("10:20:30:40:50:60", "00:1b:44:11:3a", "10-20-30-40-50-60"),
        words=(":", "-"),
        digits=3,
        sign=r"[:-][0-9a-fA-F]{2}[:-][0-9a-fA-F]{2}[:-]",
    ),
)
