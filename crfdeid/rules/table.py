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
people.py     relatives, ages, sexes, professions
places.py     provinces, states, countries
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from crfdeid.rules.checked import CHECKED
from crfdeid.rules.contact import CONTACT
from crfdeid.rules.institutions import INSTITUTIONS
from crfdeid.rules.makers import MAKERS
from crfdeid.rules.named import NAMED
from crfdeid.rules.online import ONLINE
from crfdeid.rules.people import PEOPLE
from crfdeid.rules.places import PLACES
from crfdeid.rules.rule import Rule
from crfdeid.rules.times import TIMES
from features.patterns import single_spaced
from features.tokens import Sentence, tokenize

RULES: tuple[Rule, ...] = (*ONLINE, *NAMED, *CHECKED, *CONTACT, *TIMES, *INSTITUTIONS, *PEOPLE, *PLACES, *MAKERS)

# A find is no part of a longer word, number or chain of numbers.
_BEFORE, _AFTER = r"(?<![\w@])(?<!\d[-/.])", r"(?!\w)(?![-/.]\d)"
# Between the name of a field and its value: "no.", ":", "#", "is". "number" in a name is any of the words for one.
_NUMBER_WORDS = frozenset(
    ("number", "numbers", "num", "nr", "no", "nº", "n", "número", "numero", "id", "code", "card", "#")
)
_NUMBER = r"(?:numbers?|(?:num|nr|no|n[º°])\.?|n\.[ºo°]|número|numero|id|code|card|#)"
_GAP = rf"(?<![^\W\d_](?=[^\W\d_]))(?:\s?[#:.,º°=-]|\s?(?:{_NUMBER}|is|was|es)(?!\w)){{0,4}}\s?\(??"
_DIGITS = re.compile(r"\d+")
_DIGIT_OR_AT = re.compile(r"[\d@]")
_DOTTED = re.compile(r"\.(?<=\w\.)[a-z]{2}", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+(?:[./][^\W\d_]+)*[.:]?")


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
        sign: what stands in every find.
        parts: words in lower case, one of which stands in every find, be it in another; none for any.
    """

    rule: Rule
    form: re.Pattern[str]
    sign: re.Pattern[str]
    parts: Sequence[str]


def _words(rule: Rule) -> frozenset[str]:
    """Tokens in lower case, one of which stands in every sentence in which a rule finds something; none for any."""
    starts = {tokenize(name)[0].text for name in rule.after}
    return frozenset(starts - {"number"} | (_NUMBER_WORDS if "number" in starts else set())) or frozenset(rule.words)


def _parts(rule: Rule) -> list[str]:
    """For each name of a rule's field its longest word, which stands in it however it is written."""
    longest = {max(_LETTERS.findall(name.replace("number", " ")), key=len, default="") for name in rule.after}
    return sorted(part for part in longest if not any(other in part for other in longest - {part}))


def _places_by_word() -> Mapping[str, Sequence[int]]:
    """For each token in lower case the places of the rules that it is needed for; "" for those that need none."""
    found: dict[str, list[int]] = defaultdict(list)
    for place, rule in enumerate(RULES):
        for word in _words(rule) or ("",):
            found[word].append(place)
    return found


_COMPILED = tuple(
    _Compiled(rule, re.compile(_expression(rule), re.IGNORECASE), re.compile(rule.sign), _parts(rule)) for rule in RULES
)
_PLACES = dict(_places_by_word())
# More of them make no difference.
_MOST_DIGITS, _MOST_RUN = max(rule.digits for rule in RULES), max(rule.run for rule in RULES)

# Words of the rules for what may have no digit and none of the signs above.
_WORDS = frozenset(
    word for rule in (*INSTITUTIONS, *PEOPLE, *PLACES, *MAKERS) if not rule.digits for word in _words(rule)
)


def find_rules(sentence: Sentence) -> Iterator[tuple[Rule, int, int]]:
    """What the rules find in a sentence: the rule, the first token, and the token after the last.

    Example:
        >>> from features.tokens import split_sentences
        >>> [(rule.name, a, b) for rule, a, b in find_rules(split_sentences("MRN: 48-2213, seen 3/14/72")[0])]
        [('record number', 2, 5), ('date', 7, 12)]
    """
    words = sentence.words
    known = _PLACES.keys() & "\n".join(("", *words)).lower().split("\n")
    if _WORDS.isdisjoint(known) and not _is_worth_a_look("".join(words)):
        return
    text, ends = single_spaced(sentence)
    taken = [False] * len(ends)
    for rule, start, end in _matches(text, frozenset(known)):
        first, stop = bisect_right(ends, start), bisect_right(ends, end - 1) + 1
        if not any(taken[first:stop]):
            taken[first:stop] = [True] * (stop - first)
            yield rule, first, stop


def _is_worth_a_look(text: str) -> bool:
    """Whether there is a digit, or what addresses have; half of all sentences have neither."""
    if _DIGIT_OR_AT.search(text):
        return True
    return "www" in text.lower() or "://" in text or _DOTTED.search(text) is not None


def _matches(text: str, known: frozenset[str]) -> Iterator[tuple[Rule, int, int]]:
    """What each rule matches in a text, whatever the others do: the rule and the place of the value.

    Args:
        text: a sentence with one space for any white space.
        known: those of its words that rules need.
    """
    runs = list(map(len, _DIGITS.findall(text)))
    digits, run = min(sum(runs), _MOST_DIGITS), min(max(runs, default=0), _MOST_RUN)
    lower = _lower(text)
    for rule, form, sign, parts in _possible(known, digits, run):
        # Most rules are done with by here: that is what makes so many of them cheap.
        if (parts and not any(part in lower for part in parts)) or (rule.sign and not sign.search(text)):
            continue
        for match in form.finditer(text):
            start, end = match.span(match.lastgroup or 0)
            end = _right_end(rule, text, start, end)
            if end > start:
                yield rule, start, end


def _lower(text: str) -> str:
    """A text in lower case, as expressions without regard to case read it: for them "ı" is an "i" and "ſ" an "s"."""
    return text.lower().replace("ı", "i").replace("ſ", "s").replace("\u0307", "")  # of "İ".lower()


@lru_cache(maxsize=1 << 12)
def _possible(words: frozenset[str], digits: int, run: int) -> Sequence[_Compiled]:
    """The rules that can find something in a sentence with these words, so many digits, and so many in a row."""
    found = (_COMPILED[place] for place in sorted({place for word in words for place in _PLACES[word]}))
    return tuple(item for item in found if item.rule.digits <= digits and item.rule.run <= run)


def _right_end(rule: Rule, text: str, start: int, end: int) -> int:
    """Where the longest right value ends that begins where a match does and ends there or before a gap; else 0.

    "4929 5260 1815 9081 12" is the number of a card, which has a right check digit, and another number.
    """
    if rule.check is None:
        return end
    while end > start and not rule.check(text[start:end]):
        end = max(text.rfind(" ", start, end), text.rfind("-", start, end))
    return end
