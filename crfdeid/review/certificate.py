"""A certificate: the reviewers' findings, the resulting bounds and their assumptions, as data and as text to sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crfdeid.review.bounds import (
    CONFIDENCE_LEVEL,
    NoteCount,
    Stratum,
    leaked_tokens_bound,
    stratified_bound,
    upper_bound,
)


@dataclass(frozen=True, slots=True)
class Certificate:
    """Bounds on the leaks in redacted notes, from the notes that reviewers read.

    Args:
        reviewed: the notes read.
        leaking: those found to leak.
        recall: the share of leaking notes that a reader is taken to find.
        total: all notes; None where they go on coming.
        upper_bound_notes: of the share of leaking notes, a fraction.
        upper_bound_tokens: of the share of leaked PHI tokens, a fraction; None where tokens were not counted.
        strata: the kinds of notes; empty without kinds.
        digest: of all notes, the sampling plan's, where every note was compared with it; None where there was no plan.
    """

    reviewed: int
    leaking: int
    recall: float
    total: int | None
    upper_bound_notes: float
    upper_bound_tokens: float | None = None
    strata: tuple[Stratum, ...] = ()
    digest: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data; fractions, not per cent."""
        return {
            "reviewed": self.reviewed,
            "leaking": self.leaking,
            "reviewer_recall": self.recall,
            "corpus_size": self.total,
            "corpus_digest": self.digest,
            "level": CONFIDENCE_LEVEL,
            "upper_bound_notes": self.upper_bound_notes,
            "upper_bound_tokens": self.upper_bound_tokens,
            "strata": {one.name: one.bound(recall=self.recall) for one in self.strata},
        }


def certify(
    reviewed: int,
    leaking: int,
    *,
    recall: float = 1.0,
    total: int | None = None,
    counts: Sequence[NoteCount] | None = None,
) -> Certificate:
    """The certificate of one random sample; arguments and errors of `upper_bound` and `leaked_tokens_bound`.

    Args:
        reviewed: the notes read.
        leaking: those found to leak.
        recall: the share of leaking notes that a reader finds.
        total: all notes; None where they go on coming.
        counts: the PHI tokens of each note read; None where they were not counted.
    """
    notes = upper_bound(reviewed, leaking, recall=recall, total=total)
    return Certificate(reviewed, leaking, recall, total, notes, _tokens(counts, recall))


def certify_strata(
    strata: Sequence[Stratum], *, recall: float = 1.0, counts: Sequence[NoteCount] | None = None
) -> Certificate:
    """The certificate of several kinds of notes, each with its own random sample.

    Args:
        strata: the kinds.
        recall: the share of leaking notes that a reader finds.
        counts: the PHI tokens of each note read, where kinds were read in proportion to their sizes; None where tokens
            were not counted.
    """
    reviewed, leaking, total = (sum(getattr(one, name) for one in strata) for name in ("reviewed", "leaking", "notes"))
    bound = stratified_bound(strata, recall=recall)
    kinds = tuple(strata) if len(strata) > 1 else ()
    return Certificate(reviewed, leaking, recall, total, bound, _tokens(counts, recall), kinds)


def _tokens(counts: Sequence[NoteCount] | None, recall: float) -> float | None:
    """The bound of tokens; None where none were counted."""
    return leaked_tokens_bound(counts, recall=recall) if counts and any(count.tokens for count in counts) else None


def render_certificate(certificate: Certificate) -> str:
    """A certificate as Markdown, with lines to sign on."""
    rows = [f"- notes read: {certificate.reviewed:,}, drawn at random; found to leak: {certificate.leaking:,}"]
    if certificate.total is not None:
        rows.append(f"- notes in all: {certificate.total:,}, those that were read among them")
    if certificate.digest is not None:
        rows.append(f"- SHA-256 over the ids and texts of all notes: {certificate.digest}")
    rows.append(f"- **at most {_percent(certificate.upper_bound_notes)} of the notes leak** (a token of PHI or more)")
    rows += [f"  - {_stratum(one, certificate.recall)}" for one in certificate.strata]
    if certificate.upper_bound_tokens is not None:
        rows.append(f"- **at most {_percent(certificate.upper_bound_tokens)} of the PHI tokens are left**")
    rows += ["", "What this rests on:", "", *(f"- {assumption}" for assumption in _assumptions(certificate))]
    rows += ["", "Read by ______________________  Date ____________  Signature ______________________"]
    return "\n".join(["# Leaks in redacted notes", "", *rows])


def _assumptions(certificate: Certificate) -> list[str]:
    """Assumptions of the bounds, one sentence each."""
    texts = [
        f"One-sided bounds at {100 * CONFIDENCE_LEVEL:.0f} %: were the true share larger, so few leaks would be "
        f"found in at most {100 * (1 - CONFIDENCE_LEVEL):.0f} % of samples.",
        "The notes were drawn at random from all notes of which this is said, and nothing was changed after the draw.",
    ]
    if certificate.digest is not None:
        texts[1] = (
            "The notes were drawn at random from all notes. All of them were compared with the plan: none was added, "
            "removed or changed since the draw."
        )
    if certificate.recall < 1:
        texts.append(
            f"A reader finds {_percent(certificate.recall)} of the leaking notes, or more. This is assumed and not "
            "measured here: have a second reader read some of the notes, or plant leaks in notes, to measure it."
        )
    else:
        texts.append("A reader finds every leak: set --reviewer-recall, for readers miss some.")
    if certificate.strata:
        texts.append("The bound of a kind holds for this kind alone, and not for all kinds at once.")
    if certificate.upper_bound_tokens is not None:
        texts.append("The bound of tokens is resampled by note, and no note has more PHI tokens than the longest read.")
    texts.append("It is void after any change of the model, its threshold or the rules: draw a new plan and read anew.")
    return texts


def _stratum(stratum: Stratum, recall: float) -> str:
    found = f"{stratum.leaking:,} leaking of {stratum.reviewed:,} read of {stratum.notes:,}"
    return f"{stratum.name}: {found}, at most {_percent(stratum.bound(recall=recall))}"


def _percent(share: float) -> str:
    """Three digits, rounded up, so that no bound is printed too low."""
    digits = 3 if share < 0.01 else 2
    scaled = -(-share * 100 * 10**digits // 1) / 10**digits
    return f"{scaled:.{digits}f} %"
