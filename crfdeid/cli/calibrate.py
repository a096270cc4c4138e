"""`crfdeid calibrate`: a copy of a model with a bounded leak rate, proved on annotated notes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

from crfdeid.cli import corpus_options
from crfdeid.cli.options import KEY_FILE, MAX_LEAK_RATE, MODEL, OUTPUT, find_named, read_key, require_new_folder
from crfdeid.cli.shell import Option, choice, command, share_between
from crfdeid.utils.tables import markdown_table
from crfdeid.validation import LEAK_IDENTIFIERS, LEAK_UNITS

if TYPE_CHECKING:
    from crfdeid.documents import Document
    from crfdeid.model_card.calibration import Calibration, LeakTarget

RATE = MAX_LEAK_RATE.but(help="Share of notes that leak at most, such as 0.05.")
CONFIDENCE = Option("--confidence", share_between, default=0.95, help="Confidence of --max-leak-rate.")
UNITS = choice(
    "--units",
    LEAK_UNITS,
    default=LEAK_UNITS[0],
    help="What --max-leak-rate counts; a patient may have many notes.",
)
IDENTIFIERS = choice(
    "--identifiers",
    LEAK_IDENTIFIERS,
    default=LEAK_IDENTIFIERS[0],
    help="Whose leaks --max-leak-rate counts: all PHI, or direct identifiers alone (names, numbers, contacts).",
)


@command(
    MODEL,
    corpus_options.ANNOTATED,
    OUTPUT.but(help="New folder for a copy of the model with the claim in its card."),
    RATE.but(required=True),
    CONFIDENCE,
    UNITS,
    IDENTIFIERS,
    corpus_options.FORMAT,
    corpus_options.TYPES,
    corpus_options.PATIENT_COLUMN,
    KEY_FILE,
    details="The annotations of NOTES neither trained nor tuned the model, and NOTES are drawn like those to be "
    "redacted. A note leaks where a token of PHI is left.",
    examples=(
        "crfdeid calibrate model/ unseen/ --max-leak-rate 0.05 --output bounded/",
        "crfdeid calibrate model/ unseen/ --max-leak-rate 0.1 --confidence 0.9 --output bounded/",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Choose the threshold, write the copy, and print claim and costs."""
    from crfdeid.model_card.calibration import calibrate, copy_with_claim, require_card  # noqa: PLC0415
    from crfdeid.pipeline import load  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    require_new_folder(options.output, {"NOTES": options.notes})
    target = read_target(options)
    documents = corpus_options.read_annotated(options.notes, options, patient_column=options.patient_column)
    target.require_enough(documents)
    one_thread()
    folder = find_named(options.model)
    require_card(folder)
    key = read_key(folder, options.key_file)
    done = calibrate(load(folder, key=key, concepts=False, evidence=False, members=False), documents, target)
    card = copy_with_claim(folder, options.output, done.claim)
    print_calibration(done, documents)
    print(f"model: {options.output}, digest {card['sha256']}", file=sys.stderr)


def read_target(options: SimpleNamespace) -> LeakTarget:
    """The claim of the options `RATE`, `CONFIDENCE`, `UNITS` and `IDENTIFIERS`."""
    from crfdeid.model_card.calibration import LeakTarget  # noqa: PLC0415

    return LeakTarget(options.max_leak_rate, options.confidence, options.units, options.identifiers)


def print_calibration(done: Calibration, documents: Sequence[Document]) -> None:
    """Print the costs of several leak rates, and on standard error the claim and what voids it."""
    print(markdown_table(["leak rate %", "threshold", "leaking", "needless of 1,000"], _costs(done)), flush=True)
    for line in _claim(done, documents):
        print(line, file=sys.stderr)


def _costs(done: Calibration) -> Iterator[list[str]]:
    for rate, claim in {**done.costs, done.claim.max_leak_rate: done.claim}.items():
        cells = ["-", "-", "-"]
        if claim is not None:
            cells = [f"{claim.threshold:g}", f"{claim.leaking} of {claim.total:,}", f"{claim.needless_per_1000:.1f}"]
        yield [f"{100 * rate:g}", *cells]


def _claim(done: Calibration, documents: Sequence[Document]) -> Iterator[str]:
    from crfdeid.review.bounds import notes_to_read  # noqa: PLC0415
    from crfdeid.thresholds import VOIDS_CLAIM  # noqa: PLC0415

    claim = done.claim
    lacking = [rate for rate, other in done.costs.items() if other is None]
    if lacking:
        needs = (f"{100 * rate:g} % needs {notes_to_read(rate, level=claim.confidence):,}" for rate in lacking)
        yield f"not proved: {', '.join(needs)} {claim.units} without a leak at least"
    patients = {document.patient for document in documents}
    if claim.units == "notes" and None not in patients and len(patients) < len(documents):
        yield (
            f"warning: {len(documents):,} notes of {len(patients):,} patients: those of one patient leak together, so "
            "that the claim needs --units patients"
        )
    yield f"claim: {claim}"
    yield f"needless: {claim.needless_per_1000:.1f} of 1,000 tokens that are no PHI are hidden with it"
    yield f"void with: {VOIDS_CLAIM}"
