"""What a run accounts for: how much was found in how many notes, and the audit, a file that says it note by note.

Both are made from the list of what is done, one entry after the other, so that a run that was resumed accounts for all
of it, and that memory does not grow with the number of notes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crfdeid.io.journal import FailureEntry, NoteDone
from crfdeid.utils.files import write_parts


@dataclass
class RunTotals:
    """What a run found.

    Attributes:
        notes: how many notes have a result.
        without_phi: how many of them nothing was found in.
        failures: how many notes, files and folders have none.
        spans: how many spans of each type were found.
        locales: how many notes have surrogates of each locale.
        concepts: how many concepts of each type the results have.
        left_out: how many of each type they have not, since they overlap hidden text.
        unsearched: for each column of the record, and why its value hides nothing, in how many notes that is so.
        first_unsearched: the first of these notes: its file, and its row.
        words: how many words the notes with a result have; 0 where nothing is hidden.
        hidden_words: how many of them are hidden.
        unlike: how many notes are unlike the development notes, each by itself.
    """

    notes: int = 0
    without_phi: int = 0
    failures: int = 0
    spans: Counter[str] = field(default_factory=Counter)
    locales: Counter[str] = field(default_factory=Counter)
    concepts: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    unsearched: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_unsearched: dict[tuple[str, str], tuple[str, int | None]] = field(default_factory=dict)
    words: int = 0
    hidden_words: int = 0
    drift_warnings: int = 0

    @classmethod
    def of(cls, entries: Iterable[NoteDone | FailureEntry]) -> RunTotals:
        """Count what is listed."""
        totals = cls()
        for entry in entries:
            if isinstance(entry, FailureEntry):
                totals.failures += 1
                continue
            totals.notes += 1
            totals.without_phi += not any(entry.found.values())
            totals.spans.update(entry.found)
            totals.locales.update(() if entry.locale is None else (entry.locale,))
            totals.concepts.update(entry.concepts or {})
            totals.left_out.update(entry.left_out or {})
            for one in (entry.unsearched or {}).items():
                totals.unsearched[one] += 1
                totals.first_unsearched.setdefault(one, (entry.file, entry.row))
            totals.words += entry.words
            totals.hidden_words += entry.hidden_words
            totals.drift_warnings += bool(entry.drift_warnings)
        return totals


def write_audit(
    path: Path, summary: Mapping[str, Any], entries: Callable[[], Iterable[NoteDone | FailureEntry]]
) -> None:
    """Write the audit as JSON: the summary, one line for each note, and one for each failure. It holds no text.

    Args:
        path: the file; it appears whole or not at all.
        summary: what holds of the whole run, as JSON data.
        entries: gives what is listed, from the beginning each time.

    Raises:
        DataError: it cannot be written.
    """
    write_parts(path, _audit(summary, entries))


def _audit(summary: Mapping[str, Any], entries: Callable[[], Iterable[NoteDone | FailureEntry]]) -> Iterator[str]:
    yield f'{{"summary": {json.dumps(summary, ensure_ascii=False, indent=1)},\n"notes": ['
    yield from _json_lines(_note(entry) for entry in entries() if isinstance(entry, NoteDone))
    yield '],\n"failures": ['
    yield from _json_lines(entry.failure._asdict() for entry in entries() if isinstance(entry, FailureEntry))
    yield "]}\n"


def _json_lines(items: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for number, item in enumerate(items):
        yield f"{',' if number else ''}\n{json.dumps(item, ensure_ascii=False)}"


def _note(done: NoteDone) -> dict[str, Any]:
    """What the audit says of a note; its stamp matters to --resume alone."""
    fields = {
        "file": done.file,
        "row": done.row,
        "found": done.found,
        "concepts": done.concepts,
        "concepts_left_out": done.left_out,
        "hmac": done.hmac,
        "locale": done.locale,
        "unsearched": done.unsearched,
        "drift_warnings": done.drift_warnings or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
