"""Small corpora for the scores of challenges: one invented text, and random spans on it."""

from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.evaluation import Counts

TEXT = "Ann Roe, 03/14; Elm St. 5 (Tawn) - Dr. Lark 77 years"
LABELS = st.sampled_from(["PATIENT", "DATE", "DOCTOR", "CITY"])
SPANS = st.lists(
    st.builds(lambda a, n, label: Span(a, min(a + n, len(TEXT)), label), st.integers(0, 51), st.integers(1, 9), LABELS),
    max_size=6,
    unique=True,
)
NOTES = st.lists(st.tuples(SPANS, SPANS), max_size=4)
"""Notes as (gold spans, predicted spans)."""


def corpus(notes):
    """Notes as what the scores take: documents, and predictions by id."""
    gold = [Document(str(n), TEXT, tuple(spans)) for n, (spans, _) in enumerate(notes)]
    return gold, {str(n): spans for n, (_, spans) in enumerate(notes)}


def compared(sets):
    """The counts of (gold, predicted) sets of items."""
    return sum((Counts(len(g & p), len(p - g), len(g - p)) for g, p in sets), Counts())
