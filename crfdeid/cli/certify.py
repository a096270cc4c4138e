"""Bound the share of redacted notes that leak, after people have read some; or compute how many notes to read."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.cli.arguments import add_seed, require_outside
from crfdeid.cli.shell import file_path, fraction, whole_number
from crfdeid.errors import UsageError

if TYPE_CHECKING:
    from crfdeid.io.records import Columns
    from crfdeid.review.certificate import Certificate


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid certify``."""
    text = "how many redacted notes people read, drawn at random"
    parser.add_argument("--reviewed", type=whole_number(1), metavar="N", help=text)
    text = "in how many of them they found PHI (with --bound alone: how many are expected; default there: 0)"
    parser.add_argument("--leaking", type=whole_number(0), metavar="K", help=text)
    text = (
        "instead of the two: table of the notes read, one a line, with columns leaked and tokens, the PHI tokens left "
        "in the note and all its PHI tokens; it gives a bound for tokens too"
    )
    parser.add_argument("--counts", type=file_path, metavar="FILE", help=text)
    text = "instead of the two: table of kinds of notes, with columns stratum, notes, reviewed and leaking"
    parser.add_argument("--strata", type=file_path, metavar="FILE", help=text)
    text = "instead of the two: what review pages of redacted notes let reviewers download, one file or several"
    parser.add_argument("--marks", type=file_path, nargs="+", metavar="FILE", help=text)
    text = "with --marks: all redacted notes, as they are now; marks of other texts are refused"
    parser.add_argument("--redacted", type=file_path, metavar="PATH", help=text)
    text = (
        "with --marks: the plan that was to be read; all its notes must have been read, and --redacted must hold the "
        "notes that it was drawn from and no others"
    )
    parser.add_argument("--planned", type=file_path, metavar="FILE", help=text)
    text = "the share of leaking notes that a reader finds, or a lower bound of it (default: 1, which no reader has)"
    parser.add_argument("--reviewer-recall", type=fraction, default=1.0, metavar="SHARE", help=text)
    text = "number of all redacted notes, including those read (default: infinite population)"
    parser.add_argument("--corpus-size", type=whole_number(1), metavar="M", help=text)
    text = "the bound that is to be shown, such as 0.01: says how many notes to read for it"
    parser.add_argument("--bound", type=fraction, metavar="SHARE", help=text)
    text = "new file for a sampling plan: which notes of --input to read, as many as --reviewed or --bound ask for"
    parser.add_argument("--plan", type=file_path, metavar="FILE", help=text)
    text = "with --plan: the redacted notes, a file or a folder as crfdeid redact wrote it"
    parser.add_argument("--input", type=file_path, metavar="PATH", help=text)
    text = "of --input or --redacted: column (in JSON Lines: key) with the text of a note (default: text)"
    parser.add_argument("--text-column", metavar="NAME", help=text)
    text = "of --input or --redacted: column with a note's id (default: as crfdeid review has it)"
    parser.add_argument("--id-column", metavar="NAME", help=text)
    text = "with --plan: column (in JSON Lines: key) with the kind of a note: kinds are read in proportion"
    parser.add_argument("--kind-column", metavar="NAME", help=text)
    text = "with --plan: the first-level subfolders of --input are the kinds of notes"
    parser.add_argument("--kind-folders", action="store_true", help=text)
    add_seed(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(options: argparse.Namespace) -> None:
    """Print the bounds, or the number of notes to read; write the plan.

    Raises:
        UsageError: an option is invalid.
        DataError: a table or notes cannot be read, or notes and marks are not those of the plan.
    """
    import json  # noqa: PLC0415

    from crfdeid.review.certificate import render_certificate  # noqa: PLC0415

    _check(options)
    if options.plan is not None:
        require_outside(options.plan, {"--input": options.input}, option="--plan")
        summary, lines = _plan(options)
    else:
        certificate = _certificate(options)
        summary = {} if certificate is None else certificate.to_dict()
        lines = [] if certificate is None else [render_certificate(certificate)]
    if options.bound is not None:
        summary["notes_to_read"] = _notes_to_read(options, summary.get("corpus_size", options.corpus_size))
        if options.plan is None:
            lines += list(_reading_table(options))
    empty = dict.fromkeys(("upper_bound_notes", "upper_bound_tokens", "notes_to_read"))
    print(json.dumps({**empty, **summary}) if options.json else "\n".join(lines))


def _check(options: argparse.Namespace) -> None:
    """Refuse contradictory options."""
    found = [name for name in ("counts", "strata", "marks") if getattr(options, name) is not None]
    found += ["reviewed"] if options.reviewed is not None else []
    if len(found) > 1:
        raise UsageError(f"--{found[0]} and --{found[1]} say the same: leave one out")
    if options.plan is not None:
        if options.input is None or (options.bound is None) == (found != ["reviewed"]):
            raise UsageError("--plan needs --input, and either --reviewed or --bound to say how many notes to draw")
    elif options.input is not None or options.kind_folders or options.kind_column is not None:
        raise UsageError("--input, --kind-column and --kind-folders are for --plan: leave them out")
    elif not found and options.bound is None:
        sources = "--reviewed and --leaking, --counts, --strata or --marks"
        raise UsageError(f"give {sources}; or --bound for how many notes to read")
    if options.kind_folders and options.kind_column is not None:
        raise UsageError("--kind-column and --kind-folders: give one of them")
    if found == ["reviewed"] and options.plan is None and options.leaking is None:
        raise UsageError("--reviewed needs --leaking: how many of the notes read were found to leak, 0 if none")
    _check_marks(options)
    for name in ("strata", "planned"):
        if getattr(options, name) is not None and options.corpus_size is not None:
            raise UsageError(f"--{name} says how many notes there are: leave --corpus-size out")


def _check_marks(options: argparse.Namespace) -> None:
    """Refuse options for notes without notes to read, and marks without their notes."""
    if options.marks is None:
        for name in ("redacted", "planned"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name} is for --marks: leave it out")
        if options.plan is None and (options.text_column is not None or options.id_column is not None):
            raise UsageError("--text-column and --id-column are for --plan and --marks: leave them out")
    elif options.redacted is None:
        raise UsageError("--marks needs --redacted: all redacted notes, to compare with the notes read")


def _certificate(options: argparse.Namespace) -> Certificate | None:
    from crfdeid.review.bounds import read_counts, read_strata  # noqa: PLC0415
    from crfdeid.review.certificate import certify, certify_strata  # noqa: PLC0415

    recall, total = options.reviewer_recall, options.corpus_size
    if options.strata is not None:
        return certify_strata(read_strata(options.strata), recall=recall)
    if options.marks is not None:
        return _of_marks(options)
    if options.counts is not None:
        counts = read_counts(options.counts)
        leaking = sum(count.leaked > 0 for count in counts)
        return certify(len(counts), leaking, recall=recall, total=total, counts=counts)
    if options.reviewed is None:
        return None
    return certify(options.reviewed, options.leaking, recall=recall, total=total)


def _of_marks(options: argparse.Namespace) -> Certificate:
    """Certificate of reviewers' marks in the present redacted notes."""
    from crfdeid.review.certificate import certify, certify_strata  # noqa: PLC0415
    from crfdeid.review.marks import read_marks, require_current, strata_of  # noqa: PLC0415
    from crfdeid.review.plan import list_notes, read_plan, require_unchanged  # noqa: PLC0415

    notes = list_notes(_there(options, "redacted"), _columns(options))
    reviewed, recall, total = read_marks(options.marks), options.reviewer_recall, options.corpus_size
    plan = None if options.planned is None else read_plan(options.planned)
    if plan is not None:
        require_unchanged(plan, notes, path=options.redacted)
    require_current(reviewed, notes)
    counts = [one.count for one in reviewed]
    if plan is not None:
        strata, total = strata_of(reviewed, plan, path=options.planned), plan.notes
        if len(strata) > 1:
            return replace(certify_strata(strata, recall=recall, counts=counts), digest=plan.digest)
    leaking = sum(bool(one.missed) for one in reviewed)
    found = certify(len(reviewed), leaking, recall=recall, total=total, counts=counts)
    return found if plan is None else replace(found, digest=plan.digest)


def _notes_to_read(options: argparse.Namespace, total: int | None) -> int:
    from crfdeid.review.bounds import notes_to_read  # noqa: PLC0415

    return notes_to_read(options.bound, leaking=options.leaking or 0, recall=options.reviewer_recall, total=total)


def _reading_table(options: argparse.Namespace) -> Iterator[str]:
    """Table of the number of notes to read, by the number found to leak."""
    from crfdeid.review.bounds import notes_to_read  # noqa: PLC0415

    yield f"To show that at most {100 * options.bound:g} % of the notes leak, one-sided at 95 %:"
    yield "\n| found to leak | notes to read |\n| --: | --: |"
    first = options.leaking or 0
    for leaking in range(first, first + 4):
        try:
            count = notes_to_read(
                options.bound, leaking=leaking, recall=options.reviewer_recall, total=options.corpus_size
            )
        except UsageError:
            if leaking == first:
                raise
            return
        yield f"| {leaking} | {count:,} |"


def _plan(options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Draw the plan and write it; return the lines to print."""
    from crfdeid.review.bounds import notes_to_read  # noqa: PLC0415
    from crfdeid.review.plan import draw_plan, list_notes, require_only_notes, write_plan  # noqa: PLC0415

    path = _there(options, "input")
    if options.plan.exists():
        raise UsageError(f"--plan: {options.plan} is there already: name a new file, nothing is overwritten")
    require_only_notes(path)
    listed = list_notes(path, _columns(options), kinds=options.kind_folders or options.kind_column is not None)
    count = options.reviewed
    if options.bound is not None:
        count = notes_to_read(
            options.bound, leaking=options.leaking or 0, recall=options.reviewer_recall, total=len(listed)
        )
    plan = draw_plan(listed, count, seed=options.seed)
    write_plan(plan, options.plan)
    lines = [
        f"{len(plan.selected):,} of {plan.notes:,} notes to read, drawn with the seed {plan.seed}: {options.plan}",
        "Read all of them. After a change of the model, its threshold or the rules, draw another plan with a new seed.",
    ]
    return {"corpus_size": plan.notes, "reviewed": len(plan.selected), "seed": plan.seed}, lines


def _there(options: argparse.Namespace, name: str) -> Path:
    """The path of an option; an error if it does not exist."""
    path: Path = getattr(options, name)
    if not path.exists():
        raise UsageError(f"--{name}: no such file or folder: {path}")
    return path


def _columns(options: argparse.Namespace) -> Columns:
    """Columns of tables of redacted notes: the kind of a note takes the column of its patient."""
    from crfdeid.io.records import Columns  # noqa: PLC0415

    return Columns(options.text_column or "text", options.id_column, options.kind_column, use_id_key=True)
