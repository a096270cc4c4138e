"""Every rule: expressions that look like PHI whatever stands around them.

They are tried on each sentence with one space for any white space, in the order of the table; what an earlier rule has
matched, a later one does not match again.

rule.py       what a rule is
checks.py     checksums
online.py     e-mail, web, IP and hardware addresses
checked.py    numbers whose check digits say what they are
named.py      numbers after the name of their field
contact.py    telephones, faxes, postal codes, streets
times.py      dates, ages over 89
institutions.py  universities, health centres and the like
makers.py     firms after what they make
people.py     relatives, ages, professions
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crfdeid.rules.checked import CHECKED
from crfdeid.rules.contact import CONTACT
from crfdeid.rules.institutions import INSTITUTIONS
from crfdeid.rules.makers import MAKERS
from crfdeid.rules.named import NAMED
from crfdeid.rules.online import ONLINE
from crfdeid.rules.people import PEOPLE
from crfdeid.rules.rule import Rule
from crfdeid.rules.times import TIMES
from features.patterns import single_spaced
from features.tokens import Sentence, tokenize

RULES: tuple[Rule, ...] = (*ONLINE, *NAMED, *CHECKED, *CONTACT, *TIMES, *INSTITUTIONS, *MAKERS, *PEOPLE)

# A find is no part of a longer word, number or chain of numbers.
_BEFORE, _AFTER = r"(?<![\w@])(?<!\d[-/.])", r"(?!\w)(?![-/.]\d)"
# Between the name of a field and its value: "no.", ":", "#", "is". "number" in a name is any of the words for one.
_NUMBER_WORDS = frozenset(
    ("number", "numbers", "num", "nr", "no", "nº", "n", "número", "numero", "id", "code", "card", "#")
)
_NUMBER = r"(?:numbers?|(?:num|nr|no|n[º°])\.?|n\.[ºo°]|número|numero|id|code|card|#)"
_GAP = rf"(?<![^\W\d_](?=[^\W\d_]))(?:\s?[#:.,º°=-]|\s?(?:{_NUMBER}|is|was|es)(?!\w)){{0,4}}\s?\(??"
_WORTH_A_LOOK = re.compile(r"\d|@|www|://|\w\.[a-z]{2}", re.IGNORECASE)
_DIGIT = re.compile(r"\d")


def _expression(rule: Rule) -> str:
    """The whole expression of a rule."""
    if not rule.after:
        return f"{_BEFORE}(?:{rule.form}){_AFTER}"
    plain = (re.escape(name).replace("\\ ", " ?").replace("'", "['’]") for name in rule.after)
    names = (name.replace("number", _NUMBER) for name in plain)
    value = rule.form if "?P<value>" in rule.form else f"(?P<value>{rule.form})"
    return f"{_BEFORE}(?:{'|'.join(names)}){_GAP}(?:{value}){_AFTER}"


def _words(rule: Rule) -> frozenset[str]:
    """Tokens in lower case, one of which stands in every sentence in which a rule finds something; none for any."""
    starts = {tokenize(name)[0].text for name in rule.after}
    return frozenset(starts - {"number"} | (_NUMBER_WORDS if "number" in starts else set())) or frozenset(rule.words)


class _Compiled(NamedTuple):
    """A rule, what is looked for, and the tokens one of which a sentence must have for that."""

    rule: Rule
    form: re.Pattern[str]
    words: frozenset[str]


_COMPILED = [_Compiled(rule, re.compile(_expression(rule), re.IGNORECASE), _words(rule)) for rule in RULES]

# Words of the rules for what may have no digit and none of the signs above.
_WORDS = frozenset(word for rule in (*INSTITUTIONS, *MAKERS, *PEOPLE) if not rule.digits for word in _words(rule))


def find_rules(sentence: Sentence) -> Iterator[tuple[Rule, int, int]]:
    """What the rules find in a sentence: the rule, the first token, and the token after the last.

    Example:
        >>> from features.tokens import split_sentences
        >>> [(rule.name, a, b) for rule, a, b in find_rules(split_sentences("MRN: 48-2213, seen 3/14/72")[0])]
        [('record number', 2, 5), ('date', 7, 12)]
    """
    text, token_at = single_spaced(sentence)
    words = [token.text.lower() for token in sentence.tokens]
    if not _WORTH_A_LOOK.search(text) and _WORDS.isdisjoint(words):
        return
    taken = [False] * len(sentence.tokens)
    for rule, start, end in _matches(text, words):
        first, stop = token_at[start], token_at[end - 1] + 1
        if not any(taken[first:stop]):
            taken[first:stop] = [True] * (stop - first)
            yield rule, first, stop


def _matches(text: str, words: Sequence[str]) -> Iterator[tuple[Rule, int, int]]:
    """What each rule matches in a text, whatever the others do: the rule and the place of the value."""
    digits = len(_DIGIT.findall(text))
    for rule, form, needed in _COMPILED:
        # Most rules are done with here: that is what makes so many of them cheap.
        if digits < rule.digits or (needed and needed.isdisjoint(words)):
            continue
        for match in form.finditer(text):
            start, end = match.span(match.lastgroup or 0)
            end = _right_end(rule, text, start, end)
            if end > start:
                yield rule, start, end


def _right_end(rule: Rule, text: str, start: int, end: int) -> int:
    """Where the longest right value ends that begins where a match does and ends there or before a gap; else 0.

    "4929 5260 1815 9081 12" is the number of a card, which has a right check digit, and another number.
    """
    if rule.check is None:
        return end
    while end > start and not rule.check(text[start:end]):
        end = max(text.rfind(" ", start, end), text.rfind("-", start, end))
    return end
