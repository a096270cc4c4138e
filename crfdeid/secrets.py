"""The user's secret, and keys made from it: for surrogates, and for vocabularies that cannot be read."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import os
import secrets
import stat
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError, UsageError
from crfdeid.utils.files import read_bytes, write_files
from crfdeid.utils.folders import make_private

SECRET_VARIABLE = "CRFDEID_SECRET"
_OTHERS = stat.S_IRGRP | stat.S_IROTH
_log = logging.getLogger(__name__)
LEAST_SECRET_BYTES = 16
"""The fewest bytes of a secret: what is shorter can be guessed."""


def read_secret(path: Path | None = None) -> bytes:
    """The secret from a file, else from the environment variable ``CRFDEID_SECRET``.

    White space at either end is not part of it, so that a line end in a file does not matter. A file that others can
    read is read too, with a warning of the logger "crfdeid".

    Raises:
        UsageError: there is none, or it is shorter than `LEAST_SECRET_BYTES` bytes.
        DataError: the file cannot be read.
    """
    if path is None:
        place, secret = SECRET_VARIABLE, os.environb.get(SECRET_VARIABLE.encode(), b"").strip()
    else:
        place = str(path)
        try:
            secret = read_bytes(path).strip()
            if path.stat().st_mode & _OTHERS:
                _log.warning("%s can be read by others than its owner: chmod 600 %s", path, path)
        except OSError as error:
            problem = f"the secret cannot be read ({error.strerror}): give a file of {LEAST_SECRET_BYTES} or more bytes"
            raise DataError(problem, path=path) from None
    if not secret and path is None:
        raise UsageError(
            f"a secret is needed: set {SECRET_VARIABLE}, or name a file with it ('openssl rand -hex 32' makes one)"
        )
    if len(secret) < LEAST_SECRET_BYTES:
        raise UsageError(f"the secret in {place} has {len(secret)} bytes: give {LEAST_SECRET_BYTES} or more")
    return secret


def user_secret() -> bytes:
    """A random secret of the user's own, for what must be keyed though nobody named a secret.

    It is made when it is first asked for, and lies in ``crfdeid/secret`` in the user's state folder of the XDG standard
    (``$XDG_STATE_HOME``, else ``~/.local/state``), its owner's alone.

    Raises:
        DataError: it can be neither read nor made.
    """
    home = os.environ.get("XDG_STATE_HOME", "")
    folder = (Path(home) if Path(home).is_absolute() else Path.home() / ".local" / "state") / "crfdeid"
    path = folder / "secret"
    if not path.exists():
        make_private(folder)
        fresh = folder / f".{secrets.token_hex(8)}"
        write_files({fresh: secrets.token_hex(32)})
        # A link, unlike a new name, takes no other file's place: of two processes that make one, one is believed.
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(fresh)
        fresh.unlink()
    return read_secret(path)


def derive(secret: bytes, purpose: str) -> bytes:
    """A key of 32 bytes for one purpose: HMAC-SHA256 of the purpose under the secret.

    Keys for different purposes say nothing about each other or about the secret (HKDF's expand step with one block,
    RFC 5869, for a secret that is already random).

    Example:
        >>> derive(b"0123456789abcdef", "dates") == derive(b"0123456789abcdef", "names")
        False
    """
    return hmac.digest(secret, purpose.encode(), "sha256")


def secret_fingerprint(secret: bytes) -> str:
    """Four hexadecimal digits that tell one secret from another, and are too few to try guesses on."""
    return derive(secret, "resume").hex()[:4]


def vocabulary_key(secret: bytes) -> bytes:
    """The key that a private vocabulary is hashed with: that of the purpose "vocabulary"."""
    return derive(secret, "vocabulary")


def hash_word(word: str, key: bytes) -> str:
    """What a private vocabulary stores for a word: 32 hexadecimal digits, BLAKE2b under the key.

    Without the key, nobody can test whether a word is among those that are stored.

    Args:
        word: any text.
        key: as of `derive`.
    """
    return hashlib.blake2b(word.encode(errors="backslashreplace"), digest_size=16, key=key).hexdigest()


def short_digest(content: Any) -> str:
    """Four hexadecimal digits of a digest of plain data: they tell one file from another, and no more.

    They are too few to try guesses at a name on.

    Args:
        content: data with a `repr` that says all of it.
    """
    return hashlib.sha256(repr(content).encode()).hexdigest()[:4]


def require_same_key(own: bytes | None, key: bytes | None) -> None:
    """Refuse to store hashed words in another way: there are no words in them to be hashed anew.

    Args:
        own: what they are hashed with; None for words that can be read, which can be stored in any way.
        key: what they are to be stored with.

    Raises:
        UsageError: the keys are different ones, or the second is missing.
    """
    if own not in (None, key):
        raise UsageError("this model's words are keyed hashes: save it with the secret that it was loaded with")


def hash_text(text: str, key: bytes) -> str:
    """What tells a text from others without saying it: HMAC-SHA256 under a key, in hexadecimal.

    A digest without a key would let anybody test guesses, and a short note can be guessed.

    Args:
        text: any text of Unicode characters.
        key: as of `derive`.
    """
    return hmac.digest(key, text.encode("utf-8"), "sha256").hex()
