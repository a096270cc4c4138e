"""What the model 'synthetic' learns from: the built-in corpus with all types, some of them joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span

# Every type makes training slower by its square, and few people ask which number is whose: those that are replaced in
# the same way become one. Names are those of i2b2 2014, and of the seven where a type is wider than any of its.
JOINED: Mapping[str, str] = {
    **dict.fromkeys(("CITY", "STATE"), "LOCATION"),
    "FAX": "PHONE",
    "IPADDR": "URL",
    **dict.fromkeys(("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE"), "ID"),
    **dict.fromkeys(("BIOID", "IDNUM", "USERNAME"), "ID"),
}


def builtin_corpus() -> Corpus:
    """Training and development texts: notes, messages, queries, forms, tables, and text from outside the clinic."""
    from crfdeid.corpora.synthetic import generate_all_types  # noqa: PLC0415  Faker takes long to import.

    made = generate_all_types()
    return Corpus("synthetic (all types)", "synthetic", "all", _joined(made.train), _joined(made.dev), None)


def _joined(documents: Iterable[Document]) -> Split:
    return Split.of(replace(document, spans=tuple(map(_renamed, document.spans))) for document in documents)


def _renamed(span: Span) -> Span:
    return span._replace(label=JOINED.get(span.label, span.label))
