"""Pieces of a file's results, one file again."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from crfdeid.system.files import naming


def join(pieces: Sequence[Path], target: Path) -> None:
    """Make one file of its pieces, in order, which need not be there any more afterwards.

    Lines follow each other, for the first piece alone has a header; of Parquet, groups of rows do.

    Args:
        pieces: of one kind.
        target: a new file; where there is one piece, it gets this name.
    """
    if len(pieces) == 1:
        pieces[0].replace(target)
    elif target.suffix.lower() == ".parquet":
        _join_parquet(pieces, target)
    else:
        with naming(target), target.open("wb") as stream:
            for piece in pieces:
                with piece.open("rb") as part:
                    shutil.copyfileobj(part, stream, 1 << 20)


def _join_parquet(pieces: Sequence[Path], target: Path) -> None:
    from pyarrow.parquet import ParquetFile, ParquetWriter  # noqa: PLC0415

    with ParquetFile(pieces[0]) as first:
        schema = first.schema_arrow
    with naming(target), ParquetWriter(target, schema) as writer:
        for piece in pieces:
            with ParquetFile(piece) as part:
                for group in range(part.num_row_groups):
                    writer.write_table(part.read_row_group(group, use_threads=False))
