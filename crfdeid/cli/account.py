"""How `tag` and `redact` account for a run at its end: lines on standard error, and the audit file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crfdeid.errors import UsageError
from crfdeid.model_card.card import threshold_in
from crfdeid.notes.account import Totals
from crfdeid.notes.work import Redaction
from crfdeid.saving import read_description

# From so many notes on, it is said that nothing was found in any: by then it is no chance.
_MANY = 10


def require_audit_place(audit: Path, options_input: Path, output: Path, *, resume: bool) -> None:
    """Refuse a file for the audit that could not be written at the end, or that lies where results are handed on.

    Raises:
        UsageError: it does.
    """
    if audit.exists() and not (resume and audit.is_file()):
        raise UsageError(f"--audit: {audit} is there already: name a new file, nothing is overwritten")
    if not (audit.parent.is_dir() and os.access(audit.parent, os.W_OK)):
        raise UsageError(f"--audit: {audit.parent} is no folder that can be written to: name another place")
    place = audit.resolve()
    for folder in (options_input.resolve(), output.resolve()):
        if folder in place.parents:
            raise UsageError(f"--audit: {audit} lies in {folder}: name a file apart from the notes and the results")


def summary(
    command: Mapping[str, Any],
    work: Redaction,
    card: Mapping[str, Any] | None,
    totals: Totals,
    unlike: Sequence[str],
    seconds: float,
) -> dict[str, Any]:
    """What holds of a whole run, as JSON data.

    Args:
        command: what was asked for.
        work: what was done with each note.
        card: the model's, as `crfdeid.model_card.card.read_card` gives it.
        totals: what was found.
        unlike: how the notes of this run differ from those that the model was trained on, in words.
        seconds: how long this run took; a run that was resumed counts its own time alone.
    """
    description = read_description(work.model)
    parts = {description["model"], *description["settings"].get("members", ())}
    return {
        **command,
        "notes": totals.notes,
        "notes_without_phi": totals.without_phi,
        "failures": totals.failures,
        "spans": dict(sorted(totals.spans.items())),
        "surrogate_locales": dict(sorted(totals.locales.items())),
        "model_folder": str(work.model),
        "model_kind": description["model"],
        "rules": not parts.isdisjoint({"rules", "hybrid"}),
        "threshold": None if work.sensitivity is None else threshold_in(card, work.sensitivity),
        "unlike": list(unlike),
        "seconds": round(seconds, 3),
    }


def lines(account: Mapping[str, Any]) -> list[str]:
    """A summary for people to read."""
    spans = ", ".join(f"{label} {count:,}" for label, count in account["spans"].items())
    if account["threshold"] is None:
        point = "the most probable tags"
    else:
        point = f"threshold {account['threshold']:g} for a sensitivity of {account['sensitivity']:g} %"
    rules = "with rules" if account["rules"] else "without rules"
    found = [
        f"{account['command']}: {_count(account['notes'], 'note')} in {account['seconds']:.1f} s, nothing found in "
        f"{account['notes_without_phi']:,} of them; {_count(account['failures'], 'failure')}",
        f"spans: {spans or 'none'}",
        f"model: {account['model_folder']} ({account['model_kind']}, {rules}, SHA-256 {account['model'][:12]})",
        f"found by: {point}",
    ]
    if account.get("how") == "surrogate":
        locales = [f"{name} in {_count(notes, 'note')}" for name, notes in account["surrogate_locales"].items()]
        guessed = "; guessed from the text, --locale names another" if account["locale"] is None and locales else ""
        found.append(f"surrogates: {', '.join(locales) or 'none'}{guessed}")
    if account["notes"] >= _MANY and not account["spans"]:
        found.append(
            f"warning: no PHI was found in any of {account['notes']:,} notes: are they of the language and kind that "
            "the model was trained on? Read some before you hand them on"
        )
    return found + unlike_lines(account["unlike"])


def unlike_lines(unlike: Sequence[str]) -> list[str]:
    """What is said of notes that differ from those that the model was trained on: a line, or none."""
    if not unlike:
        return []
    differences = "; ".join(unlike)
    return [
        f"warning: these notes are unlike the training notes: {differences}. Expect more misses than the model's card "
        "says: mark some of these notes and measure (crfdeid score), or train on such notes"
    ]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
