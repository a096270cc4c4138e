"""The options of `tag` and `redact` for what is known beforehand: a site's lists, and what the record says."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from crfdeid.cli.shell import file_path
from crfdeid.errors import UsageError
from crfdeid.given.columns import read_columns
from crfdeid.given.people import read_people
from crfdeid.given.site import Site
from crfdeid.given.site_file import read_site
from crfdeid.notes.records import Columns


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    text = "TOML file of a site's lists: what is always hidden, and never; beside those that the model brings"
    parser.add_argument("--site", type=file_path, metavar="FILE", help=text)
    text = (
        "columns with what is known of the note's patient, such as name,birth_date,mrn: it is hidden wherever it "
        "stands in the note; with kinds (name, date, number, text) where names do not say it: name=patient,date=born"
    )
    parser.add_argument("--known", metavar="LIST", help=text)
    text = "CSV file with these columns, and a column 'patient' or 'file' that says whose line it is"
    parser.add_argument("--known-file", type=file_path, metavar="FILE", help=text)


def site_of(options: argparse.Namespace) -> Site | None:
    """The lists that the options name.

    Raises:
        DataError: they cannot be read, or cannot work.
    """
    return None if options.site is None else read_site(options.site)


def add_known(columns: Columns, options: argparse.Namespace) -> Columns:
    """The columns that mean something, with those of what is known.

    Raises:
        UsageError: they cannot be.
        DataError: the side file cannot be read.
    """
    try:
        known = () if options.known is None else read_columns(options.known)
    except UsageError as problem:
        raise UsageError(f"--known: {problem}") from None
    if options.known_file is not None:
        try:
            return replace(columns, people=read_people(options.known_file, known))
        except UsageError as problem:
            raise UsageError(f"--known-file without --known: {problem}") from None
    if columns.text in {column.name for column in known}:
        raise UsageError(f"--known: '{columns.text}' is the text of the notes")
    return replace(columns, known=known)


def settings(columns: Columns) -> dict[str, Any]:
    """What of the options of what is known the results depend on, for --resume."""
    people = columns.people
    return {
        "known": [list(column) for column in columns.known],
        "known_file": None if people is None else people.digest,
    }
