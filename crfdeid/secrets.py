"""The user's secret, and keys derived from it: for surrogates, hashes and private vocabularies."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import math
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from crfdeid.errors import ReadError, SecretError
from crfdeid.utils.files import read_bytes, write_files

SECRET_VARIABLE = "CRFDEID_SECRET"
_LEAST_BYTES = 16
"""Fewest bytes of a secret: a shorter one can be guessed."""

_READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH
_log = logging.getLogger(__name__)
_Value = TypeVar("_Value")


def read_secret(path: Path | None = None) -> bytes:
    """Read the secret from a file, else from the environment variable ``CRFDEID_SECRET``.

    White space at either end is ignored, such as a line end in the file. A file that others can read causes a warning
    of the logger "crfdeid".

    Raises:
        SecretError: there is no secret, or it is shorter than `_LEAST_BYTES`.
        ReadError: the file cannot be read.
    """
    if path is None:
        source, secret = SECRET_VARIABLE, _environment_secret()
    else:
        source = str(path)
        try:
            secret = read_bytes(path).strip()
            if sys.platform != "win32" and path.stat().st_mode & _READABLE_BY_OTHERS:
                _log.warning("%s can be read by others than its owner: chmod 600 %s", path, path)
        except OSError as error:
            what = f"a file of {_LEAST_BYTES} random bytes or more"
            raise ReadError(f"the secret cannot be read ({error.strerror}): give {what}", path=path) from None
    if not secret and path is None:
        raise SecretError(
            f"a secret is needed: set {SECRET_VARIABLE}, or name a file that holds it "
            "('openssl rand -hex 32' makes one)"
        )
    if len(secret) < _LEAST_BYTES:
        raise SecretError(f"the secret in {source} has {len(secret)} bytes: give {_LEAST_BYTES} or more")
    return secret


def _environment_secret() -> bytes:
    return os.fsencode(os.environ.get(SECRET_VARIABLE, "")).strip()


def has_secret(path: Path | None) -> bool:
    """True if `read_secret` has a file or a value of the environment variable to read."""
    return path is not None or bool(os.environ.get(SECRET_VARIABLE, "").strip())


def read_vocabulary_key(path: Path | None = None) -> bytes:
    """Return the key of a private vocabulary, from its secret as `read_secret` reads it."""
    return vocabulary_key(read_secret(path))


def vocabulary_key(secret: bytes) -> bytes:
    """Derive the key of a private vocabulary."""
    return derive(secret, "vocabulary")


def read_record_key(path: Path | None) -> bytes:
    """Return the key of records of encoded notes (`rnn.privacy.release`), from a secret or else `user_secret`.

    Raises:
        SecretError: the secret is too short.
        DataError: the secret cannot be read, or none can be made.
    """
    return derive(read_secret(path) if has_secret(path) else user_secret(), "encoded notes")


def read_encryption_key(path: Path | None) -> bytes:
    """Read the key that encrypts values (`crfdeid.redaction.encryption`) from its file, as `read_secret` reads.

    Raises:
        SecretError: there is no file, the key is too short, or it is the secret in ``CRFDEID_SECRET``: people who run
            a model need that one, and must not be able to reveal values.
        ReadError: the file cannot be read.
    """
    if path is None:
        raise SecretError("encryption needs a key of its own: name its file (--encryption-key-file)")
    key = read_secret(path)
    if key == _environment_secret():
        raise SecretError(f"the encryption key is the secret in {SECRET_VARIABLE}: make another, for revealing alone")
    return key


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """Keys of a redaction, and the keys derived from them; None for those that it does not need.

    A key that needs the secret raises a `SecretError` without it.

    Args:
        secret: key material of surrogates, hashes, new names and reports.
        encryption: key of encrypted values, another one than the secret.
        vocabulary: key of the model's private vocabulary (`vocabulary_key`).
    """

    secret: bytes | None = None
    encryption: bytes | None = None
    vocabulary: bytes | None = None

    def read(self, *, secret: bool, encryption: bool = False, vocabulary: bool = False) -> Keys:
        """Return the keys that are needed."""
        return Keys(
            self.secret if secret else None,
            self.encryption if encryption else None,
            self.vocabulary if vocabulary else None,
        )

    def require_secret(self, what: str) -> bytes:
        """Return the secret.

        Args:
            what: what needs it, for the message.

        Raises:
            SecretError: there is none.
        """
        if self.secret is None:
            raise SecretError(f"{what} need a secret, the same one for all runs that should agree")
        return self.secret

    def require_encryption(self) -> bytes:
        """Return the key of encrypted values.

        Raises:
            SecretError: there is none, or it is the secret.
        """
        if self.encryption is None or self.encryption == self.secret:
            raise SecretError("encryption needs a key of its own, another one than the secret: --encryption-key-file")
        return self.encryption

    @property
    def hashes(self) -> bytes:
        """Key of the hashes of values."""
        return derive(self.require_secret("hashes"), "hashes of values")

    @property
    def columns(self) -> bytes:
        """Key of the hashes of columns' values."""
        return derive(self.require_secret("hashed columns"), "column values")

    @property
    def file_names(self) -> bytes:
        """Key of the new names of files."""
        return derive(self.require_secret("new names of files"), "file names")

    @property
    def report_key(self) -> bytes | None:
        """Key of the hashes of texts in the report of a run; None without a secret."""
        return None if self.secret is None else derive(self.secret, "audit")

    @property
    def fingerprints(self) -> dict[str, str]:
        """`secret_fingerprint` of the secret and of the encryption key, where they are there."""
        keys = {"secret": self.secret, "encryption_key": self.encryption}
        return {name: secret_fingerprint(key) for name, key in keys.items() if key is not None}


@dataclass(frozen=True, slots=True)
class KeyFiles:
    """Files from which each process reads the `Keys` of a redaction, so that no pickle of it holds a key.

    Args:
        secret: file with the secret; None for the environment variable ``CRFDEID_SECRET``.
        encryption: file with the key of encrypted values; None without such.
        vocabulary: file with the secret of a private vocabulary; None for the variable.
    """

    secret: Path | None = None
    encryption: Path | None = None
    vocabulary: Path | None = None

    def read(self, *, secret: bool, encryption: bool = False, vocabulary: bool = False) -> Keys:
        """Read the keys that are needed.

        Raises:
            SecretError: one is missing or too short.
            ReadError: a file cannot be read.
        """
        return Keys(
            read_secret(self.secret) if secret else None,
            read_encryption_key(self.encryption) if encryption else None,
            read_vocabulary_key(self.vocabulary) if vocabulary else None,
        )


def user_secret() -> bytes:
    """Return a random secret of this user, for keys that need no shared secret.

    It is created on first use in ``crfdeid/secret`` in the user's state folder of the XDG standard
    (``$XDG_STATE_HOME``, else ``~/.local/state``), readable by its owner alone.

    Raises:
        DataError: it can be neither read nor created.
    """
    home = os.environ.get("XDG_STATE_HOME", "")
    folder = (Path(home) if Path(home).is_absolute() else Path.home() / ".local" / "state") / "crfdeid"
    path = folder / "secret"
    if not path.exists():
        fresh = folder / f".{secrets.token_hex(8)}"
        write_files({fresh: secrets.token_hex(32)})
        # Unlike a rename, a link replaces no file: of two processes that create a secret, one wins.
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(fresh)
        fresh.unlink()
    return read_secret(path)


def derive(secret: bytes, purpose: str) -> bytes:
    """Derive a key of 32 bytes for one purpose: HMAC-SHA256 of the purpose under the secret.

    Keys for different purposes reveal nothing about each other or about the secret (HKDF's expand step with one block,
    RFC 5869, for a secret that is already random).

    Example:
        >>> derive(b"0123456789abcdef", "dates") == derive(b"0123456789abcdef", "names")
        False
    """
    return hmac.digest(secret, purpose.encode(), "sha256")


def surrogate_key(secret: bytes, patient: str | None, text: str) -> bytes:
    """Return the key of a patient's surrogates; for a note without a patient, the HMAC of its text."""
    if patient is not None:
        return derive(derive(secret, "surrogates"), patient)
    return hmac.digest(derive(secret, "surrogates of a text"), text.encode(errors="surrogatepass"), "sha256")


def cipher_key(key: bytes) -> bytes:
    """Return the 64 bytes of AES-256-SIV for an encryption key: one half authenticates, the other encrypts."""
    return derive(key, "AES-SIV, authentication") + derive(key, "AES-SIV, encryption")


class HmacChooser:
    """Pseudorandom choices by HMAC: a function of key, purpose and value, on any machine and in any order.

    Args:
        key: the secret, at most 64 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._permutations: dict[tuple[str, int], KeyedPermutation] = {}

    def number(self, purpose: str, value: str, below: int) -> int:
        """Return a number from 0 to ``below - 1``: HMAC-SHA256 of purpose and value, reduced."""
        return int.from_bytes(self._digest(f"{purpose}\0{value}")[:16]) % below

    def choice(self, purpose: str, value: str, options: Sequence[_Value]) -> _Value:
        """Return one of the options."""
        return options[self.number(purpose, value, len(options))]

    def stream(self, purpose: str, value: str) -> Iterator[int]:
        """Yield numbers from 0 to 65535 without end."""
        block = 0
        while True:
            digest = self._digest(f"{purpose}\0{block}\0{value}")
            for i in range(0, len(digest), 2):
                yield int.from_bytes(digest[i : i + 2])
            block += 1

    def permutation(self, purpose: str, size: int) -> KeyedPermutation:
        """Return the pseudorandom permutation of 0 to ``size - 1`` for a purpose."""
        found = self._permutations.get((purpose, size))
        if found is None:
            found = self._permutations[purpose, size] = KeyedPermutation(self._digest(purpose), size)
        return found

    def _digest(self, message: str) -> bytes:
        return hmac.digest(self._key, message.encode(errors="surrogatepass"), "sha256")


class KeyedPermutation:
    """Pseudorandom permutation of the numbers from 0 to ``size - 1``, in constant memory.

    A Feistel network adds keyed BLAKE2b digests to the two digits of a number in base ``ceil(sqrt(size))``. A result
    that is too large goes through it again (cycle walking; Black and Rogaway 2002, section 4).

    Args:
        key: the secret, at most 64 bytes.
        size: how many numbers there are, at least 1.

    Example:
        >>> permutation = KeyedPermutation(bytes(32), 10)
        >>> sorted(map(permutation.of, range(10))) == list(range(10))
        True
    """

    _ROUNDS = 4

    def __init__(self, key: bytes, size: int) -> None:
        self._key, self.size = key, size
        self._base = math.isqrt(size - 1) + 1

    def of(self, number: int) -> int:
        """Return the image of a number."""
        return self._walked(number, range(self._ROUNDS), 1)

    def inverse(self, number: int) -> int:
        """Return the number with this image."""
        return self._walked(number, range(self._ROUNDS - 1, -1, -1), -1)

    def successor(self, number: int) -> int:
        """Return the next number of a cycle of all numbers: a permutation that moves each, if there are two or more."""
        return self.of((self.inverse(number) + 1) % self.size)

    def _walked(self, number: int, rounds: Sequence[int], sign: int) -> int:
        while True:
            digits = list(divmod(number, self._base))
            for turn in rounds:
                other = digits[1 - turn % 2]
                digest = hashlib.blake2b(b"%d %d" % (turn, other), digest_size=8, key=self._key).digest()
                digits[turn % 2] = (digits[turn % 2] + sign * int.from_bytes(digest)) % self._base
            number = digits[0] * self._base + digits[1]
            if number < self.size:
                return number


def secret_fingerprint(secret: bytes) -> str:
    """Return four hexadecimal digits that differ between secrets, and are too few to test guesses."""
    return derive(secret, "resume").hex()[:4]


def hash_word(word: str, key: bytes) -> str:
    """Hash a word for a private vocabulary: 32 hexadecimal digits, BLAKE2b under a key.

    Testing whether a word is in the vocabulary needs the key.

    Args:
        word: any text.
        key: a key of `derive`.
    """
    return hashlib.blake2b(word.encode(errors="backslashreplace"), digest_size=16, key=key).hexdigest()


def short_digest(content: Any) -> str:
    """Return four hexadecimal digits of a digest of plain data, too few to test guesses at a name.

    Args:
        content: data whose `repr` is complete.
    """
    return hashlib.sha256(repr(content).encode()).hexdigest()[:4]


def require_same_key(own: bytes | None, key: bytes | None) -> None:
    """Refuse to store hashed words under another key, or readable: the words themselves are gone.

    Args:
        own: the key of the hashed words; None for readable ones.
        key: the key to store them under.

    Raises:
        SecretError: the keys differ, or the second is missing.
    """
    if own not in (None, key):
        raise SecretError("this model's words are keyed hashes: save it with the secret that it was loaded with")


def hash_text(text: str, key: bytes) -> str:
    """Hash a text: HMAC-SHA256 under a key, in hexadecimal.

    A digest without a key would let anyone test guesses, and a short note can be guessed.

    Args:
        text: Unicode text.
        key: a key of `derive`.
    """
    return hmac.digest(key, text.encode("utf-8"), "sha256").hex()


def hash_value(value: str, label: str, key: bytes) -> str:
    """Hash a value of one type for linkage: 96 bits of HMAC-SHA256 of type and value, as 24 hexadecimal digits.

    Args:
        value: the value, in normal form.
        label: its type.
        key: a key of `derive`.
    """
    message = f"{label}\0{value}".encode(errors="surrogatepass")
    return hmac.digest(key, message, "sha256").hex()[:24]
