"""Records of what was replaced, in the hidden folder ``.crfdeid`` next to the redacted notes.

A run lists them in its journal (`crfdeid.io.journal`); code in Python appends them to ``replaced.jsonl``. They are
found by the digests of the texts, and so hold for renamed files and for tables whose failed rows are missing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crfdeid.errors import IntegrityError
from crfdeid.io.journal import JOURNAL, STATE_FOLDER, NoteDone, read_journal
from crfdeid.io.output import SETTINGS
from crfdeid.redaction.record import RedactionRecord
from crfdeid.utils.files import make_owner_folder, naming, open_no_link, sync
from crfdeid.utils.json import parse_json

REPLACED = "replaced.jsonl"
"""File of the records that `write_records` writes."""
_DAMAGED = "no record of replacements: redact the notes again"
_MARK = '"redacted": "'  # in the line of each record


@dataclass(frozen=True)
class RecordedFolder:
    """The records of a folder of redacted notes.

    Args:
        path: the folder.
        records: digest of a redacted text -> digest of an original -> record.
    """

    path: Path
    records: Mapping[str, Mapping[str, RedactionRecord]] = field(repr=False)

    def of(self, redacted: str) -> Mapping[str, RedactionRecord]:
        """Return the records of a redacted text's digest, by the original's digest; empty if none was recorded."""
        return self.records.get(redacted, {})


def write_records(folder: Path, records: Iterable[RedactionRecord]) -> None:
    """Append records to those of a folder, next to redacted notes that Python code wrote there.

    `crfdeid review` then shows the true replacements, and refuses notes that changed since.

    Args:
        folder: the folder of the redacted notes.
        records: of the notes, as `crfdeid.redaction.redact_recorded` returns them.

    Raises:
        DataError: a file cannot be written, or is a link.

    Example:
        >>> from tempfile import mkdtemp
        >>> from crfdeid import Document, Span
        >>> from crfdeid.redaction import redact_recorded
        >>> folder = Path(mkdtemp())
        >>> redacted, record = redact_recorded(Document("1", "Dr. Quill", (Span(4, 9, "DOCTOR"),)))
        >>> _ = (folder / "1.txt").write_text(redacted.text)
        >>> write_records(folder, [record])
    """
    state = folder / STATE_FOLDER
    make_owner_folder(state)
    path = state / REPLACED
    with naming(path), open_no_link(path, "a") as stream:
        for record in records:
            stream.write(json.dumps(record.to_dict()) + "\n")
    sync(path)


def state_folder(path: Path) -> Path | None:
    """Return the hidden folder that belongs to redacted notes: in their folder or above it; None if there is none."""
    for folder in (path.resolve(), *path.resolve().parents):
        state = folder / STATE_FOLDER
        if (state / SETTINGS).is_file() or (state / REPLACED).is_file():
            return state
    return None


def read_records(path: Path, wanted: Collection[str]) -> RecordedFolder | None:
    """Read the records of redacted notes; None if nothing was recorded, as where another tool wrote them.

    Args:
        path: a file or folder of redacted notes.
        wanted: digests of the redacted texts whose records are read.

    Raises:
        IntegrityError: a file of records is damaged.
    """
    state = state_folder(path)
    if state is None:
        return None
    by_digest: dict[str, dict[str, RedactionRecord]] = defaultdict(dict)
    has_records = False
    for record in _records(state):
        has_records = True
        if record.redacted in wanted:
            by_digest[record.redacted][record.original] = record
    return RecordedFolder(state.parent, dict(by_digest)) if has_records else None


def _records(state: Path) -> Iterator[RedactionRecord]:
    if (state / JOURNAL).is_file():
        for entry in read_journal(state / JOURNAL, having=_MARK):
            if isinstance(entry, NoteDone) and entry.record is not None:
                yield _record(entry.record, state / JOURNAL)
    if (state / REPLACED).is_file():
        with open_no_link(state / REPLACED, "r") as stream:
            for number, line in enumerate(stream, start=1):
                data = parse_json(line, path=state / REPLACED, line=number, otherwise=_DAMAGED)
                yield _record(data, state / REPLACED, number)


def _record(data: object, path: Path, line: int | None = None) -> RedactionRecord:
    record = RedactionRecord.from_dict(data)
    if record is None:
        raise IntegrityError(_DAMAGED, path=path, line=line)
    return record
