"""The casing class of a word (friedrich2019, section 3)."""

from __future__ import annotations

CASINGS = ("numeric", "mainly numeric", "all lower", "all upper", "initial upper", "contains digit", "other")
"""Reimers and Gurevych's casing classes (friedrich2019, section 3)."""


def casing(word: str) -> int:
    """The number of a word's casing class.

    Example:
        >>> [CASINGS[casing(word)] for word in ("72", "03a4", "mg", "MRI", "McCoy", "xB1", "%")]
        ['numeric', 'mainly numeric', 'all lower', 'all upper', 'initial upper', 'contains digit', 'other']
    """
    digits = sum(map(str.isdigit, word))
    if digits == len(word):
        return 0
    if digits / len(word) > 0.5:
        return 1
    if word.islower():
        return 2
    if word.isupper():
        return 3
    if word[0].isupper():
        return 4
    return 5 if digits else 6
