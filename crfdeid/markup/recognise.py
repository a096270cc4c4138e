"""Formats of notes in markup: one table of those that are read, and recognition of texts that are no prose.

A model would miss PHI that codes split or spell. Prose needs this module alone; readers are imported on use.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from crfdeid.errors import MarkupError, SettingError

if TYPE_CHECKING:
    from crfdeid.markup.blocks import MarkupText

READERS = {name: f"crfdeid.markup.{name}:read_{name}" for name in ("html", "rtf", "hl7", "fhir", "cda")}
"""Format -> its reader, a function from the source to `MarkupText`."""
MARKUP_SUFFIXES = {".html": "html", ".htm": "html", ".rtf": "rtf", ".hl7": "hl7", ".xml": "cda"}
"""Suffix of a file of text -> its format."""
BINARY_READERS = {"docx": "crfdeid.markup.docx:read_docx", "pdf": "crfdeid.markup.pdf:read_pdf"}
"""Format of binary files -> its reader, a function from the text of a file (`unpack`) to `MarkupText`."""
BINARY_SUFFIXES = {".docx": "docx", ".pdf": "pdf"}
"""Suffix of a binary file -> its format."""
_PACKAGES = {"docx": "crfdeid.markup.package", "pdf": "crfdeid.markup.pdf"}
_RESULTS = {"pdf": ".txt"}
MEDIA_TYPES = {
    **dict.fromkeys(("text/html", "application/xhtml+xml"), "html"),
    **dict.fromkeys(("text/rtf", "application/rtf"), "rtf"),
    **dict.fromkeys(("application/hl7-v2", "application/hl7-v2+er7", "x-application/hl7-v2+er7"), "hl7"),
    **dict.fromkeys(("application/fhir+json", "application/fhir+ndjson"), "fhir"),
    **dict.fromkeys(("application/xml", "text/xml"), "cda"),
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "text/plain": "auto",
}
"""Media type -> format of its documents."""
MARKUP_CHOICES = ("auto", "plain", *READERS)
"""Treatment of texts: recognise markup, read every text as prose, or read every text as one format."""

STRUCTURED_CHOICES = ("refuse", "keep", "blank")
"""Treatment of fields that name the patient and are no text for a model."""

_TITLES = {
    "rtf": "RTF",
    "html": "HTML",
    "cda": "C-CDA",
    "docx": "DOCX",
    "xml": "XML",
    "hl7": "HL7 v2",
    "fhir": "FHIR JSON",
    "pdf": "PDF",
    "zip": "a zip file, such as DOCX",
    "office": "a binary file of Office",
    "base64": "a file in base64",
}
_PREFIX = re.compile(
    r"""[\s\ufeff]*+(?:
    (?P<rtf>\{\s*\\\*?\\?rtf)
    |(?P<html><!doctype\s+html|<html\b)
    |(?P<cda>(?:<\?xml[^>]*>\s*(?:<[?!][^>]*>\s*)*)?<(?:\w+:)?ClinicalDocument\b)
    |(?P<xml><\?xml\b|<!doctype\b|<!\[CDATA\[)
    |(?P<hl7>(?:MSH|FHS|BHS)(?:\||[^\w\s]{5}))
    |(?P<fhir>[\[{][\[{\s]*"resourceType"\s*:)
    |(?P<pdf>%PDF-)
    |(?P<zip>PK\x03\x04)
    |(?P<office>ÐÏ\x11à)
    |(?P<base64>(?-i:UEsDB|JVBERi|e1xydG|0M8R4K|PGh0bW|PEhUTU|PCFET0NU|PCFkb2N0|PD94bW|PENsaW5pY2|TVNIf|eyJyZXNvdXJjZVR5cG)
        [A-Za-z0-9+/]{16})
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_JSON = re.compile(r"\s*+[\[{]")
_RESOURCE = re.compile(r'"resourceType"\s*:\s*"[A-Z]')
# Codes that prose has no use for. A placeholder such as <DATE>, or "<5 mg", is none of them.
_TAG = re.compile(
    r"</[a-z][\w:.-]*\s*>"
    r"|<(?:a|b|br|div|em|font|h[1-6]|hr|i|img|li|ol|p|pre|s|span|strong|sub|sup|table|tbody|td|th|tr|u|ul)(?:\s[^<>]*)?/?>"
    r"|<[a-z][\w:.-]*\s+[\w:.-]+\s*=\s*[\"'][^<>]*>|<[a-z][\w:.-]*\s*/>|<!--|<!\[CDATA\[",
    re.IGNORECASE,
)
_HTML_ELEMENT = re.compile(
    r"</?(?:a|b|body|br|div|em|font|h[1-6]|hr|html|i|img|li|ol|p|pre|s|span|strong|sub|sup|table|td|th|tr|u|ul)\b",
    re.IGNORECASE,
)
_CONTROL_WORD = re.compile(
    r"\\(?:'[0-9a-f]{2}|u-?\d+|(?:pard?|plain|[bi]0?|ul(?:none)?|(?:f|fs|cf|highlight|lang|li|fi|ri|sa|sb|tx|af|itap)-?\d+"
    r"|tab|line|cell|row|q[cjlr]|trowd|intbl|ltrch|rtlch|loch|hich|dbch|fldinst|fldrslt|page|sect|bullet"
    r"|[lr](?:dbl)?quote|e[mn]dash)(?![a-z0-9]))"
)
_SEGMENT = re.compile(
    r"(?:^|[\r\n])[\x0b]?(?:ADT|AL1|BHS|DG1|ERR|EVN|FHS|FT1|GT1|IN[123]|MRG|MSA|MSH|NK1|NTE|OB[RX]|ORC|PD1|PID|PR1|PV[12]"
    r"|QR[DF]|RX[ADEO]|SCH|SPM|TXA|Z[A-Z0-9]{2})\|"
)
# Lines of base64; one that ends in "=" can be short.
_BASE64 = re.compile(
    r"(?<![\w+/-])[A-Za-z0-9+/_-]{60,}+(?:\r?\n[A-Za-z0-9+/_-]{60,}+)*+(?:(?:\r?\n[A-Za-z0-9+/_-]++)?={1,2})?"
)
_LEAST_BASE64 = 240
_LEAST_CODES = 2
_CHARACTERS_PER_CODE = 1000


class Markup(NamedTuple):
    """Markup of a text.

    Attributes:
        name: its format, such as "rtf".
        title: the format as people write it.
    """

    name: str
    title: str


def find_markup(text: str) -> Markup | None:
    """Return the markup of a text; None for prose, which may have a few tags or "<5 mg".

    A text is in markup if it begins like a file of such a format, or has two codes or more and one in 1,000 characters.
    Without the characters of codes, nothing is counted.

    Example:
        >>> find_markup(r"{\\rtf1 {\\b Jane} Quill}")
        Markup(name='rtf', title='RTF')
        >>> find_markup("Seen by Dr. Quill <5 mg of it>") is None
        True
    """
    name = _by_prefix(text) or _by_density(text)
    return None if name is None else Markup(name, _TITLES[name])


def _by_prefix(text: str) -> str | None:
    found = _PREFIX.match(text)
    if found is not None:
        return found.lastgroup
    return "fhir" if _JSON.match(text) and _RESOURCE.search(text) else None


def _by_density(text: str) -> str | None:
    if "<" in text and ">" in text and _is_dense(_TAG, text):
        return "html" if _HTML_ELEMENT.search(text) else "xml"
    if "\\" in text and _is_dense(_CONTROL_WORD, text):
        return "rtf"
    return "hl7" if "|" in text and _is_dense(_SEGMENT, text) else None


def _is_dense(code: re.Pattern[str], text: str) -> bool:
    count = sum(1 for _ in code.finditer(text))
    return count >= max(_LEAST_CODES, len(text) / _CHARACTERS_PER_CODE)


def note_markup(name: str) -> str | None:
    """Return the format of a text by its name or media type, in any case; None for that of the policy ("auto").

    Raises:
        SettingError: an unknown name, which the message does not quote.

    Example:
        >>> note_markup("RTF"), note_markup("text/html"), note_markup("auto")
        ('rtf', 'html', None)
    """
    low = name.strip().lower()
    found = MEDIA_TYPES.get(low, low)
    if found not in MARKUP_CHOICES:
        raise SettingError(f"an unknown format of notes: choose from {', '.join(MARKUP_CHOICES)}, or a media type")
    return None if found == "auto" else found


def find_base64(text: str) -> list[tuple[int, int]]:
    """Return start and end of each long block of base64, such as a document in a field, that no model can read.

    Example:
        >>> find_base64("Scan: " + "aGVsbG8gd29y" * 30 + " Seen by Dr. Quill.")
        [(6, 366)]
    """
    blocks = (found.span() for found in _BASE64.finditer(text) if len(found[0]) >= _LEAST_BASE64)
    return [block for block in blocks if _is_mixed(text[slice(*block)])]


def _is_mixed(text: str) -> bool:
    """True for a text with capitals, small letters and digits, as no line of "_" and no sequence of DNA is."""
    return all(re.search(kind, text) for kind in ("[A-Z]", "[a-z]", "[0-9]"))


def require_prose(text: str, markup: str = "auto") -> None:
    """Refuse a text in markup, unless every text is to be read as prose.

    Args:
        text: the text.
        markup: "auto" to recognise markup; "plain" for any text as prose; or the format that the text has.

    Raises:
        MarkupError: the text is in markup. The message names the format.
    """
    if markup == "plain":
        return
    found = find_markup(text) if markup == "auto" else Markup(markup, _TITLES[markup])
    if found is not None:
        raise unread(found)


def unread(markup: Markup) -> MarkupError:
    """Return the error of a text whose markup is not read."""
    remedy = "give the text alone, or --markup plain to read the codes as prose and expect misses"
    return MarkupError(f"looks like {markup.title}: {remedy}")


def read_markup(text: str, markup: str = "auto") -> MarkupText | None:
    """Read a text in markup; None for prose.

    Args:
        text: the text.
        markup: one of `MARKUP_CHOICES`, or the binary format of a file whose text it is.

    Raises:
        MarkupError: the text is in a format that is not read, or violates its format.
    """
    if markup == "plain":
        return None
    if markup == "auto":
        found = find_markup(text)
        if found is None:
            return None
        if found.name not in READERS:
            raise unread(found)
        markup = found.name
    module, _, name = {**READERS, **BINARY_READERS}[markup].partition(":")
    reading: MarkupText = getattr(import_module(module), name)(text)
    return reading


def unpack(stream: BinaryIO, format: str) -> str:
    """Return the text of a binary file, which the reader of its format reads.

    Args:
        stream: the file, open to read and to seek.
        format: a key of `BINARY_READERS`.

    Raises:
        DataError: it violates its format, is encrypted, or is above a limit.
    """
    text: str = import_module(_PACKAGES[format]).unpack(stream)
    return text


def pack(stream: BinaryIO, format: str, text: str, target: BinaryIO) -> None:
    """Write a binary file with another text.

    Args:
        stream: the file, open to read and to seek.
        format: a key of `BINARY_READERS`.
        text: the redacted text of `unpack`.
        target: the file to write.

    Raises:
        DataError: as of `unpack`, or the text is not that of the file.
    """
    import_module(_PACKAGES[format]).pack(stream, text, target)


def result_name(name: str) -> str:
    """Return the name of the result of a file: that of PDF is text.

    Example:
        >>> result_name("ward/a.PDF"), result_name("a.docx")
        ('ward/a.txt', 'a.docx')
    """
    stem, _, suffix = name.rpartition(".")
    return stem + _RESULTS.get(BINARY_SUFFIXES.get(f".{suffix.lower()}", ""), f".{suffix}") if stem else name
