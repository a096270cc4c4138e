"""PHI types of all corpora in one table, and the relabelling of documents by it.

The table and its columns are in label_schemes.txt; the generated page docs/reference/types.md shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crfdeid.documents import PHI, Document, merge, merge_evidence
from crfdeid.errors import SettingError, UnknownNameError, shorten_list

_ROWS = [
    line.split(maxsplit=5)
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def _column(number: int) -> dict[str, str | None]:
    return {row[0]: None if row[number] == "-" else row[number] for row in _ROWS if row[number] != "?"}


TO_SEVEN = _column(2)
"""Type -> subtype of yadav2016, or None."""

TO_GROUP = _column(3)
"""Type -> group of johnson2020, or None; a group is its own."""

HIPAA = _column(4)
"""Type -> letter of the Safe Harbor list, or None."""

SURROGATE_KINDS: Mapping[str, str] = {row[0]: row[5].partition(": ")[0] for row in _ROWS}
"""Type -> kind of surrogate."""

NO_SURROGATE: Mapping[str, str] = {row[0]: row[5].partition(": ")[2] for row in _ROWS if row[5].startswith("none")}
"""Type without surrogates -> the reason."""

SEVEN = ("PATIENT", "DOCTOR", "HOSPITAL", "LOCATION", "PHONE", "ID", "DATE")
"""Subtypes of yadav2016, in the order of its Table 5."""

AGE, CONTACT, DATE, ID = "AGE", "CONTACT", "DATE", "ID"
LOCATION, NAME, PROFESSION = "LOCATION", "NAME", "PROFESSION"
PHI_GROUPS = (AGE, CONTACT, DATE, ID, LOCATION, NAME, PROFESSION)
"""Groups of types of johnson2020, in the order of its Table 3."""

_DIRECT_GROUPS = (NAME, CONTACT, ID)

TYPE_MAPPINGS = ("seven", "all", "binary")
"""Mappings that `map_types` knows."""

BINARY = "PHI"
"""The only type of the mapping "binary"."""


def types_in(corpus: str) -> list[str]:
    """Return the types of a corpus: "2006", "2014", "meddocan" or "asq-phi".

    Example:
        >>> types_in("2006")
        ['PATIENT', 'DOCTOR', 'HOSPITAL', 'AGE', 'DATE', 'PHONE', 'LOCATION', 'ID']
    """
    return [row[0] for row in _ROWS if corpus in row[1].split("+")]


def map_types(documents: Sequence[Document], types: str = "seven") -> list[Document]:
    """Map the types of documents' PHI spans.

    Args:
        documents: the documents, with the types of their corpus.
        types: "seven" maps to `SEVEN` and drops spans of other types, but keeps `BINARY`, the type of tokens that only
            a threshold marks (`crfdeid.thresholds.phi_spans`); "all" changes nothing; "binary" makes every span
            `BINARY` and merges spans that overlap.

    Raises:
        SettingError: an unknown mapping.
        UnknownNameError: "seven" for a corpus with a type that is not in the table.
        DataError: a document without PHI annotation.

    Example:
        >>> from crfdeid.documents import Span
        >>> map_types([Document("1", "Boston", (Span(0, 6, "CITY"),))], "seven")[0].spans
        (Span(start=0, end=6, label='LOCATION'),)
    """
    if types not in TYPE_MAPPINGS:
        raise SettingError(f"unknown types '{types}': choose from {', '.join(TYPE_MAPPINGS)}")
    for document in documents:
        document.layer(PHI)  # A document without annotation must not pass for one without PHI.
    if types == "all":
        return list(documents)
    if types == "binary":
        return [_binary(one) for one in documents]
    labels = {span.label for document in documents for span in document.spans}
    table = TO_SEVEN if labels == {BINARY} else {**TO_SEVEN, BINARY: BINARY}
    return _relabelled(documents, table, "cannot be split into the seven: choose --types all or --types binary")


def is_direct(label: str) -> bool:
    """True for types of direct identifiers: names, numbers and contacts, and types that the table does not have.

    Example:
        >>> [is_direct(label) for label in ("DOCTOR", "PHONE", "DATE", "PHI")]
        [True, True, False, True]
    """
    return TO_GROUP.get(label, NAME) in _DIRECT_GROUPS


def to_groups(documents: Sequence[Document], *, keep_unknown: bool = False) -> list[Document]:
    """Replace the type of each span by its group; spans without a group are dropped.

    Args:
        documents: the documents, with the types of their corpus.
        keep_unknown: map a type that is not in the table to `BINARY` instead of an error.

    Raises:
        UnknownNameError: a type that is not in the table.

    Example:
        >>> from crfdeid.documents import Span
        >>> to_groups([Document("1", "Boston", (Span(0, 6, "CITY"),))])[0].spans
        (Span(start=0, end=6, label='LOCATION'),)
    """
    table = TO_GROUP
    if keep_unknown:
        labels = {span.label for document in documents for span in document.spans}
        table = {**dict.fromkeys(labels, BINARY), **TO_GROUP}
    return _relabelled(documents, table, "are in none of the groups: choose --types binary")


def _binary(document: Document) -> Document:
    merged = merge_evidence(document.spans, document.evidence) if document.evidence else {}
    evidence = {span._replace(label=BINARY): one for span, one in merged.items()}
    return replace(document, spans=tuple(merge(document.spans, label=lambda parts: BINARY)), evidence=evidence)


def _relabelled(documents: Sequence[Document], table: Mapping[str, str | None], problem: str) -> list[Document]:
    counts = Counter(span.label for document in documents for span in document.spans)
    unknown = [label for label, _ in counts.most_common() if label not in table]
    if unknown:
        raise UnknownNameError(f"the types {shorten_list(unknown)} {problem}")

    def relabelled(document: Document) -> Document:
        labels = ((span, table[span.label]) for span in document.spans)
        renamed = [(span, span._replace(label=label)) for span, label in labels if label is not None]
        evidence = {new: document.evidence[old] for old, new in renamed if old in document.evidence}
        return replace(document, spans=tuple(new for _, new in renamed), evidence=evidence)

    return list(map(relabelled, documents))


def in_order(labels: Iterable[str], first: Sequence[str] = SEVEN) -> list[str]:
    """Sort types for tables: the ``first`` ones in their order, by default the seven, then the others by name.

    Example:
        >>> in_order({"ZIP", "AGE", "DATE", "PATIENT"})
        ['PATIENT', 'DATE', 'AGE', 'ZIP']
    """
    present = set(labels)
    return [*(label for label in first if label in present), *sorted(present.difference(first))]


def surrogate_kind(label: str) -> str:
    """Return the kind of surrogate of a type, "none" for an unknown type.

    Example:
        >>> surrogate_kind("FECHAS"), surrogate_kind("PHI")
        ('date', 'none')
    """
    return SURROGATE_KINDS.get(label, "none")


def types_without_answer(labels: Iterable[str]) -> list[str]:
    """Return the types that are not in `HIPAA`, sorted.

    Example:
        >>> types_without_answer({"PATIENT", "NAME"})  # NAME may be a patient's or a doctor's
        ['NAME']
    """
    return sorted(set(labels).difference(HIPAA))


def approximate_types(labels: Iterable[str]) -> list[str]:
    """Return the types that i2b2 2014 lacks, sorted; they make scores over HIPAA's types approximate.

    Example:
        >>> approximate_types({"PATIENT", "LOCATION"})
        ['LOCATION']
    """
    return sorted(set(labels).difference(types_in("2014")))
