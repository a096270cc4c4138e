"""Summary of a `tag` or `redact` run: JSON data for the audit and lines on standard error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crfdeid.io.audit import RunTotals
from crfdeid.io.records import Failure
from crfdeid.io.worker import NoteTask
from crfdeid.model_card.card import threshold_in
from crfdeid.redaction.policy import ENCRYPT, KEEP, SURROGATE

# Minimum number of notes for the warning that none has PHI: with fewer it may be chance.
_MANY = 10
# From this share of hidden words on, a run warns that little of its notes may be left to read.
_MUCH = 1 / 3


def run_summary(
    command: Mapping[str, Any],
    work: NoteTask,
    card: Mapping[str, Any] | None,
    totals: RunTotals,
    drift_warnings: Sequence[str],
    seconds: float,
) -> dict[str, Any]:
    """The summary of a whole run, as JSON data.

    Args:
        command: the requested work.
        work: the work on each note.
        card: the model's, from `crfdeid.model_card.card.read_card`.
        totals: counts of the results.
        drift_warnings: differences between this run's notes and the training notes, in words.
        seconds: duration of this run; a resumed run counts its own time alone.
    """
    description = work.model.description
    settings, sensitivity = description["settings"], work.policy.sensitivity
    redacts = work.policy.operators is not None
    parts = {description["model"], settings.get("deid"), *settings.get("members", ())}
    return {
        **command,
        "notes": totals.notes,
        "notes_without_phi": totals.without_phi,
        "failures": totals.failures,
        "spans": dict(sorted(totals.spans.items())),
        **({"concepts": dict(sorted(totals.concepts.items()))} if work.concepts else {}),
        **({"concepts_left_out": dict(sorted(totals.left_out.items()))} if work.concepts and redacts else {}),
        **({"words": totals.words, "words_hidden": totals.hidden_words} if redacts else {}),
        **({"tokens": totals.tokens} if work.policy.uses(ENCRYPT) else {}),
        **({"kept": dict(sorted(totals.kept.items()))} if work.policy.uses(KEEP) else {}),
        "surrogates": work.policy.uses(SURROGATE),
        "surrogate_locales": dict(sorted(totals.locales.items())),
        "model_folder": str(work.model),
        "model_kind": description["model"],
        "rules": not parts.isdisjoint({"rules", "hybrid"}),
        "threshold": None if sensitivity is None else threshold_in(card, sensitivity),
        "drift_warnings": list(drift_warnings),
        "unsearched": list(_unsearched(totals)),
        "notes_with_drift": totals.drift_warnings,
        "seconds": round(seconds, 3),
    }


def _unsearched(totals: RunTotals) -> Iterator[dict[str, Any]]:
    """Columns of the record whose values hide nothing, or little: the reason, the number of notes, the first note."""
    for (column, why), notes in sorted(totals.unsearched.items()):
        file, row = totals.first_unsearched[column, why]
        yield {"column": column, "why": why, "notes": notes, "file": file, "row": row}


def summary_lines(account: Mapping[str, Any]) -> Iterator[str]:
    """The summary as lines of text."""
    point, reaches = "the most probable tags", account["threshold"]
    if reaches is not None:
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
    if "tokens" in account:
        yield f"encrypted: {_count(account['tokens'], 'value')}"
    if "kept" in account:
        yield f"kept: {_counts(account['kept'])}"
    if account.get("surrogates"):
        locales = [f"{name} in {_count(notes, 'note')}" for name, notes in account["surrogate_locales"].items()]
        guessed = "; guessed from the text, --locale names another" if account["locale"] is None and locales else ""
        yield f"surrogates: {', '.join(locales) or 'none'}{guessed}"
    if account["notes"] >= _MANY and not account["spans"]:
        yield (
            f"warning: no PHI was found in any of {account['notes']:,} notes: are they of the language and kind that "
            "the model was trained on? Read some before you hand them on"
        )
    if account["notes_with_drift"] and account["notes"] > 1:  # of one note, the warning says how it differs
        yield (
            f"drift: {account['notes_with_drift']:,} of {_count(account['notes'], 'note')} "
            "unlike the development notes, "
            "each by itself: --report lists them"
        )
    yield from _unsearched_lines(account["unsearched"])
    yield from _much_hidden(account)
    unlike = account["drift_warnings"]
    if unlike:
        yield (
            f"warning: these notes are unlike the training notes: {'; '.join(unlike)}. Expect more misses than the "
            "model's card says: mark some of these notes and measure (crfdeid evaluate), or train on such notes"
        )


def _unsearched_lines(columns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A warning about values of the record that hide nothing, and a line for each column; or no line."""
    if columns:
        yield (
            "warning: placeholders in the patients' record hide nothing, and short values hide little (an identifier "
            "after a word such as MRN, a letter in its name): correct the record where it is wrong; --report lists them"
        )
    for one in columns:
        first = str(Failure("", one["file"], one["row"])).removesuffix(": ")
        yield f"  column '{one['column']}': {one['why']} in {_count(one['notes'], 'note')}, first in {first}"


def _much_hidden(account: Mapping[str, Any]) -> Iterator[str]:
    words, hidden = account.get("words", 0), account.get("words_hidden", 0)
    if hidden > _MUCH * words:
        remedy = "" if account["threshold"] is None else "; with a lower --sensitivity, or none, less is hidden"
        yield (
            f"warning: {100 * hidden / words:.0f} % of the words were hidden ({hidden:,} of {words:,}): "
            f"read some results before you hand them on{remedy}"
        )


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {count:,}" for label, count in counts.items()) or "none"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
