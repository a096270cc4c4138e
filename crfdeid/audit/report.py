"""Audits: a training with canaries, or a finished model, as JSON data; the file ``audit.json``; its Markdown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfdeid.audit.attacks import (
    count_stored_words,
    note_losses,
    stored_words,
    time_answers,
    words_of_phi,
    words_to_time,
)
from crfdeid.audit.canaries import CanaryPlan, Question, canary_scores, insert_canaries, make_questions
from crfdeid.audit.measures import LOW_FALSE_POSITIVE_RATES, attack_figures, audit_epsilon, exposure, roc_area
from crfdeid.audit.near_copies import near_copies
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import PHI
from crfdeid.errors import (
    IntegrityError,
    MismatchError,
    OptionConflictError,
    SettingError,
    VersionError,
    shorten_list,
)
from crfdeid.evaluation.tokens import Proportion
from crfdeid.model_card.card import model_digest
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction.redactor import Redactor, StartedRedactor
from crfdeid.registry import create
from crfdeid.secrets import Keys
from crfdeid.serialization import AUDIT_FILE, ModelFolder, open_model, verify
from crfdeid.tagger import OnProgress, Tagger
from crfdeid.utils.files import write_files
from crfdeid.utils.html import render_markdown
from crfdeid.utils.json import dump_with_checksum, read_with_checksum
from crfdeid.utils.tables import markdown_table
from crfdeid.validation import shape_errors

_SCHEMA = 1
_CANARY_MODEL, _FINISHED = "canary model", "finished model"
_CONTROL = "crf"
_LEAST_FOUND = 0.6
"""Lower end of the interval of the area under the curve from which names count as found."""
_QUESTIONS, _LEAST_EACH = 8, 16
_TIMED_WORDS, _LEAST_TIMED = 200, 10
_WHAT = "model's audit"
_REMEDY = "audit the model again, or remove the file"
_AREA = {"value": float, "low": float, "high": float}
_PART = {"count": int, "total": int, "low": float, "high": float}
_TIME = {"auc": _AREA, "known_us": float, "unknown_us": float, "found": bool}
_SHARES = {f"{rate:g}": _PART for rate in LOW_FALSE_POSITIVE_RATES}
_TIMES = {"first": _TIME, "repeated": _TIME}
_ASKED = ("command", "service")
_SHAPE = {
    "membership": ({"members": int, "others": int, "auc": _AREA, "true_positives": _SHARES}, None),
    "words": _PART,
    "timing": {f"{name}?": _TIMES for name in _ASKED},
}
"""Shape of the audit of a finished model (`crfdeid.validation.shape_errors`), which has more."""
_MOST = 1e12
"""More than notes, words or microseconds that there can be."""
_ROUNDING = 1e-9
_SURE = 0.999
"""Confidence that members and others are exchanged: other notes can differ by chance."""
DEFAULT_CANARIES, DEFAULT_REPEATS, DEFAULT_DELTA = 400, (1, 2, 4, 8), 1e-5


def audit_training(
    tagger: Tagger,
    corpus: Corpus,
    *,
    canaries: int = DEFAULT_CANARIES,
    repeats: Sequence[int] = DEFAULT_REPEATS,
    delta: float = DEFAULT_DELTA,
    prepare: Callable[[Split], Split] | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Train a model on notes with canaries, and measure what it gives away.

    Args:
        tagger: an untrained model; afterwards it is trained on the canaries, and of no other use.
        corpus: training notes, and development notes, in whose texts the model is asked for names.
        canaries: number of names, each in the training notes with probability 1/2.
        repeats: numbers of copies of a name; as many canaries have each.
        delta: of the (epsilon, delta)-privacy that is refuted.
        prepare: changes the training notes once the canaries are in them, such as
            `crfdeid.augmentation.augment_corpus`; None to change nothing.
        seed: seed of names and places.
        on_progress: called for each step of training.

    Returns:
        JSON data without any word of the notes. "valid" is False if names with the most copies are found neither in
        this model nor in a CRF without defences: the audit then says nothing.

    Raises:
        OptionConflictError: the model does not learn from notes.
        SettingError: numbers that cannot be, or too many canaries.
        EmptyInputError: too few notes have a place for a name, or the notes hold no PHI.
    """
    if not type(tagger).traits(tagger.settings).is_trained:
        raise OptionConflictError("this model learns nothing from notes: choose one that is trained")
    if not repeats or min(repeats) < 1 or canaries < _LEAST_EACH * len(repeats):
        raise SettingError(f"{canaries} canaries, {list(repeats)} copies: give {_LEAST_EACH} canaries for each number")
    random = np.random.default_rng(seed)
    plan = CanaryPlan.draw(canaries, repeats, corpus.splits.values(), random=random)
    train = insert_canaries(corpus.train, [*plan.canaries, *plan.decoys], random=random)
    questions = make_questions(corpus.dev, _QUESTIONS, random=random)
    sentences = (train if prepare is None else prepare(train)).sentences
    tagger.fit(sentences, corpus.dev.sentences, on_progress=on_progress)
    figures = measure_canaries(tagger, plan, questions, delta=delta)
    untouched = [number for number, one in enumerate(corpus.train.documents) if train.documents[number] is one]
    unchanged = Split(
        tuple(train.documents[number] for number in untouched), tuple(train.encoded[number] for number in untouched)
    )
    with TemporaryDirectory() as name:
        folder = Path(name)
        tagger.save(folder)
        description = verify(folder)
        names = {kind: [one.name for one in plan.canaries if one.inserted == kind] for kind in (True, False)}
        inserted, others = (
            Proportion(len(stored_words(folder, words_asked)), len(words_asked)) for words_asked in names.values()
        )
        words = count_stored_words(folder, corpus.train)
    control = {"model": description["model"], **_most_copies(figures)}
    if not control["found"]:
        plain = create(_CONTROL)
        plain.fit(train.sentences, corpus.dev.sentences, on_progress=on_progress)  # without ``prepare``, a defence
        control = {"model": _CONTROL, **_most_copies(measure_canaries(plain, plan, questions, delta=delta))}
    return {
        **_described(description, _CANARY_MODEL, corpus.train, corpus.dev),
        "valid": control["found"],
        "control": {"copies": max(repeats), **control},
        "canaries": {**figures, "stored": {"inserted": inserted.to_dict(), "others": others.to_dict()}},
        "membership": _membership(_losses(tagger, unchanged, corpus.dev)),
        "words": words.to_dict(),
        "seed": seed,
        "model_sha256": description["sha256"],
    }


def measure_canaries(
    tagger: Tagger, plan: CanaryPlan, questions: Sequence[Question], *, delta: float = DEFAULT_DELTA
) -> dict[str, Any]:
    """Ask a model for all names of a plan, and measure how well its answers tell which were in its training notes.

    Args:
        tagger: the model, trained on notes with the plan's inserted canaries.
        plan: the names.
        questions: contexts from other notes (`crfdeid.audit.canaries.make_questions`).
        delta: of the privacy that is refuted.

    Returns:
        "epsilon" of all canaries, "bits", the largest exposure there can be, and "by_copies": for each number of copies
        `crfdeid.audit.measures.attack_figures`, the epsilon, and the mean and largest exposure of the inserted names.
    """
    scores = canary_scores(tagger, [one.name for one in plan.canaries], questions)
    inserted = np.array([one.inserted for one in plan.canaries])
    copies = np.array([one.copies for one in plan.canaries])
    is_real = np.array([one.is_real for one in plan.canaries])
    bits = np.zeros(len(scores))
    for kind, names in plan.references.items():
        bits[is_real == kind] = exposure(scores[is_real == kind], canary_scores(tagger, names, questions))
    by_copies = {}
    for number in sorted(set(copies.tolist())):
        chosen = copies == number
        members = chosen & inserted
        by_copies[str(number)] = {
            **attack_figures(scores[members], scores[chosen & ~inserted]),
            "exposure": {"mean": float(bits[members].mean()), "largest": float(bits[members].max())},
            "epsilon": audit_epsilon(scores[chosen], inserted[chosen], delta=delta),
        }
    most = max(len(names) for names in plan.references.values())
    return {
        "count": len(scores),
        "bits": float(np.log2(most + 1)),
        "epsilon": audit_epsilon(scores, inserted, delta=delta),
        "by_copies": by_copies,
    }


def _most_copies(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The area under the curve of the names with the most copies, and whether they count as found."""
    area = figures["by_copies"][max(figures["by_copies"], key=int)]["auc"]
    return {"auc": area, "found": area["low"] > _LEAST_FOUND}


def audit_model(
    folder: Path | ModelFolder, model: Deidentifier, members: Split, others: Split, *, seed: int = 0
) -> dict[str, Any]:
    """Measure what a finished model gives away, without training.

    Args:
        folder: the model's folder.
        model: the model, loaded.
        members: its training notes, or some of them.
        others: notes of the same kind that were not in its training.
        seed: seed of the choice and the order of words.

    Returns:
        JSON data without any word of the notes: "membership", "words", "timing" by who answers, and the model's digest.

    Raises:
        MismatchError: others are equal or nearly equal to members, or the model knows the others better.
        DataError: the folder holds a damaged model.
    """
    from crfdeid.serve.service import Service  # noqa: PLC0415  `crfdeid info` needs none.

    _require_apart(members, others)
    losses = _losses(model.tagger, members, others)
    if losses is not None:
        _require_known(*losses)
    random, opened = np.random.default_rng(seed), open_model(folder)
    used = {word.lower() for word in members.words}
    new = [word for word in words_of_phi(others, secret=False) if word.lower() not in used]
    known, unknown = (
        words_to_time(words, _TIMED_WORDS, random=random) for words in (words_of_phi(members, secret=False), new)
    )
    timing = {}
    if min(len(known), len(unknown)) >= _LEAST_TIMED:
        service = Service(StartedRedactor(Redactor(opened), model, Keys()))
        with closing(asyncio.new_event_loop()) as loop:
            answers: dict[str, Callable[[str], object]] = {
                "command": model.annotate,
                "service": lambda text: loop.run_until_complete(service.annotate([text])),
            }
            timing = {name: time_answers(answer, known, unknown, random=random) for name, answer in answers.items()}
    return {
        **_described(opened.description, _FINISHED, members, others),
        "membership": _membership(losses),
        "words": count_stored_words(opened.path, members).to_dict(),
        "timing": timing,
        "model_sha256": model_digest(opened),
    }


def _described(description: Mapping[str, Any], kind: str, members: Split, others: Split) -> dict[str, Any]:
    return {
        "schema": _SCHEMA,
        "of": kind,
        "audited": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": description["model"],
        "settings": description["settings"],
        "notes": {"members": len(members.documents), "others": len(others.documents)},
    }


def _require_apart(members: Split, others: Split) -> None:
    """Refuse others that the model learned from: an attack cannot tell them from members, and finds too little."""
    copies = near_copies(*((document.text for document in split.documents) for split in (members, others)))
    if copies:
        named = ((others.documents[place].source, place + 1) for place in copies)
        listed = shorten_list([source or f"note {number}" for source, number in named], between="; ")
        problem = (
            f"{len(copies):,} of the {len(others.documents):,} others are equal or nearly equal to a training note"
        )
        raise MismatchError(f"the audit is void: {problem} ({listed}): leave them out")


_Losses = tuple[NDArray[np.float64], NDArray[np.float64]]


def _losses(tagger: Tagger, members: Split, others: Split) -> _Losses | None:
    """Losses of members and of others; None without notes of one kind."""
    splits = [split.annotated(PHI) for split in (members, others)]
    if not all(split.documents for split in splits):
        return None
    return note_losses(tagger, splits[0]), note_losses(tagger, splits[1])


def _require_known(members: NDArray[np.float64], others: NDArray[np.float64]) -> None:
    """Refuse members whose losses are higher than those of others, beyond chance."""
    area = roc_area(-members, -others, confidence=_SURE)
    if area.high < 0.5:
        problem = f"the model knows the {len(others):,} others better than the {len(members):,} members"
        remedy = "give its training notes as --members, and notes of the same kind as --others"
        raise MismatchError(f"the audit is void: {problem} (AUC {_area(area._asdict())}): {remedy}")


def _membership(losses: _Losses | None) -> dict[str, Any] | None:
    """Figures of membership by loss; None without losses."""
    return None if losses is None else attack_figures(-losses[0], -losses[1])


def save_audit(folder: Path, audit: Mapping[str, Any]) -> None:
    """Write an audit into a folder: that of the finished model, or a new one.

    Raises:
        DataError: it cannot be written.
    """
    write_files({folder / AUDIT_FILE: dump_with_checksum(audit)})


def read_audit(model: Path | ModelFolder) -> dict[str, Any] | None:
    """Read the last audit of a finished model; None without one.

    Raises:
        VersionError: it is of another version.
        IntegrityError: it is damaged, or of another model.
    """
    opened = open_model(model)
    path = opened.path / AUDIT_FILE
    try:
        audit = read_with_checksum(path, _WHAT, remedy=_REMEDY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if audit.get("schema") != _SCHEMA:
        raise VersionError(f"not a {_WHAT} of this version: {_REMEDY}", path=path)
    if (audit.get("of"), audit.get("model_sha256")) != (_FINISHED, model_digest(opened)):
        raise IntegrityError(f"the {_WHAT} is of another model: {_REMEDY}", path=path)
    for problem in shape_errors(audit, _SHAPE):
        raise IntegrityError(f"not a {_WHAT}: {problem}: {_REMEDY}", path=path)
    if not _is_possible(audit):
        raise IntegrityError(f"not a {_WHAT}: figures that cannot be: {_REMEDY}", path=path)
    return audit


def _is_possible(audit: Mapping[str, Any]) -> bool:
    """True if the figures of an audit of the right shape can have been measured; NaN compares false."""
    times = [asked[when] for name in _ASKED if (asked := audit["timing"].get(name)) for when in _TIMES]
    counts, areas = [audit["words"]], [time["auc"] for time in times]
    sizes = [time[name] for time in times for name in ("known_us", "unknown_us")]
    if (membership := audit["membership"]) is not None:
        counts += (membership["true_positives"][rate] for rate in _SHARES)
        areas.append(membership["auc"])
        sizes += (membership["members"], membership["others"])
    ends = [(part["low"], part["high"]) for part in (*counts, *areas)]
    return (
        all(0 <= size <= _MOST for size in sizes)
        and all(0 <= part["count"] <= part["total"] <= _MOST for part in counts)
        and all(0 <= area["value"] <= 1 for area in areas)
        and all(-_ROUNDING <= end <= 1 + _ROUNDING for pair in ends for end in pair)
        and all(low <= high + _ROUNDING for low, high in ends)
    )


def render_audit(audit: Mapping[str, Any]) -> str:
    """Return an audit as Markdown."""
    canaries, timing = audit["canaries"] if audit["of"] == _CANARY_MODEL else None, audit.get("timing", {})
    return render_markdown(
        files("crfdeid.audit") / "templates",
        "audit",
        filters={"area": _area, "share": _share, "timed": _timed, "of_total": _of_total},
        audit=audit,
        canaries=canaries,
        timing={name: timing[name] for name in _ASKED if name in timing},
        table="" if canaries is None else _canary_table(canaries),
        rates=list(_SHARES),
    )


def _canary_table(canaries: Mapping[str, Any]) -> str:
    head = ["copies", "in", "not in", "AUC", "found %, FPR 1 %", "exposure, bits", "epsilon at least"]
    rows = [
        [
            copies,
            figures["members"],
            figures["others"],
            _area(figures["auc"]),
            _share(figures["true_positives"]["0.01"]),
            f"{figures['exposure']['mean']:.1f}",
            f"{figures['epsilon']['epsilon']:.2f}",
        ]
        for copies, figures in canaries["by_copies"].items()
    ]
    return markdown_table(head, rows)


def _area(area: Mapping[str, float]) -> str:
    return f"{area['value']:.2f} ({area['low']:.2f} to {area['high']:.2f})"


def _share(part: Mapping[str, Any]) -> str:
    return f"{100 * part['count'] / max(part['total'], 1):.1f} ({100 * part['low']:.1f} to {100 * part['high']:.1f})"


def _timed(times: Mapping[str, Any]) -> str:
    return f"{_area(times['auc'])}{' (a difference was found)' * times['found']}"


def _of_total(part: Mapping[str, Any], words: str = "of") -> str:
    return f"{part['count']} {words} {part['total']}"
