"""Totals of a run and the audit file, both computed from the run's journal.

They cover resumed runs as a whole, and memory does not grow with the number of notes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crfdeid.io.output import FailureEntry, NoteDone
from crfdeid.utils.files import write_parts


@dataclass
class RunTotals:
    """Counts of a run.

    Attributes:
        notes: notes with a result.
        without_phi: notes in which the model found nothing.
        failures: notes, files and folders without a result.
        spans: spans of each type.
        locales: notes with surrogates of each locale.
        concepts: concepts of each type in the results.
        left_out: concepts of each type that the results lack, since they overlap hidden text.
        unsearched: notes whose record has a value that hides nothing, by column and reason.
        first_unsearched: file and row of the first of these notes.
        words: words of the notes with a result; 0 if nothing is to be hidden.
        hidden_words: hidden words.
        drift_warnings: notes that, each by itself, differ from the development notes.
        tokens: encrypted values in the results.
        kept: spans of each type that stay.
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
    tokens: int = 0
    kept: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, entries: Iterable[NoteDone | FailureEntry]) -> RunTotals:
        """Count the entries of a journal."""
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
            totals.tokens += entry.tokens
            totals.kept.update(entry.kept)
        return totals


def write_audit(
    path: Path, summary: Mapping[str, Any], entries: Callable[[], Iterable[NoteDone | FailureEntry]]
) -> None:
    """Write the audit as JSON: the summary, one line for each note, and one for each failure, without any text.

    Args:
        path: the file, which appears whole or not at all.
        summary: data about the whole run.
        entries: returns the journal's entries from the beginning, at each call.

    Raises:
        DataError: the file cannot be written.
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
    """The audit's entry of a note, without the fingerprint that only --resume needs."""
    fields = {
        "file": done.file,
        "row": done.row,
        "found": done.found,
        "sources": done.sources,
        "concepts": done.concepts,
        "concepts_left_out": done.left_out,
        "hmac": done.hmac,
        "locale": done.locale,
        "unsearched": done.unsearched,
        "drift_warnings": done.drift_warnings or None,
        "tokens": done.tokens or None,
        "kept": done.kept or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
