"""Every rule: expressions that look like PHI whatever stands around them.

They are tried on each sentence with one space for any white space, in the order of the table; what an earlier rule has
matched, a later one does not match again.

rule.py       what a rule is
gates.py      what must be in a sentence for a rule to be tried
checks.py     checksums
online.py     e-mail, web, IP and hardware addresses
checked.py    numbers whose check digits say what they are
named.py      numbers after the name of their field
contact.py    telephones, faxes, postal codes, streets
times.py      dates, ages over 89
institutions.py  universities, health centres and the like
makers.py     firms after what they make
names.py      names of people after a title, a role, a word for the patient, a relative or a signature
name_words.py the checks of names.py, by words that are names and words of the language (name_words.txt)
people.py     relatives, ages, sexes, professions
places.py     provinces, states, countries
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import ge, itemgetter
from typing import NamedTuple

from crfdeid.rules.checked import CHECKED
from crfdeid.rules.contact import CONTACT
from crfdeid.rules.gates import HAS_DIGIT, NO_NUMBERS, Needs, Numbers, numbers_in, numbers_of, parts_of
from crfdeid.rules.institutions import INSTITUTIONS
from crfdeid.rules.makers import MAKERS
from crfdeid.rules.named import NAMED
from crfdeid.rules.names import NAMES
from crfdeid.rules.online import ONLINE
from crfdeid.rules.people import PEOPLE
from crfdeid.rules.places import PLACES
from crfdeid.rules.rule import Rule
from crfdeid.rules.times import TIMES
from features.patterns import folded
from features.tokens import Sentence

RULES: tuple[Rule, ...] = (
    *ONLINE,
    *NAMED,
    *CHECKED,
    *CONTACT,
    *TIMES,
    *INSTITUTIONS,
    *NAMES,
    *PEOPLE,
    *PLACES,
    *MAKERS,
)

# A find is no part of a longer word, number or chain of numbers.
_BEFORE, _AFTER = r"(?<![\w@])(?<!\d[-/.])", r"(?!\w)(?![-/.]\d)"
# Between the name of a field and its value: "no.", ":", "#", "is". "number" in a name is any of the words for one.
_NUMBER = r"(?:numbers?|(?:num|nr|no|n[º°])\.?|n\.[ºo°]|número|numero|id|code|card|#)"
_GAP = rf"(?<![^\W\d_](?=[^\W\d_]))(?:\s?[#:;|.,º°=-]|\s?(?:{_NUMBER}|is|was|es)(?!\w)){{0,4}}\s?\(??"


def _expression(rule: Rule) -> str:
    """The whole expression of a rule."""
    if not rule.after:
        return f"{_BEFORE}(?:{rule.form}){_AFTER}"
    plain = (re.escape(name).replace("\\ ", " ?").replace("'", "['’]") for name in rule.after)
    names = (name.replace("number", _NUMBER) for name in plain)
    value = rule.form if "?P<value>" in rule.form else f"(?P<value>{rule.form})"
    return f"{_BEFORE}(?:{'|'.join(names)}){_GAP}(?:{value}){_AFTER}"


class _Compiled(NamedTuple):
    """A rule, what is looked for, and what must be there for that.

    Attributes:
        rule: the rule.
        form: its whole expression.
        small: whether that is for the text in small letters (`features.patterns.folded`), which is faster.
        sign: what stands in every find; none for anything.
        parts: words in lower case, one of which stands in every find, be it in another; none for any.
        numbers: the digits that a find has at least.
        needs: bits, of each of which the tokens of a sentence need one.
        at: for a row of several rules with `Rule.near`: by the word in lower case at which they are tried, each with
            its number and its expression.
    """

    rule: Rule
    form: re.Pattern[str]
    small: bool
    sign: re.Pattern[str] | None
    parts: Sequence[str]
    numbers: Numbers
    needs: Sequence[int]
    at: Mapping[str, Sequence[tuple[int, Rule, re.Pattern[str]]]]


# What makes an expression hang on case: a capital that is neither a class (\W) nor the name of a group.
_CAPITAL = re.compile(r"\(\?-i:|(?<!\\)(?<!\(\?)[A-ZÀ-ÖØ-Þ]")


def _compiled(rule: Rule) -> _Compiled:
    form, sign = _expression(rule), re.compile(rule.sign) if rule.sign else None
    small = not _CAPITAL.search(form)
    compiled = re.compile(form) if small else re.compile(form, re.IGNORECASE)
    return _Compiled(rule, compiled, small, sign, parts_of(rule), numbers_of(rule), _NEEDS.of_rules[rule.name], {})


def _rows() -> Iterator[_Compiled]:
    """The rules; neighbours that are tried at a word share one row."""
    for near, rules in groupby(RULES, key=lambda rule: rule.near > 0):
        compiled = [*map(_compiled, rules)]
        if not near:
            yield from compiled
            continue
        at: dict[str, list[tuple[int, Rule, re.Pattern[str]]]] = defaultdict(list)
        for number, item in enumerate(compiled):
            for word in set(item.rule.words):
                at[word].append((number, item.rule, item.form))
        yield compiled[0]._replace(at=dict(at))


_NEEDS = Needs(RULES)
_COMPILED = tuple(_rows())
_MOST = Numbers(*map(max, *map(numbers_of, RULES)))  # more make no difference


def find_rules(sentence: Sentence) -> Iterator[tuple[Rule, int, int]]:
    """What the rules find in a sentence: the rule, the first token, and the token after the last.

    Example:
        >>> from features.tokens import split_sentences
        >>> [(rule.name, a, b) for rule, a, b in find_rules(split_sentences("MRN: 48-2213, seen 3/14/72")[0])]
        [('record number', 2, 5), ('date in digits', 7, 12)]
    """
    yield from next(find_rules_in([sentence]))


def find_rules_in(sentences: Sequence[Sentence]) -> Iterator[list[tuple[Rule, int, int]]]:
    """What the rules find in each of some sentences (`find_rules`): what many tokens need is told at once."""
    all_bits, all_cues = _NEEDS.with_cues([sentence.tokens for sentence in sentences])
    for number, (sentence, bits) in enumerate(zip(sentences, all_bits, strict=True)):
        # Half of all sentences are done with before their text is put together.
        possible = _possible(bits, _MOST if bits & HAS_DIGIT else NO_NUMBERS)
        yield list(_found(sentence, bits, all_cues.get(number, ()))) if possible else []


def _found(sentence: Sentence, bits: int, cues: Sequence[int]) -> Iterator[tuple[Rule, int, int]]:
    """The finds of the rules in a sentence whose tokens have these bits of `Needs`, and `Needs.cue` at these places."""
    text = sentence.spaced
    numbers = tuple(map(min, numbers_in(text), _MOST)) if bits & HAS_DIGIT else NO_NUMBERS
    ends = sentence.token_ends() if cues else []
    words = [(sentence.tokens[place][0], ends[place]) for place in cues]
    taken: set[int] = set()
    for rule, start, end in _matches(text, _possible(bits, numbers), words):
        ends = ends or sentence.token_ends()
        found = range(bisect_right(ends, start), bisect_right(ends, end - 1) + 1)
        if taken.isdisjoint(found):
            taken.update(found)
            yield rule, found.start, found.stop


def _matches(text: str, rules: Sequence[_Compiled], cues: Sequence[tuple[str, int]]) -> Iterator[tuple[Rule, int, int]]:
    """What each of some rules matches in a text, whatever the others do: the rule and the place of the value.

    Args:
        text: a sentence with one space for any white space.
        rules: those that its tokens and digits allow.
        cues: the words of it at which rules with ``near`` are tried, and where each ends.
    """
    lower = ""
    for rule, form, small, sign, parts, _, _, at in rules:
        if at:
            yield from _matches_at(text, at, cues)
            continue
        # Most rules are done with by here: that is what makes so many of them cheap.
        if sign and not sign.search(text):
            continue
        lower = lower or folded(text)
        if parts and not any([part in lower for part in parts]):  # noqa: C419  A list is faster here than a generator.
            continue
        for match in form.finditer(lower if small else text):
            start, end = match.span(match.lastgroup or 0)
            end = _right_end(rule, text, start, end)
            if end > start:
                yield rule, start, end


def _matches_at(
    text: str, at: Mapping[str, Sequence[tuple[int, Rule, re.Pattern[str]]]], cues: Sequence[tuple[str, int]]
) -> Iterator[tuple[Rule, int, int]]:
    """The matches of rules at certain words, in the order of the table."""
    tried = [(number, end - len(word), rule, form) for word, end in cues for number, rule, form in at[word.lower()]]
    for _, place, rule, form in sorted(tried, key=itemgetter(0, 1)) if len(tried) > 1 else tried:
        match = form.match(text, place)
        if match:
            start, end = match.span(match.lastgroup or 0)
            end = _right_end(rule, text, start, end)
            if end > start:
                yield rule, start, end


@lru_cache(maxsize=1 << 14)
def _possible(bits: int, numbers: tuple[int, ...]) -> Sequence[_Compiled]:
    """The rules that can find something in a sentence whose tokens have these bits, and that has so many digits."""
    return tuple(
        item for item in _COMPILED if all(map(ge, numbers, item.numbers)) and all(bits & need for need in item.needs)
    )


def _right_end(rule: Rule, text: str, start: int, end: int) -> int:
    """Where the longest right value ends that begins where a match does and ends there or before a gap; else 0.

    "4929 5260 1815 9081 12" is the number of a card, which has a right check digit, and another number.
    """
    if rule.check is None:
        return end
    while end > start and not rule.check(text[start:end]):
        end = max(text.rfind(mark, start, end) for mark in " -,")
    return end
