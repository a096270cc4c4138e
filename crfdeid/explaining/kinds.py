"""The kinds of feature strings, told by how they begin."""

from __future__ import annotations

import re

_NAME = re.compile(r"([\w+]*?)(?:\[([^\]]*)\]|:[^=]*)?(?:=|\+\d+=)(.*)", re.DOTALL)
_LONGEST_AFFIX = 4  # of `features.orthography.Affixes`

KINDS = {
    "w": "word",
    "lower": "word",
    "before": "far word",
    "after": "far word",
    "shape": "shape",
    "caps": "capitals",
    "prefix": "affix",
    "suffix": "affix",
    "pattern": "pattern",
    "class": "word class",
    "sentence": "layout",
    "heading": "layout",
    "place": "layout",
    "field": "layout",
    "prefix+lower": "layout",
    "prefix+shape": "layout",
    "pos": "part of speech",
    "chunk": "part of speech",
    "w0": "part of speech",
    "list": "list",
    "cluster": "cluster",
}
"""How the strings of the library's own extractors begin, and the kind that they are of."""

OTHER = "other"
HASHED = "hashed"
"""The kind of a string that cannot be read: it is stored as a keyed hash."""


def kind_of(name: str) -> str:
    """The kind of a feature string; `OTHER` for one of an extractor that is not the library's.

    A line's prefix and a word's prefix are both written ``prefix=…``: what is longer than the longest affix is taken
    for a line's.

    Example:
        >>> [kind_of(name) for name in ("lower[-1]=dr", "lower[-1,0]=dr quill", "prefix=qui", "prefix=attending")]
        ['word', 'n-gram', 'affix', 'layout']
    """
    found = _NAME.match(name)
    if found is None:
        return OTHER
    head, places, value = found[1], found[2] or "", found[3]
    if head in ("w", "lower") and "," in places:
        return "n-gram"
    if head == "prefix" and len(value) > _LONGEST_AFFIX:
        return "layout"
    return KINDS.get(head, OTHER)
