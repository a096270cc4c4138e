"""What was given and what a model found, as one."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from crfdeid.documents import Span
from crfdeid.given.encoded import decoded_forms
from crfdeid.given.known import Known
from crfdeid.given.site import Site
from crfdeid.spans import merge
from features.normal import NormalText, normal_form


def given_in(raw: str, known: Known | None, site: Site, labels: Mapping[str, str]) -> list[Span]:
    """Spans to hide in a text whatever a model finds, the record's before the site's; they may overlap.

    A text with HTML entities or percent-encoded words is searched twice: raw and decoded.

    Args:
        raw: a note.
        known: what the record says of its patient; None where nothing is known.
        site: the site's lists.
        labels: what each kind of identifier is called, from `crfdeid.given.known.labels_for`.

    Raises:
        DataError: a site's pattern takes too long, or the text is encoded too many times over.
    """
    if known is None and not site:
        return []
    found = list(_given_in(normal_form(raw), known, site, labels))
    for form in decoded_forms(raw):
        found += _given_in(_normal(form), known, site, labels)
    return found


def _given_in(form: NormalText, known: Known | None, site: Site, labels: Mapping[str, str]) -> Iterator[Span]:
    text, offsets = form
    for start, end, label in chain(known.find(text, labels) if known else (), site.find(text)):
        if offsets is None:
            yield Span(start, end, label)
        else:
            while offsets[end] == offsets[end - 1]:  # within characters that share their place
                end += 1  # noqa: PLW2901
            yield Span(offsets[start], offsets[end], label)


def _normal(form: NormalText) -> NormalText:
    """The normal form of a decoded text, with offsets into the raw text."""
    text, inner = normal_form(form.text)
    if inner is None or form.offsets is None:
        return NormalText(text, form.offsets)
    return NormalText(text, array("q", map(form.offsets.__getitem__, inner)))


def add_given(found: Sequence[Span], given: Iterable[Span]) -> list[Span]:
    """The spans of a model and those that have to be hidden whatever it says.

    Those that share a character become one, with the type of the longest. Of two in the same place what was given
    counts, and of several that were given the first: put those of the record before those of a site.

    Example:
        >>> add_given([Span(0, 5, "DOCTOR"), Span(9, 20, "ID")], [Span(0, 5, "PATIENT"), Span(12, 14, "DATE")])
        [Span(start=0, end=5, label='PATIENT'), Span(start=9, end=20, label='ID')]
    """
    first: dict[tuple[int, int], Span] = {}
    for span in given:
        first.setdefault((span.start, span.end), span)
    return merge([*first.values(), *(span for span in found if (span.start, span.end) not in first)])
