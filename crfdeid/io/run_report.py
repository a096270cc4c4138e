"""Totals of a run, their summary for people, and its report, a file, all computed from the run's journal.

They cover resumed runs as a whole, and memory does not grow with the number of notes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crfdeid.io.journal import FailureEntry, NoteDone
from crfdeid.io.records import Failure, NoteCounts
from crfdeid.redaction.redactor import Redactor
from crfdeid.thresholds import VOIDS_CLAIM, LeakClaim, claim_in
from crfdeid.utils.files import write_parts

# Minimum number of notes for the warning that none has PHI: with fewer it may be chance.
_MANY = 10
# From this share of hidden words on, a run warns that little of its notes may be left to read.
_MUCH = 1 / 3


@dataclass
class RunTotals:
    """Counts of a run: sums of the fields of `NoteCounts` over the notes with a result, and more.

    Attributes:
        without_phi: notes in which the model found nothing.
        failures: notes, files and folders without a result.
        unsearched: notes whose record has a value that hides nothing, by column and reason.
        first_unsearched: file and row of the first of these notes.
        drift_warnings: notes that, each by itself, differ from the development notes.
        base64: blocks of base64 in the results.
        kept_fields: notes in which a field that names the patient stays, by field.
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
    base64: int = 0
    kept_fields: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, entries: Iterable[NoteDone | FailureEntry]) -> RunTotals:
        """Count the entries of a journal."""
        totals = cls()
        for entry in entries:
            if isinstance(entry, FailureEntry):
                totals.failures += 1
                continue
            totals.add(entry)
            for one in (entry.unsearched or {}).items():
                totals.unsearched[one] += 1
                totals.first_unsearched.setdefault(one, (entry.file, entry.row))
        return totals

    def add(self, note: NoteCounts) -> None:
        """Count a note with a result."""
        self.notes += 1
        self.without_phi += not any(note.found.values())
        self.spans.update(note.found)
        self.locales.update(() if note.locale is None else (note.locale,))
        self.concepts.update(note.concepts or {})
        self.left_out.update(note.left_out or {})
        self.words += note.words
        self.hidden_words += note.hidden_words
        self.drift_warnings += bool(note.drift_warnings)
        self.tokens += note.tokens
        self.kept.update(note.kept)
        self.base64 += len(note.base64)
        self.kept_fields.update(note.kept_fields)

    def to_json(self) -> dict[str, Any]:
        """The counts that `add` makes, as JSON data for `merge`."""
        return {name: value for name, value in vars(self).items() if "unsearched" not in name}

    def merge(self, counts: Mapping[str, Any]) -> None:
        """Add the counts of other notes."""
        for name, value in counts.items():
            if isinstance(value, dict):
                getattr(self, name).update(value)
            else:
                setattr(self, name, getattr(self, name) + value)


def write_report(
    path: Path, summary: Mapping[str, Any], entries: Callable[[], Iterable[NoteDone | FailureEntry]]
) -> None:
    """Write the report as JSON: the summary, one line for each note, and one for each failure, without any text.

    ``entries`` returns the journal's entries from the beginning, at each call.
    """

    def parts() -> Iterator[str]:
        yield f'{{"summary": {json.dumps(summary, ensure_ascii=False, indent=1)},\n"notes": ['
        yield from _json_lines(_note(entry) for entry in entries() if isinstance(entry, NoteDone))
        yield '],\n"failures": ['
        yield from _json_lines(entry.failure._asdict() for entry in entries() if isinstance(entry, FailureEntry))
        yield "]}\n"

    write_parts(path, parts())


def _json_lines(items: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for number, item in enumerate(items):
        yield f"{',' if number else ''}\n{json.dumps(item, ensure_ascii=False)}"


def _note(done: NoteDone) -> dict[str, Any]:
    """The report's entry of a note, without the fingerprint that only --resume needs."""
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
        "base64": done.base64 or None,
        "kept_fields": done.kept_fields or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def run_summary(
    command: Mapping[str, Any],
    redactor: Redactor,
    card: Mapping[str, Any] | None,
    totals: RunTotals,
    drift_warnings: Sequence[str],
    seconds: float,
) -> dict[str, Any]:
    """The summary of a whole run, as JSON data.

    Args:
        command: the requested work.
        redactor: model and policy of the run.
        card: the model's, from `crfdeid.model_card.card.read_card`.
        totals: counts of the results.
        drift_warnings: differences between this run's notes and the training notes, in words.
        seconds: duration of this run; a resumed run counts its own time alone.
    """
    description = redactor.folder.description
    settings, sensitivity, policy = description["settings"], redactor.sensitivity, redactor.policy
    redacts = policy.operators is not None
    parts = {description["model"], settings.get("deid"), *settings.get("members", ())}
    return {
        **command,
        "notes": totals.notes,
        "notes_without_phi": totals.without_phi,
        "failures": totals.failures,
        "spans": dict(sorted(totals.spans.items())),
        **({"concepts": dict(sorted(totals.concepts.items()))} if redactor.concepts else {}),
        **({"concepts_left_out": dict(sorted(totals.left_out.items()))} if redactor.concepts and redacts else {}),
        **({"words": totals.words, "words_hidden": totals.hidden_words} if redacts else {}),
        **({"tokens": totals.tokens} if redactor.policy.reversible else {}),
        **({"kept": dict(sorted(totals.kept.items()))} if redactor.policy.keeps else {}),
        **({"base64": totals.base64} if totals.base64 else {}),
        **({"kept_fields": dict(sorted(totals.kept_fields.items()))} if redactor.policy.structured == "keep" else {}),
        "surrogates": redactor.policy.invents,
        "surrogate_locales": dict(sorted(totals.locales.items())),
        "model_folder": str(redactor.folder),
        "model_kind": description["model"],
        "rules": not parts.isdisjoint({"rules", "hybrid"}),
        "sensitivity": sensitivity,
        "threshold": redactor.threshold,
        **({} if policy.max_leak_rate is None else {"leak_claim": claim_in(card, policy.max_leak_rate)._asdict()}),
        "drift_warnings": list(drift_warnings),
        "unsearched": [
            {"column": column, "why": why, "notes": notes, "file": file, "row": row}
            for (column, why), notes in sorted(totals.unsearched.items())
            for file, row in [totals.first_unsearched[column, why]]
        ],
        "notes_with_drift": totals.drift_warnings,
        "seconds": round(seconds, 3),
    }


def summary_lines(account: Mapping[str, Any]) -> Iterator[str]:
    """The summary as lines of text."""
    point, reaches = "the most probable tags", account["threshold"]
    if "leak_claim" in account:
        point = f"threshold {reaches:g} for a leak rate of {account['leak_claim']['max_leak_rate']:g}"
    elif reaches is not None and account["sensitivity"] is None:
        point = f"threshold {reaches:g}, the model's default"
    elif reaches is not None:
        point = f"threshold {reaches:g} for a sensitivity of {account['sensitivity']:g}"
    rules = "with rules" if account["rules"] else "without rules"
    yield (
        f"{account['command']}: {_count(account['notes'], 'note')} in {account['seconds']:.1f} s, nothing found in "
        f"{account['notes_without_phi']:,} of them; {_count(account['failures'], 'failure')}"
    )
    yield f"spans: {_counts(account['spans'])}"
    if "concepts" in account:
        yield f"concepts: {_counts(account['concepts'])}"
    if account.get("concepts_left_out"):
        yield f"concepts left out, since they overlap hidden text: {_counts(account['concepts_left_out'])}"
    yield f"model: {account['model_folder']} ({account['model_kind']}, {rules}, SHA-256 {account['model'][:12]})"
    yield f"found by: {point}"
    if account.get("policy"):
        from crfdeid.redaction.named_policies import named_policy  # noqa: PLC0415  Few redactions have one.

        yield f"policy: {account['policy']} ({named_policy(account['policy']).law})"
    if "leak_claim" in account:
        yield f"claim: {LeakClaim(**account['leak_claim'])}; void with: {VOIDS_CLAIM}"
    if "tokens" in account:
        yield f"encrypted: {_count(account['tokens'], 'value')}"
    if "kept" in account:
        yield f"kept: {_counts(account['kept'])}"
    if "kept_fields" in account:
        yield f"fields that name the patient, kept by --structured keep, in notes: {_counts(account['kept_fields'])}"
    if account.get("surrogates"):
        locales = [f"{name} in {_count(notes, 'note')}" for name, notes in account["surrogate_locales"].items()]
        guessed = "; guessed from the text, --locale names another" if account["locale"] is None and locales else ""
        yield f"surrogates: {', '.join(locales) or 'none'}{guessed}"
    yield from _warnings(account)


def _warnings(account: Mapping[str, Any]) -> Iterator[str]:
    if account["notes"] >= _MANY and not account["spans"]:
        yield (
            f"warning: no PHI was found in any of {account['notes']:,} notes: are they of the language and kind that "
            "the model was trained on? Read some before you hand them on"
        )
    if account["notes_with_drift"] and account["notes"] > 1:  # of one note, the warning says how it differs
        of_notes = f"{account['notes_with_drift']:,} of {_count(account['notes'], 'note')}"
        yield f"drift: {of_notes} unlike the development notes, each by itself: --report lists them"
    if account.get("base64"):
        blocks = _count(account["base64"], "long block")
        yield f"warning: {blocks} of base64 in the results, which was not searched: --report has the offsets"
    if account["unsearched"]:
        yield (
            "warning: placeholders in the patients' record hide nothing, and short values hide little (an identifier "
            "after a word such as MRN, a letter in its name): correct the record where it is wrong; --report lists them"
        )
    for one in account["unsearched"]:
        first = str(Failure("", one["file"], one["row"])).removesuffix(": ")
        yield f"  column '{one['column']}': {one['why']} in {_count(one['notes'], 'note')}, first in {first}"
    words, hidden = account.get("words", 0), account.get("words_hidden", 0)
    if hidden > _MUCH * words:
        lower = (
            "a model calibrated for a higher leak rate" if "leak_claim" in account else "a lower --sensitivity, or none"
        )
        remedy = "" if account["threshold"] is None else f"; with {lower}, less is hidden"
        yield (
            f"warning: {100 * hidden / words:.0f} % of the words were hidden ({hidden:,} of {words:,}): "
            f"read some results before you hand them on{remedy}"
        )
    unlike = account["drift_warnings"]
    if unlike:
        yield (
            f"warning: these notes are unlike the training notes: {'; '.join(unlike)}. Expect more misses than the "
            "model's card says: mark some of these notes and measure (crfdeid evaluate), or train on such notes"
        )


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {count:,}" for label, count in counts.items()) or "none"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
