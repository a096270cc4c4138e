"""`crfdeid review certify`: a bound on the share of redacted notes that leak."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

from crfdeid.cli.options import ID_COLUMN, JSON, TEXT_COLUMN, require_path
from crfdeid.cli.review.plan import LEAKING, PLAN, RECALL, columns_of
from crfdeid.cli.shell import Argument, Mode, Option, command
from crfdeid.cli.values import file_path, whole_number
from crfdeid.errors import UsageError

if TYPE_CHECKING:
    from crfdeid.review.certificate import Certificate

_REVIEWS = Mode("REVIEWS", lambda options: bool(options.reviews))
_NUMBERS = Mode("--reviewed", lambda options: options.reviewed is not None)
_SIZE = Mode(
    "reviews of which no file has the number of notes", lambda options: options.strata is None and options.plan is None
)


@command(
    Argument(
        "reviews",
        file_path,
        metavar="[REVIEWS]...",
        nargs=-1,
        required=False,
        help="Files that review pages of redacted notes let people download.",
    ),
    Option(
        "--redacted",
        file_path,
        only=(_REVIEWS,),
        metavar="PATH",
        help="All redacted notes, for a comparison of their texts with REVIEWS.",
    ),
    PLAN.but(only=(_REVIEWS,)),
    Option("--reviewed", whole_number(1), metavar="N", help="Number of notes read, drawn at random."),
    LEAKING.but(only=(_NUMBERS,), default=None, help="Number of notes read in which PHI was found."),
    Option(
        "--counts",
        file_path,
        metavar="FILE",
        help="CSV file with a line for each note read: PHI tokens left (leaked) and in all (tokens).",
    ),
    Option(
        "--strata",
        file_path,
        metavar="FILE",
        help="CSV file with a line for each kind of notes: stratum, notes, reviewed, leaking.",
    ),
    RECALL,
    Option(
        "--corpus-size",
        whole_number(1),
        only=(_SIZE,),
        metavar="N",
        help="Number of all redacted notes; default: infinite.",
    ),
    JSON,
    TEXT_COLUMN.but(only=(_REVIEWS,), rare=True),
    ID_COLUMN.but(only=(_REVIEWS,), rare=True),
    one_of=("reviews", "reviewed", "counts", "strata"),
    examples=(
        "crfdeid review certify --reviewed 300 --leaking 0",
        "crfdeid review certify reviews.jsonl --redacted clean/ --plan plan.json",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Print the bounds.

    Args:
        options: values of the options.

    Raises:
        UsageError: an option is invalid.
        DataError: a table or notes cannot be read, or notes and reviews are not those of the plan.
    """
    from crfdeid.review.certificate import render_certificate  # noqa: PLC0415

    if options.reviewed is not None and options.leaking is None:
        raise UsageError("--reviewed needs --leaking: the number of notes with PHI, 0 if none")
    if options.reviews and options.redacted is None:
        raise UsageError("REVIEWS needs --redacted: all redacted notes, to compare with the notes read")
    certificate = _certificate(options)
    empty = dict.fromkeys(("upper_bound_notes", "upper_bound_tokens"))
    print(json.dumps({**empty, **certificate.to_dict()}) if options.json else render_certificate(certificate))


def _certificate(options: SimpleNamespace) -> Certificate:
    from crfdeid.review.bounds import read_counts, read_strata  # noqa: PLC0415
    from crfdeid.review.certificate import certify, certify_strata  # noqa: PLC0415

    recall, total = options.reviewer_recall, options.corpus_size
    if options.strata is not None:
        return certify_strata(read_strata(options.strata), recall=recall)
    if options.reviews:
        return _of_reviews(options)
    if options.counts is not None:
        counts = read_counts(options.counts)
        leaking = sum(count.leaked > 0 for count in counts)
        return certify(len(counts), leaking, recall=recall, total=total, counts=counts)
    return certify(options.reviewed, options.leaking, recall=recall, total=total)


def _of_reviews(options: SimpleNamespace) -> Certificate:
    """Certificate of reviews of the present redacted notes."""
    from crfdeid.review.certificate import certify, certify_strata  # noqa: PLC0415
    from crfdeid.review.marks import read_marks, require_current, strata_of  # noqa: PLC0415
    from crfdeid.review.plan import list_notes, read_plan, require_unchanged  # noqa: PLC0415

    notes, reviewed = list_notes(require_path(options.redacted), columns_of(options)), read_marks(options.reviews)
    plan = None if options.plan is None else read_plan(options.plan)
    if plan is not None:
        require_unchanged(plan, notes, path=options.redacted)
    require_current(reviewed, notes)
    counts = [one.count for one in reviewed]
    if plan is None:
        leaking, total = sum(bool(one.missed) for one in reviewed), options.corpus_size
        return certify(len(reviewed), leaking, recall=options.reviewer_recall, total=total, counts=counts)
    strata = strata_of(reviewed, plan, path=options.plan)
    return replace(certify_strata(strata, recall=options.reviewer_recall, counts=counts), digest=plan.digest)
