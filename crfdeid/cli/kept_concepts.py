"""What ``redact --keep-concepts`` asks for: the redacted notes once more, in one file, with their concepts."""

from __future__ import annotations

import argparse
from pathlib import Path

from crfdeid.cli.run_summary import require_new_file
from crfdeid.corpora.jsonl import to_line
from crfdeid.documents import CONCEPT, Document
from crfdeid.errors import UsageError
from crfdeid.io.annotations import SIDECAR_SUFFIX, concepts_only
from crfdeid.registry import saved_traits
from crfdeid.utils.files import write_parts


def require_possible(options: argparse.Namespace, model: Path) -> None:
    """Refuse to keep concepts that nothing finds, or where they cannot be written or read back.

    Args:
        options: the command's.
        model: the model's folder.

    Raises:
        UsageError: they cannot be kept.
    """
    file = options.keep_concepts
    if CONCEPT not in saved_traits(model).layers:
        raise UsageError(f"--keep-concepts: {model} finds PHI alone: leave it out, or give a model that finds both")
    if file.suffix.lower() != SIDECAR_SUFFIX:
        raise UsageError(
            f"--keep-concepts: {file} would not be read as JSON Lines: let its name end in {SIDECAR_SUFFIX}"
        )
    if options.id_column is not None and options.id_column in options.drop_columns:
        raise UsageError(f"--keep-concepts names notes by the column {options.id_column}, which is to be dropped")
    require_new_file("--keep-concepts", file, apart_from=(), resume=options.resume)


def write_single(file: Path, document: Document) -> None:
    """Write the file for one note.

    Raises:
        DataError: it cannot be written.
    """
    write_parts(file, [to_line(concepts_only(document))])
