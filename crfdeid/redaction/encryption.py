"""Encrypted values in notes, and the notes with the values restored.

A value becomes the token ``⟦PATIENT:BASE64⟧``: its type, and its text under AES-SIV (RFC 5297) with the type as
associated data. The same value of a type has the same token under a key, so tokens show which values are equal, how
often they occur, and how long they are. A token that was copied into another note is still valid. In a type, the
characters that begin and end a token are escaped.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from crfdeid.documents import Span
from crfdeid.errors import DataError, IntegrityError, missing_extra
from crfdeid.secrets import cipher_key

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

OPEN, _CLOSE = "⟦⟧"
_MARK = re.compile(f"[{OPEN}{_CLOSE}]")
_ESCAPES = {ord(OPEN): r"\(", ord(_CLOSE): r"\)"}
_TOKEN = re.compile(rf"{OPEN}(?P<escaped>[^{OPEN}{_CLOSE}]*):(?P<code>[A-Za-z0-9_-]*){_CLOSE}|{_MARK.pattern}")


class Cipher:
    """Encryption of values under one key: AES-256 in SIV mode, which needs no random numbers.

    Args:
        key: the encryption key (`crfdeid.secrets.read_encryption_key`).
    """

    def __init__(self, key: bytes) -> None:
        self._siv = AESSIV(cipher_key(key))

    def token(self, value: str, label: str) -> str:
        """Return the token of a value, whatever its type."""
        escaped = escape_marks(label.replace("\\", r"\\"))
        return f"{OPEN}{escaped}:{self._code(value, escaped)}{_CLOSE}"

    def value(self, code: str, escaped: str) -> str | None:
        """Return the value of a token's code and escaped type; None for a code that is not of this key and type."""
        try:
            sealed = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
            value = self._siv.decrypt(sealed, [_bytes(escaped)]).decode(errors="surrogatepass")
        except (ValueError, InvalidTag):
            return None
        # The last character of a code has unused bits: only one spelling is a token.
        return value if self._code(value, escaped) == code else None

    def _code(self, value: str, escaped: str) -> str:
        sealed = self._siv.encrypt(_bytes(value), [_bytes(escaped)])
        return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def escape_marks(text: str) -> str:
    """Return a type, or a replacement that names it, without the characters that begin and end a token."""
    return text.translate(_ESCAPES)


def require_no_token(text: str, encrypted: Iterable[Span]) -> None:
    """Refuse a text with a character that begins or ends a token, since it could not be restored.

    Args:
        text: a note.
        encrypted: the spans to encrypt, sorted, without overlaps; the characters may occur in them.

    Raises:
        DataError: there is one.
    """
    edges = [0, *(edge for start, end, _ in encrypted for edge in (start, end)), len(text)]
    for start, end in list(pairwise(edges))[::2]:
        found = _MARK.search(text, start, end)
        if found is not None:
            problem = f"the note has a '{found.group()}', which marks encrypted values: redact it without 'encrypt'"
            raise DataError(problem, offset=found.start())


class Revealed(NamedTuple):
    """Text with its values restored, and the number of tokens that it had."""

    text: str
    tokens: int


def reveal(text: str, key: bytes, *, path: Path | str | None = None) -> Revealed:
    """Restore the encrypted values of a text.

    Whether tokens were removed or copied shows only in their number: compare it with the report of the redaction.

    Args:
        text: a text with tokens.
        key: the encryption key of the redaction.
        path: name of its file, for messages.

    Raises:
        IntegrityError: a token was altered or cut, or has another key.

    Example:
        >>> redacted = redact(note, "encrypt", encryption_key=key)  # doctest: +SKIP
        >>> reveal(redacted.text, key)  # doctest: +SKIP
        Revealed(text='Seen by Dr. Quill.', tokens=1)
    """
    values = revealed_values(text, key, path=path)
    parts, end = [], 0
    for span, value in values:
        parts += [text[end : span.start], value]
        end = span.end
    return Revealed("".join([*parts, text[end:]]), len(values))


def revealed_values(text: str, key: bytes, *, path: Path | str | None = None) -> list[tuple[Span, str]]:
    """Return the tokens of a text, as spans of their escaped types, and the value of each.

    Args and Raises: as of `reveal`.
    """
    cipher, found = Cipher(key), []
    for match in _TOKEN.finditer(text):
        value = None if match["code"] is None else cipher.value(match["code"], match["escaped"])
        if value is None:
            problem = "an encrypted value was altered or cut, or its key is another: restore the redacted file"
            raise IntegrityError(problem, path=path, offset=match.start())
        found.append((Span(*match.span(), match["escaped"]), value))
    return found
