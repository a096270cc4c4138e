"""Shares of network addresses that the built-in rules find, and of near misses that they mark, by the list."""

from __future__ import annotations

import re

import network_addresses
import pytest

from crfdeid.pipeline import Deidentifier
from crfdeid.rules.tagger import RulesTagger

RULES = Deidentifier(RulesTagger.untrained(), consistent=False)
TYPES = ("IPADDR", "DEVICE")


def is_found(marked: str) -> bool:
    """True if every character between « and » is inside a span of any type."""
    parts = re.split("[«»]", marked)
    wanted = [i % 2 == 1 for i, part in enumerate(parts) for _ in part]
    spans = RULES.annotate("".join(parts)).spans
    return all(any(span.start <= i < span.end for span in spans) for i, asked in enumerate(wanted) if asked)


@pytest.mark.parametrize("kind", ["IPV4", "IPV6", "MAC"])
def test_addresses_are_found_in_all_standard_forms(kind: str) -> None:
    forms, near = getattr(network_addresses, kind), getattr(network_addresses, f"NO_{kind}")
    assert len(forms) == len(near) == 50
    assert sum(map(is_found, forms)) >= 0.95 * len(forms)
    marked = [text for text in near if any(span.label in TYPES for span in RULES.annotate(text).spans)]
    assert len(marked) <= 0.05 * len(near), marked
