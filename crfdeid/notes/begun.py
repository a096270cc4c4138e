"""What a run was begun with, ``settings.json``: a run that goes on must ask for the same, or results would be mixed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError, UsageError
from crfdeid.notes.journal import DAMAGED
from crfdeid.system.files import open_no_link
from crfdeid.system.unique_keys import parse_json

_SECRET = "secret"


def read_begun(path: Path) -> dict[str, Any] | None:
    """The settings that a run was begun with; None where there are none.

    Raises:
        DataError: they are damaged, or the file is a link.
    """
    try:
        with open_no_link(path, "r") as stream:
            before = parse_json(stream.read(), path=path, otherwise=DAMAGED)
    except FileNotFoundError:
        return None
    if not isinstance(before, dict):
        raise DataError(DAMAGED, path=path)
    return before


def require_same(before: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    """Refuse to go on with other settings than a run was begun with.

    Raises:
        UsageError: some differ.
    """
    different = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if not different:
        return
    remedy = "give the same options, or name a new folder"
    if different == [_SECRET] and None in (before.get(_SECRET), now.get(_SECRET)):
        raise UsageError(f"--resume: {folder} was begun {_about_secret(begun_with_one=now.get(_SECRET) is None)}")
    raise UsageError(f"--resume: {folder} was begun with another {', '.join(different)}: {remedy}")


def _about_secret(*, begun_with_one: bool) -> str:
    """What to do where one of two runs alone has a secret: then nothing but the audit's hashes depends on it."""
    if begun_with_one:
        return "with a secret for the audit: give --audit and that secret again, or name a new folder"
    return (
        "without a secret for the audit, and what is done has no hashes: resume without one (no --secret-file, "
        "CRFDEID_SECRET not set), or name a new folder"
    )
