"""What must stand in a sentence for a rule to find something there. Most rules are done with by that, in no time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from crfdeid.rules.rule import Rule
from features.tokens import Token, tokenize

# The words for a number; "number" in the name of a rule's field is any of them.
_NUMBER_WORDS = frozenset(
    ("number", "numbers", "num", "nr", "no", "nº", "n", "número", "numero", "id", "code", "card", "#")
)
_LETTERS = re.compile(r"[^\W\d_]+(?:[./][^\W\d_]+)*[.:]?")
_RUN, _DENSE = re.compile(r"\d+"), re.compile(r"\d\S*")
_CHAIN, _WITHOUT_MARKS = re.compile(r"\d[\d ()./+-]*"), str.maketrans("", "", " ()./+-")
HAS_DIGIT = 1  # the first bit of `Needs`
LEAST_CHAIN = 7  # digits
_CAPITAL = r"^[A-ZÀ-ÖØ-ÞŠŽŁ]"


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
    if not dense:
        return NO_NUMBERS
    runs = [*map(len, _RUN.findall(" ".join(dense)))]
    digits = sum(runs)
    # Chains are asked for only where there are digits enough for a telephone.
    chains = [len(part.translate(_WITHOUT_MARKS)) for part in _CHAIN.findall(text)] if digits >= LEAST_CHAIN else ()
    return digits, max(runs), max(map(len, dense)), max(chains, default=0)


class Needs(dict[str, int]):
    r"""What a token has of what rules need, a bit for each need.

    The needs are a digit, so many in a row, one of a rule's words, and what a rule says of a token; 63 at most. It
    learns tokens as they come, and forgets them all when they are too many.

    Args:
        rules: the rules.
        kept: how many tokens it knows at a time.

    Attributes:
        of_rules: the bits that each rule needs, by its name.
        cue: the bit of tokens that a rule with ``near`` begins with; `among` leaves it out where no capital is near.

    Example:
        >>> room = Rule("room", r"\d{3}[a-d]?", ("ROOM",), (), (), after=("room",), digits=3)
        >>> needs = Needs([room])
        >>> needs.of_rules["room"], [needs[token] for token in ("Room", "214", "b")]
        ((1, 2), [2, 1, 0])
        >>> needs.among([tokenize("Room 214b"), tokenize("Room")])
        [3, 2]
    """

    def __init__(self, rules: Sequence[Rule], *, kept: int = 1 << 16) -> None:
        self._kept = kept
        self._by_word: dict[str, int] = defaultdict(int)
        self._by_form: list[tuple[Callable[[str], object], int]] = []
        self._bits: dict[frozenset[str] | str, int] = {}
        self._of_form(r"\d")
        cues = [rule for rule in rules if rule.near]
        self._near = max([rule.near for rule in cues], default=0)
        self._capital = self._of_form(_CAPITAL) if cues else 0
        self.cue = self._of_words(frozenset(word for rule in cues for word in rule.words)) if cues else 0
        self.of_rules = {rule.name: tuple(self._of_rule(rule)) for rule in rules}

    def _of_rule(self, rule: Rule) -> Iterator[int]:
        """The bits that a rule needs."""
        if rule.digits:
            yield HAS_DIGIT
        if rule.run:
            yield self._of_form(rf"\d{{{rule.run}}}")
        if rule.near:
            yield self.cue
        elif words_of(rule):
            yield self._of_words(words_of(rule))
        if rule.token:
            yield self._of_form(rule.token)

    def _of_words(self, words: frozenset[str]) -> int:
        """The bit of tokens that are one of some words."""
        if words not in self._bits:
            self._bits[words] = 1 << len(self._bits)
            for word in words:
                self._by_word[word] |= self._bits[words]
        return self._bits[words]

    def _of_form(self, form: str) -> int:
        """The bit of tokens in which an expression is found."""
        if form not in self._bits:
            self._bits[form] = 1 << len(self._bits)
            self._by_form.append((re.compile(form).search, self._bits[form]))
        return self._bits[form]

    def __missing__(self, token: str) -> int:
        bits = self._by_word.get(token.lower(), 0)
        for found, bit in self._by_form:
            if found(token):
                bits |= bit
        if len(self) >= self._kept:
            self.clear()
        self[token] = bits
        return bits

    def among(self, sentences: Sequence[Sequence[Token]]) -> list[int]:
        """The bits of all that the tokens of each sentence have."""
        return self.with_cues(sentences)[0]

    def with_cues(self, sentences: Sequence[Sequence[Token]]) -> tuple[list[int], dict[int, list[int]]]:
        """The bits as of `among`, and of each sentence with a token that has `cue`, by its number, their places."""
        words = chain.from_iterable([*[token[0] for token in tokens], ""] for tokens in sentences)  # "" has none
        ends = np.cumsum([len(tokens) + 1 for tokens in sentences])
        if not len(ends):
            return [], {}
        bits = np.fromiter(map(self.__getitem__, words), np.int64, int(ends[-1]))
        cues: dict[int, list[int]] = {}
        if self._near:
            capital = (bits & self._capital) != 0
            near = np.zeros(len(bits), bool)
            for step in range(1, self._near + 1):
                near[:-step] |= capital[step:]
            bits[~near] &= ~self.cue
            places = np.flatnonzero(bits & self.cue)
            numbers = np.searchsorted(ends, places, "right")
            first = np.where(numbers, ends[numbers - 1], 0)
            for number, place in zip(numbers.tolist(), (places - first).tolist(), strict=True):
                cues.setdefault(number, []).append(place)
        found: list[int] = np.bitwise_or.reduceat(bits, [0, *ends[:-1]]).tolist()
        return found, cues
