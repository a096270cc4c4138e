"""What must stand in a sentence for a rule to find something there. Most rules are done with by that, in no time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import or_
from typing import NamedTuple

from crfdeid.rules.rule import Rule
from features.tokens import Token, tokenize

# The words for a number; "number" in the name of a rule's field is any of them.
_NUMBER_WORDS = frozenset(
    ("number", "numbers", "num", "nr", "no", "nº", "n", "número", "numero", "id", "code", "card", "#")
)
_LETTERS = re.compile(r"[^\W\d_]+(?:[./][^\W\d_]+)*[.:]?")
_DIGIT, _RUN, _DENSE = re.compile(r"\d"), re.compile(r"\d+"), re.compile(r"\d\S*")
_CHAIN = re.compile(r"\d[\d ()./+-]*")
HAS_DIGIT = 1  # the first bit of `Needs`
LEAST_CHAIN = 7  # digits


class Numbers(NamedTuple):
    """The digits of a text, or those that a find has at least: all of them, and the most of each kind (see `Rule`)."""

    digits: int
    run: int
    dense: int
    chain: int


NO_NUMBERS = Numbers(0, 0, 0, 0)


def numbers_of(rule: Rule) -> Numbers:
    """The digits that what a rule finds has at least."""
    return Numbers(rule.digits, rule.run, rule.dense, rule.chain)


def words_of(rule: Rule) -> frozenset[str]:
    """Tokens in lower case, one of which stands in every sentence in which a rule finds something; none for any."""
    starts = {tokenize(name)[0].text for name in rule.after}
    return frozenset(starts - {"number"} | (_NUMBER_WORDS if "number" in starts else set())) or frozenset(rule.words)


def parts_of(rule: Rule) -> list[str]:
    """For each name of a rule's field its longest word, which stands in it however it is written."""
    longest = {max(_LETTERS.findall(name.replace("number", " ")), key=len, default="") for name in rule.after}
    return sorted(part for part in longest if not any(other in part for other in longest - {part}))


def numbers_in(text: str) -> tuple[int, int, int, int]:
    """The `Numbers` of a text with one space for any white space, as a plain tuple, which is faster.

    Example:
        >>> numbers_in("on 3/14/72 at 10, call 555-0134")
        (14, 4, 8, 7)
    """
    dense = _DENSE.findall(text)
    runs = [*map(len, _RUN.findall(" ".join(dense)))]
    digits = sum(runs)
    # Chains are asked for only where there are digits enough for a telephone.
    chains = [len(_DIGIT.findall(part)) for part in _CHAIN.findall(text)] if digits >= LEAST_CHAIN else ()
    return digits, max(runs, default=0), max(map(len, dense), default=0), max(chains, default=0)


class Needs(dict[str, int]):
    r"""What a token has of what rules need, a bit for each need.

    The needs are a digit, one of a rule's words, and what a rule says of a token. It learns tokens as they come, and
    forgets them all when they are too many.

    Args:
        rules: the rules.
        kept: how many tokens it knows at a time.

    Example:
        >>> room = Rule("room", r"\d{3}[a-d]?", ("ROOM",), (), (), after=("room",), digits=3)
        >>> needs = Needs([room])
        >>> needs.of_rules["room"], [needs[token] for token in ("Room", "214", "b")], needs.among(tokenize("Room 214b"))
        ((1, 2), [2, 1, 0], 3)
    """

    def __init__(self, rules: Iterable[Rule], *, kept: int = 1 << 16) -> None:
        self._kept = kept
        self._by_word: dict[str, int] = defaultdict(int)
        self._by_form: list[tuple[Callable[[str], object], int]] = [(_DIGIT.search, HAS_DIGIT)]
        self._last = HAS_DIGIT
        self.of_rules = {rule.name: tuple(self._add(rule)) for rule in rules}

    def _add(self, rule: Rule) -> Iterator[int]:
        """The bits that a rule needs."""
        if rule.digits:
            yield HAS_DIGIT
        words = words_of(rule)
        if words:
            self._last <<= 1
            for word in words:
                self._by_word[word] |= self._last
            yield self._last
        if rule.token:
            self._last <<= 1
            self._by_form.append((re.compile(rule.token).search, self._last))
            yield self._last

    def __missing__(self, token: str) -> int:
        bits = self._by_word.get(token.lower(), 0)
        for found, bit in self._by_form:
            if found(token):
                bits |= bit
        if len(self) >= self._kept:
            self.clear()
        self[token] = bits
        return bits

    def among(self, tokens: Iterable[Token]) -> int:
        """The bits of all that some tokens have."""
        return reduce(or_, {self[token[0]] for token in tokens}, 0)
