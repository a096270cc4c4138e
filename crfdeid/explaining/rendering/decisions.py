"""What `explain_document` gives, as blocks, and each reason in words."""

from __future__ import annotations

from collections.abc import Iterator

from crfdeid.explaining.reasons import (
    CONSISTENCY,
    MODEL,
    RECORD,
    RULE,
    SITE_LIST,
    SITE_PATTERN,
    THRESHOLD,
    DocumentExplanation,
    Reason,
)
from crfdeid.explaining.rendering.blocks import Block, Lines, Table, Title


def decision_blocks(found: DocumentExplanation, name: str) -> Iterator[Block]:
    """Why each span of a note is hidden.

    Args:
        found: the explanation.
        name: what the model is called.
    """
    yield Title(f"What {name} hides, and why")
    if not found.decisions:
        yield Lines(("Nothing.",))
    rows = tuple(
        (decision.value, decision.span.label, f"{decision.span.start}–{decision.span.end}", because(reason))
        for decision in found.decisions
        for reason in decision.reasons
    )
    if rows:
        yield Table("Hidden", ("value", "type", "characters", "because"), rows)
    text = found.document.text
    allowed = tuple((text[start:end], label, f"{start}–{end}") for start, end, label in found.allowed)
    if allowed:
        yield Table("Found by the model, and left because the site's list allows it", _COLUMNS, allowed)


_COLUMNS = ("value", "type", "characters")


def because(reason: Reason) -> str:
    """A reason in words.

    Example:
        >>> from crfdeid.documents import Span
        >>> because(Reason("rule", "e-mail address", Span(0, 4, "EMAIL"), 0.9))
        'the rule `e-mail address` matched (90 % of its finds in training were right)'
    """
    probability = "" if reason.probability is None else _percent(reason.probability)
    where = f"characters {reason.span.start}–{reason.span.end}"
    threshold = _percent(reason.threshold or 0)
    share = f"{100 * (reason.probability or 0):.0f} %"
    said = {
        RULE: f"the rule `{reason.name}` matched ({share} of its finds in training were right)",
        MODEL: f"the model {reason.name} found it (probability of being PHI: {probability})",
        THRESHOLD: f"its probability of being PHI, {probability}, reaches the threshold, {threshold}",
        SITE_LIST: f"the site's list has the term `{reason.name}`",
        SITE_PATTERN: f"the site's pattern `{reason.name}` matched",
        RECORD: f"it is a {reason.name} of the patient's record",
        CONSISTENCY: f"the value at {where}, which is {reason.span.label}, stands here again",
    }
    return said[reason.kind]


def _percent(share: float) -> str:
    """A probability in per cent, with the digits that tell it from 0 and from 1.

    Example:
        >>> _percent(0.5), _percent(0.99997), _percent(0.000012)
        ('50.0 %', '99.997 %', '0.001 %')
    """
    near = min(share, 1 - share)
    digits = 1 if near >= 0.001 else 3 if near >= 0.00001 else 5
    return f"{100 * share:.{digits}f} %"
