"""A site's lists in a model's folder, so that the model brings them wherever it goes.

They lie in ``site.json``, in the clear, under its own checksum, which the model's description holds: a bit that changes
in them is found, and so is a file that is missing or exchanged.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from crfdeid.description import BESIDE, declare, read_description
from crfdeid.errors import DataError
from crfdeid.given.site import Site
from crfdeid.sealed import RETRAIN, read_sealed, sealed
from crfdeid.system.files import write_files

SITE = BESIDE["site"]
_SCHEMA = 1


def save_site(folder: Path, site: Site) -> None:
    """Write a site's lists beside a model, which must be there, and before its card.

    Raises:
        DataError: there is no model, or they cannot be written.
    """
    write_files({folder / SITE: sealed({"schema": _SCHEMA, **asdict(site)})})
    declare(folder, site=read_sealed(folder / SITE, _WHAT)["sha256"])


def read_saved_site(folder: Path) -> Site:
    """The lists that a model was saved with; empty ones where it has none.

    Raises:
        DataError: they are damaged, missing, or another model's, or there is no model.
    """
    expected = read_description(folder).get("site")
    if expected is None:
        return Site()
    path = folder / SITE
    try:
        content = read_sealed(path, _WHAT)
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"the model's lists of its site are missing: {RETRAIN}", path=path) from None
    if content["sha256"] != expected or content.get("schema") != _SCHEMA:
        raise DataError(f"the lists of another model's site, or of another version: {RETRAIN}", path=path)
    try:
        return Site.of(content)
    except (DataError, KeyError, TypeError):
        raise DataError(f"not a site's lists: {RETRAIN}", path=path) from None


_WHAT = "file of a site's lists"
