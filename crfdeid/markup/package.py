"""Packages of Office, such as DOCX: a zip file as one text, which holds each XML part, and the way back.

The text has the name and the content of each part. A binary part, such as a picture, is a placeholder, and an empty
content empties it. Parts whose text stays keep their bytes. The zip file is written anew, since its comments, extra
fields, times and gaps can hold text. A package with a part of an unknown name is refused: the name can be a person's.

Reference: ECMA-376, part 2 (Open Packaging Conventions), fifth edition.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import copyfileobj
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from crfdeid.errors import DataError, EncodingError, MarkupError
from crfdeid.markup.blocks import word_sets

_WORDS = word_sets("package")
_XML = (".xml", ".rels", ".vml")
_AFTER_NAME, _AFTER_PART = "\x1f", "\x1e"
"""Characters that XML cannot hold."""
BINARY = "binary"
"""Text in place of a binary part."""
_MOST_PARTS, _MOST_XML, _MOST_BYTES = 5_000, 24_000_000, 512_000_000
# Errors of zipfile, also by headers that lie.
_DAMAGES = (BadZipFile, zlib.error, struct.error, ArithmeticError, EOFError, LookupError, RuntimeError, ValueError)
_TIME = (1980, 1, 1, 0, 0, 0)
_NAME = re.compile(
    rf"/?(?:(?:{'|'.join(_WORDS['folders'])}|\.\.)/)*(?:(?:{'|'.join(_WORDS['stems'])}|[0-9a-f]{{16,64}})[0-9]{{0,6}}"
    rf"\.(?:{'|'.join(_WORDS['suffixes'])}))?(?:\.rels)?|\[Content_Types\]\.xml",
    re.IGNORECASE,
)
# An empty picture of one pixel, for software that refuses a file without content.
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff")
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000b49444154789c63600002000005"
    "00017a5eab3f0000000049454e44ae426082"
)


class Part(NamedTuple):
    """Part in the text of a package.

    Attributes:
        name: its name.
        start: offset of its content.
        end: the offset after it.
    """

    name: str
    start: int
    end: int

    @property
    def is_binary(self) -> bool:
        """True for a part that is no XML."""
        return not self.name.lower().endswith(_XML)


def parts(text: str) -> Iterator[Part]:
    """Yield the parts in the text of a package.

    Raises:
        MarkupError: it is no such text.
    """
    at = 0
    while at < len(text):
        name, end = text.find(_AFTER_NAME, at), text.find(_AFTER_PART, at)
        if not at <= name < end:
            raise MarkupError("a text that is no DOCX document: give the file")
        yield Part(text[at:name], name + 1, end)
        at = end + 1


def is_known(name: str) -> bool:
    """True for the name of a part as Office gives it."""
    return _NAME.fullmatch(name) is not None


def unpack(stream: BinaryIO) -> str:
    """Return the text of a package.

    Raises:
        MarkupError: it is no such package, is encrypted or damaged, or is above the limits on its size.
        EncodingError: a part is not UTF-8.
    """
    with _opened(stream) as package:
        return "".join(
            f"{member.filename}{_AFTER_NAME}{_content(package, member)}{_AFTER_PART}" for member in _members(package)
        )


def pack(stream: BinaryIO, text: str, target: BinaryIO) -> None:
    """Write a package with another text.

    Args:
        stream: the package.
        text: the text of its parts.
        target: the file to write.

    Raises:
        MarkupError: as of `unpack`, or the text has other parts.
    """
    with _opened(stream) as package, ZipFile(target, "w") as written:
        members, found = _members(package), list(parts(text))
        if [member.filename for member in members] != [part.name for part in found]:
            raise MarkupError("the document changed while it was redacted: redact it again")
        for member, part in zip(members, found, strict=True):
            new, content = ZipInfo(member.filename, _TIME), text[part.start : part.end]
            new.compress_type, new.file_size = member.compress_type, member.file_size
            if content == _content(package, member):
                with package.open(member) as before, written.open(new, "w") as after:
                    copyfileobj(before, after)
            else:
                written.writestr(new, _empty(part) if part.is_binary else content.encode("utf-8"))


def _empty(part: Part) -> bytes:
    return _PIXEL if part.name.lower().endswith(_PICTURES) else b""


@contextmanager
def _opened(stream: BinaryIO) -> Iterator[ZipFile]:
    try:
        with ZipFile(stream) as package:
            yield package
    except DataError:
        raise
    except _DAMAGES:
        raise MarkupError("a DOCX file that is damaged or encrypted: save it again, without a password") from None


def _members(package: ZipFile) -> list[ZipInfo]:
    """The members of a package within the limits."""
    members = [member for member in package.infolist() if not member.is_dir()]
    names = {member.filename.casefold() for member in members}
    if not any(re.fullmatch(r"word/document[0-9]*\.xml", name) for name in names):
        raise MarkupError("a zip file that is no DOCX document: export the text alone")
    if len(members) > _MOST_PARTS or sum(member.file_size for member in members) > _MOST_BYTES:
        raise MarkupError("a DOCX file that is too large when it is unpacked: export the text alone")
    if sum(member.file_size for member in members if member.filename.lower().endswith(_XML)) > _MOST_XML:
        raise MarkupError("a DOCX file with too much XML: export the text alone")
    if len(names) < len(members) or not all(is_known(member.filename) for member in members):
        raise MarkupError("a DOCX file with a part that Word did not name: save it again in Word")
    if any(member.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for member in members):
        raise MarkupError("a DOCX file with a compression that Word has not: save it again in Word")
    return members


def _content(package: ZipFile, member: ZipInfo) -> str:
    """The text of a part: XML, or for a binary part a placeholder, which is empty if the part is."""
    part = Part(member.filename, 0, 0)
    if part.is_binary:
        empty = _empty(part)
        return "" if member.file_size == len(empty) and _read(package, member) == empty else BINARY
    try:
        text = _read(package, member).decode("utf-8")
    except UnicodeDecodeError:
        raise EncodingError(f"{member.filename} is not UTF-8: save the document again in Word") from None
    if _AFTER_NAME in text or _AFTER_PART in text:
        raise MarkupError(f"{member.filename} is no well-formed XML: save the document again in Word")
    return text


def _read(package: ZipFile, member: ZipInfo) -> bytes:
    """The bytes of a member, of no more than its declared size: without a bound, all of them are unpacked at once."""
    with package.open(member) as stream:
        return stream.read(member.file_size + 1)
