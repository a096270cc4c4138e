"""A sampling plan: notes to read, drawn at random before any is read."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crfdeid.documents import text_digest
from crfdeid.errors import FormatError, MismatchError, OutputExistsError, SettingError
from crfdeid.io.records import Columns
from crfdeid.io.sources import read_all_notes, unread_files
from crfdeid.utils.files import read_text, write_files
from crfdeid.utils.json import parse_json
from crfdeid.validation import shape_errors

_PLAN_FORMAT_VERSION = 4
_PLAN = {
    "plan": int,
    "seed": int,
    "kinds": {str: int},
    "selected": [{"id": str, "kind": str, "sha256": str}],
    "digest": str,
    "target_leak_rate": (float, None),
}
_NO_PLAN = "no sampling plan: give the file that crfdeid review plan wrote"


class SampledNote(NamedTuple):
    """A note that can be drawn.

    Attributes:
        id: its id.
        kind: the kind of note that it is; "" without kinds.
        sha256: of its redacted text (`crfdeid.documents.text_digest`).
    """

    id: str
    kind: str
    sha256: str


def list_notes(path: Path, columns: Columns, *, kinds: bool = False) -> list[SampledNote]:
    """Every note of a file or folder of redacted notes, with the digest of its text.

    Args:
        path: the file or folder.
        columns: of its tables; the patient's column, or the first-level subfolder, is the kind of a note.
        kinds: notes have kinds.

    Raises:
        DataError: there is no note, or one cannot be read.
    """
    notes = read_all_notes(path, columns)
    return [SampledNote(note.id, (note.patient or "") if kinds else "", text_digest(note.text)) for note in notes]


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """A sampling plan.

    Args:
        seed: of the draw.
        kinds: number of notes of each kind; "" without kinds.
        selected: the notes to read, sorted.
        digest: SHA-256 over the ids and texts of all notes that could have been drawn (`notes_digest`).
        target: the share of leaking notes that the review is to bound; None for a plan of a number of notes.
    """

    seed: int
    kinds: dict[str, int]
    selected: tuple[SampledNote, ...]
    digest: str
    target: float | None = None

    @property
    def notes(self) -> int:
        """All notes that could have been drawn."""
        return sum(self.kinds.values())


def draw_plan(listed: Iterable[SampledNote], count: int, *, seed: int, target: float | None = None) -> SamplingPlan:
    """Draw notes at random: of each kind in proportion to its size, and at least one.

    The choice depends on the ids and the seed, and not on the order of the notes.

    Args:
        listed: all notes.
        count: number of notes to draw.
        seed: of the draw.
        target: as of `SamplingPlan`.

    Raises:
        UsageError: there are fewer notes than ``count``, or more kinds.

    Example:
        >>> plan = draw_plan([SampledNote(f"{n}", "", "") for n in range(100)], 3, seed=7)
        >>> [note.id for note in plan.selected], plan.notes
        (['26', '46', '54'], 100)
    """
    notes = sorted(listed)
    kinds = Counter(note.kind for note in notes)
    if not len(kinds) <= count <= len(notes):
        raise SettingError(f"{count} notes to draw of {len(notes)} of {len(kinds)} kinds: give a number between these")
    rng = random.Random(seed)
    read = [
        note
        for kind, share in _shares(kinds, count).items()
        for note in rng.sample([note for note in notes if note.kind == kind], share)
    ]
    return SamplingPlan(seed, dict(kinds), tuple(sorted(read)), notes_digest(notes), target)


def notes_digest(listed: Iterable[SampledNote]) -> str:
    """The SHA-256 over the ids and texts of notes, whatever their order and kinds."""
    lines = sorted(json.dumps([note.id, note.sha256]) for note in listed)
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def _shares(kinds: Counter[str], count: int) -> dict[str, int]:
    """Number of notes to draw of each kind: one, and the rest in proportion (largest remainders)."""
    total, rest = sum(kinds.values()), count - len(kinds)
    exact = {kind: max(0.0, size * count / total - 1) for kind, size in kinds.items()}
    scale = rest / (sum(exact.values()) or 1)
    shares = {kind: 1 + min(int(part * scale), kinds[kind] - 1) for kind, part in exact.items()}
    by_need = sorted(kinds, key=lambda kind: shares[kind] - kinds[kind] * count / total)
    while sum(shares.values()) < count:
        open_kinds = [kind for kind in by_need if shares[kind] < kinds[kind]]
        for kind in open_kinds[: count - sum(shares.values())]:
            shares[kind] += 1
    return shares


def write_plan(plan: SamplingPlan, path: Path) -> None:
    """Write a plan to a new file, as JSON.

    Raises:
        UsageError: there is a file already.
        DataError: it cannot be written.
    """
    if path.exists():
        raise OutputExistsError(f"{path} is there already: name a new file, nothing is overwritten")
    content = {
        "plan": _PLAN_FORMAT_VERSION,
        "seed": plan.seed,
        "notes": plan.notes,
        "kinds": plan.kinds,
        "digest": plan.digest,
        "target_leak_rate": plan.target,
        "selected": [note._asdict() for note in plan.selected],
    }
    write_files({path: json.dumps(content, indent=1) + "\n"})


def read_plan(path: Path) -> SamplingPlan:
    """A plan that `write_plan` wrote.

    Raises:
        DataError: it cannot be read, or is none.
    """
    content = parse_json(read_text(path), path=path, otherwise=_NO_PLAN)
    if any(shape_errors(content, _PLAN)) or content["plan"] != _PLAN_FORMAT_VERSION:
        raise FormatError(_NO_PLAN, path=path)
    selected = tuple(SampledNote(*(note[name] for name in SampledNote._fields)) for note in content["selected"])
    return SamplingPlan(content["seed"], content["kinds"], selected, content["digest"], content["target_leak_rate"])


def require_only_notes(path: Path) -> None:
    """Refuse a folder that holds files which no reader of notes reads: a certificate of the folder would cover them.

    Raises:
        DataError: there is such a file; the error names the first one.
    """
    for other in unread_files(path):
        raise MismatchError("no file of notes, so that no reviewer would see it: move it elsewhere", path=other)


def require_unchanged(plan: SamplingPlan, notes: Sequence[SampledNote], *, path: Path) -> None:
    """Refuse notes other than all those from which a plan was drawn.

    Notes that were not drawn count too, because the certificate is about all.

    Args:
        plan: the plan.
        notes: all notes at present.
        path: their folder, for the message.

    Raises:
        DataError: a note was added or removed, or has another text or id; a file holds no notes; or the plan selects
            other notes than its seed does.
    """
    require_only_notes(path)
    if notes_digest(notes) == plan.digest:
        if not _is_draw(plan, notes):
            raise MismatchError("the plan was changed after its draw: draw a new plan and read its notes", path=path)
        return
    missing, altered = _missing_and_altered(plan, notes)
    changes = [
        (len(notes) != plan.notes, f"{len(notes):,} notes now, {plan.notes:,} then"),
        (missing > 0, f"{missing:,} of the {len(plan.selected):,} drawn notes are missing"),
        (altered > 0, f"{altered:,} of the {len(plan.selected):,} drawn notes have another text"),
    ]
    problem = "; ".join(text for holds, text in changes if holds) or "a note that was not drawn has another text or id"
    remedy = "restore them, with the same --text-column and --id-column, or draw a new plan and read its notes"
    raise MismatchError(f"not the notes that the plan was drawn from ({problem}): {remedy}", path=path)


def require_planned(plan: SamplingPlan, read: Sequence[SampledNote], *, path: Path) -> None:
    """Refuse notes other than the selected notes of a plan, or with another text than when it was drawn.

    Args:
        plan: the plan.
        read: the notes to read, or the notes read.
        path: of the plan, for the message.

    Raises:
        DataError: a note is missing, has another text, or is not in the plan; the message has the number.
    """
    missing, altered = _missing_and_altered(plan, read)
    further = len(read) - len(plan.selected)
    problems = {
        f"{missing} of the {len(plan.selected)} notes of the plan are missing: read them all": missing,
        f"{altered} notes of the plan have another text now: draw a new plan, for the old one holds no longer": altered,
        f"{further} notes were read that are not in the plan: leave them out": further,
    }
    for problem, count in problems.items():
        if count > 0:
            raise MismatchError(problem, path=path)


def _is_draw(plan: SamplingPlan, notes: Sequence[SampledNote]) -> bool:
    """Return True if a plan selects what its seed does; of several kinds, which only the draw knew, as many notes."""
    count, kinds = len(plan.selected), Counter(plan.kinds)
    if min(kinds.values(), default=0) < 1 or plan.notes != len(notes) or not len(kinds) <= count <= len(notes):
        return False
    if len(kinds) > 1:
        return Counter(note.kind for note in plan.selected) == _shares(kinds, count)
    (kind,) = kinds
    again = draw_plan([note._replace(kind=kind) for note in notes], count, seed=plan.seed)
    return again.selected == plan.selected


def _missing_and_altered(plan: SamplingPlan, notes: Sequence[SampledNote]) -> tuple[int, int]:
    """The numbers of drawn notes that are not there and that have another text."""
    texts = {note.id: note.sha256 for note in notes}
    missing = sum(note.id not in texts for note in plan.selected)
    altered = sum(texts.get(note.id, note.sha256) != note.sha256 for note in plan.selected)
    return missing, altered
