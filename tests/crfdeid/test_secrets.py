"""The secret: where it is read from, and the keys made of it."""

import hashlib
import hmac
from pathlib import Path

import pytest

from crfdeid.errors import ReadError, SecretError
from crfdeid.secrets import SECRET_VARIABLE, derive, hash_text, read_secret

SECRET = b"0123456789abcdef"


def test_a_file_goes_before_the_environment_and_its_line_end_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "another secret of 30 characters")
    path = tmp_path / "secret"
    path.write_bytes(SECRET + b"\r\n")
    assert read_secret(path) == SECRET
    assert read_secret() == b"another secret of 30 characters"


def test_without_a_secret_the_error_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    with pytest.raises(SecretError, match=f"{SECRET_VARIABLE}.*openssl rand"):
        read_secret()


def test_a_short_secret_is_refused_without_being_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"hunter2\n")
    with pytest.raises(SecretError, match=r"7 bytes.* 16 ") as caught:
        read_secret(path)
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv(SECRET_VARIABLE, "short")
    with pytest.raises(SecretError, match=f"{SECRET_VARIABLE} has 5 bytes"):
        read_secret()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError):
        read_secret(tmp_path / "missing")


def test_keys_are_hmac_sha256_of_their_purpose() -> None:
    assert derive(SECRET, "dates") == hmac.new(SECRET, b"dates", hashlib.sha256).digest()


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o400, False), (0o640, True), (0o604, True)])
def test_a_file_that_others_can_read_is_warned_about(
    tmp_path: Path, mode: int, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "secret"
    path.write_bytes(SECRET)
    path.chmod(mode)
    assert read_secret(path) == SECRET
    assert [f"chmod 600 {path}" in message for message in caplog.messages] == [True] * warned


def test_a_text_is_known_by_its_hash_to_who_has_the_key() -> None:
    assert hash_text("señor", b"key") == hmac.new(b"key", "señor".encode(), hashlib.sha256).hexdigest()
