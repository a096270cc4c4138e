"""All rules, and the matcher that finds their values in sentences.

The rules are tried on each sentence with one space for any white space, in the order of `make_rules`. A later rule
never matches tokens that an earlier one has matched. Rules are also tried on a sentence's other readings
(`crfdeid.rules.readings`): without decoration, and together with the words across a line end. `Prefilter` skips most
rules in most sentences: rules whose words a sentence lacks, and rules whose every match has more digits than it
(`Rule.digits`). Without it, redaction with a hybrid takes half as long again.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain, groupby
from operator import itemgetter, or_
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from crfdeid.rules.ages import age_rules
from crfdeid.rules.dates import date_rules
from crfdeid.rules.language_rules import language_rules, place_rules
from crfdeid.rules.name_words import NameWords
from crfdeid.rules.names import name_rules
from crfdeid.rules.readings import Reading, hyphenated_lines, is_closed, may_cross, plain_reading, seam_at
from crfdeid.rules.rule import Rule
from crfdeid.rules.tables import pack_rules, shared_rules
from features.languages import LANGUAGES, LanguagePackError
from features.lexicons import name_lists, word_set
from features.patterns import lower_for_patterns
from features.sentences import NoteTokens
from features.tokenizer import Token, tokenize
from features.tokens import Sentence


@cache
def make_rules(languages: tuple[str, ...]) -> tuple[Rule, ...]:
    """All rules for notes of some languages, in the order in which they are tried.

    Args:
        languages: codes of the languages; words of others are in no rule.
    """
    packs = [LANGUAGES[code] for code in languages]
    words = NameWords(languages)
    own = [rule for pack in packs for rule in pack_rules(pack, words)]
    return (
        *shared_rules("network"),
        *shared_rules("numbers"),
        *shared_rules("contact"),
        *date_rules(packs),
        *age_rules(packs),
        *(rule for rule in own if not rule.requires_support),
        *(rule for pack in packs for rule in language_rules(pack, words)),
        *(rule for pack in packs for rule in name_rules(pack, words)),
        *(rule for rule in own if rule.requires_support),
        *(rule for pack in packs for rule in place_rules(pack)),
        *shared_rules("makers"),
    )


# Tokens for a number; "number" in the name of a field is any of them.
_NUMBER_WORDS = word_set("# number numbers num nbr nr no nº n número numero numéro nummer id code card")
_DIGIT = re.compile(r"\d")
_HAS_DIGIT, _LAST_BIT = 1, 62  # the first bit of `Prefilter`, and the number of the last one


def _cue_words(rule: Rule) -> frozenset[str]:
    """Lower-case tokens, one of which is in every sentence with a match of the rule; empty: no such tokens."""
    starts = {tokenize(name)[0].text for name in rule.left_context}
    return frozenset(starts - {"number"} | (_NUMBER_WORDS if "number" in starts else set())) or frozenset(rule.words)


# A match is no part of a longer word, number or chain of numbers. It ends at the edge of a token: between letters and
# digits too, as in "03/14/1972Sex".
_BEFORE = r"(?<![\w@])(?<!\d[-/.])"
_AFTER = r"(?<![^\W\d_](?=[^\W\d_]))(?<!\d(?=\d))(?![-/.]\d)"
# Between the name of a field and its value: "no.", ":", "#", "is".
_NUMBER_WORD = r"numbers?|(?:num|nbr|nr|no|n[º°])\.?|n\.[ºo°]|número|num[eé]ro|nummer|id|code|card"
_NUMBER = rf"(?:{_NUMBER_WORD}|#)"
_GAP = rf"(?<![^\W\d_](?=[^\W\d_]))(?:\s?[#:;|.,º°=-]|\s?(?:{_NUMBER_WORD}|is|was|es)(?!\w)){{0,4}}\s?\(??"


def _expression(rule: Rule) -> str:
    """The expression of a rule with its field names and boundaries."""
    if not rule.left_context:
        return f"{_BEFORE}(?:{rule.form}){_AFTER}"
    plain = (re.escape(name).replace("\\ ", " ?").replace("'", "['’]") for name in rule.left_context)
    names = (name.replace("number", _NUMBER) for name in plain)
    value = rule.form if "?P<value>" in rule.form else f"(?P<value>{rule.form})"
    return f"{_BEFORE}(?:{'|'.join(names)}){_GAP}(?:{value}){_AFTER}"


class Prefilter(dict[str, int]):
    r"""Conditions of rules that each token meets, a bit for each condition; a cache by token.

    The conditions are a digit, and one of a rule's words. Those of many languages share the last of 63 bits.

    Args:
        rules: the rules.
        capacity: tokens in the cache; a full one is cleared.

    Attributes:
        of_rules: the bits that each rule needs, by its name.
        cue: the bit of tokens at which rules with ``starts_with_word`` start.

    Example:
        >>> room = Rule("room", r"\d{3}[a-d]?", ("ROOM",), (), (), left_context=("room",), digits=3)
        >>> prefilter = Prefilter([room])
        >>> prefilter.of_rules["room"], [prefilter[token] for token in ("Room", "214", "b")]
        ((1, 2), [2, 1, 0])
        >>> prefilter.scan([tokenize("Room 214b"), tokenize("Room")])
        ([3, 2], {})
    """

    def __init__(self, rules: Sequence[Rule], *, capacity: int = 1 << 16) -> None:
        self._capacity = capacity
        self._by_word: dict[str, int] = defaultdict(int)
        self._bits: dict[frozenset[str], int] = {frozenset(): _HAS_DIGIT}
        cues = [rule for rule in rules if rule.starts_with_word]
        self.cue = self._of_words(frozenset(word for rule in cues for word in rule.words)) if cues else 0
        self.of_rules = {rule.name: tuple(self._of_rule(rule)) for rule in rules}

    def _of_rule(self, rule: Rule) -> Iterator[int]:
        """The bits that a rule needs."""
        if rule.digits:
            yield _HAS_DIGIT
        if rule.starts_with_word:
            yield self.cue
        elif _cue_words(rule):
            yield self._of_words(_cue_words(rule))

    def _of_words(self, words: frozenset[str]) -> int:
        """The bit of tokens among some words."""
        if words not in self._bits:
            self._bits[words] = 1 << min(len(self._bits), _LAST_BIT)
            for word in words:
                self._by_word[word] |= self._bits[words]
        return self._bits[words]

    def __missing__(self, token: str) -> int:
        bits = self._by_word.get(token.lower(), 0) | (_HAS_DIGIT if _DIGIT.search(token) else 0)
        if len(self) >= self._capacity:
            self.clear()
        self[token] = bits
        return bits

    def scan(self, sentences: Sequence[Sequence[Token]]) -> tuple[list[int], dict[int, list[int]]]:
        """The union of the tokens' bits for each sentence; and, by sentence, the indices of its tokens with `cue`."""
        words = chain.from_iterable([*[token[0] for token in tokens], ""] for tokens in sentences)  # "" has none
        ends = np.cumsum([len(tokens) + 1 for tokens in sentences])
        if not len(ends):
            return [], {}
        bits = np.fromiter(map(self.__getitem__, words), np.int64, int(ends[-1]))
        cues: dict[int, list[int]] = {}
        if self.cue:
            offsets = np.flatnonzero(bits & self.cue)
            numbers = np.searchsorted(ends, offsets, "right")
            first = np.where(numbers, ends[numbers - 1], 0)
            for number, offset in zip(numbers.tolist(), (offsets - first).tolist(), strict=True):
                cues.setdefault(number, []).append(offset)
        found: list[int] = np.bitwise_or.reduceat(bits, [0, *ends[:-1]]).tolist()
        return found, cues


class _Compiled(NamedTuple):
    """A rule, its compiled expression and its prefilters.

    Attributes:
        rule: the rule.
        form: its whole expression.
        small: match against the lower-case text (`features.patterns.lower_for_patterns`), which is faster.
        digits: digits that every match has.
        needs: bits of `Prefilter`; the tokens of a sentence need one of each.
        at: for a group of rules with `Rule.starts_with_word`, by lower-case cue word: the rules with their numbers and
            expressions.
    """

    rule: Rule
    form: re.Pattern[str]
    small: bool
    digits: int
    needs: Sequence[int]
    at: Mapping[str, Sequence[tuple[int, Rule, re.Pattern[str]]]]


# An expression depends on case if it has a capital that is neither a class (\W) nor the name of a group.
_CASE_SENSITIVE = re.compile(r"\(\?-i:|(?<!\\)(?<!\(\?)[A-ZÀ-ÖØ-Þ]")


_Found = tuple[Rule, int, int]  # a rule, the first token of its value, and the token after the last


_MOST_KEPT = 1 << 12  # sentences whose matches are kept, more than a batch of the pipeline


class RuleSet:
    """The compiled rules of some languages, with their prefilter.

    Args:
        languages: codes of the languages.
        names: names of the rules in use, which alone take tokens from later rules; None for all.

    Attributes:
        rules: the rules, in the order of `make_rules`.
    """

    def __init__(self, languages: tuple[str, ...], names: Collection[str] | None = None) -> None:
        self.rules = tuple(rule for rule in make_rules(languages) if names is None or rule.name in names)
        self._given_names = name_lists(languages)["first"]
        self._recent: dict[int, tuple[Sentence, list[_Found]]] = {}  # by the sentence's identity
        self._over_hyphens: WeakKeyDictionary[NoteTokens, list[_Found]] = WeakKeyDictionary()
        self._prefilter = Prefilter(self.rules)
        self._compiled = tuple(self._rows())
        self._possible = lru_cache(maxsize=1 << 14)(self._allowed)
        self._rank = {rule.name: rank for rank, rule in enumerate(self.rules)}

    def _rows(self) -> Iterator[_Compiled]:
        """The compiled rules; consecutive rules with ``starts_with_word`` share one row."""
        for at_words, rules in groupby(self.rules, key=lambda rule: rule.starts_with_word):
            compiled = [*map(self._compile, rules)]
            if not at_words:
                yield from compiled
                continue
            at: dict[str, list[tuple[int, Rule, re.Pattern[str]]]] = defaultdict(list)
            for number, item in enumerate(compiled):
                for word in set(item.rule.words):
                    at[word].append((number, item.rule, item.form))
            yield compiled[0]._replace(at=dict(at))

    def _compile(self, rule: Rule) -> _Compiled:
        form = _expression(rule)
        small = not _CASE_SENSITIVE.search(form)
        try:
            pattern = _pattern(form, small=small)
        except re.error as problem:
            raise LanguagePackError(f"{rule.language}.toml: the form of the rule '{rule.name}': {problem}") from None
        return _Compiled(rule, pattern, small, rule.digits, self._prefilter.of_rules[rule.name], {})

    def _allowed(self, bits: int) -> Sequence[_Compiled]:
        """The rules that can match in a sentence with these bits."""
        return tuple(item for item in self._compiled if all(bits & need for need in item.needs))

    def find(self, sentences: Sequence[Sentence]) -> Iterator[list[_Found]]:
        """Matches in each of several sentences; the prefilter runs on all at once.

        The matches of the last few sentences are kept: a hybrid asks for them again, as evidence of its spans.
        """
        recent = self._recent
        known = [recent.get(id(sentence)) for sentence in sentences]
        if all(one is not None and one[0] is sentence for one, sentence in zip(known, sentences, strict=True)):
            yield from (one[1] for one in known if one is not None)
            return
        found = []
        for matches in self._find(sentences):
            found.append(matches)
            yield matches
        if len(sentences) <= _MOST_KEPT:
            pairs = zip(sentences, found, strict=True)
            self._recent = {id(sentence): (sentence, matches) for sentence, matches in pairs}

    def _find(self, sentences: Sequence[Sentence]) -> Iterator[list[_Found]]:
        """Matches in each of several sentences."""
        all_bits, all_cues = self._prefilter.scan([sentence.tokens for sentence in sentences])
        note: Sequence[Token] = ()
        place, across, divided = -1, list[_Found](), list[_Found]()
        for number, (sentence, bits) in enumerate(zip(sentences, all_bits, strict=True)):
            # Half of all sentences are skipped here, before their text is built.
            possible = self._possible(bits)
            found = self._found(sentence, possible, all_cues.get(number, ())) if possible else []
            if sentence.note is not note:
                divided = self._divided(sentence.note)
            if sentence.note is not note or sentence.note_start != place:
                note, place = sentence.note, sentence.note_start
                across = self._across(note, place)
            before, place = across, sentence.note_start + len(sentence.tokens)
            last = [token[0] for token in sentence.tokens[-2:]]
            across = [] if len(last) > 1 and is_closed(last) else self._across(note, place)
            here = _that_touch(sentence, divided) if divided else ()
            if here:
                found = [*_without_parts(sentence, found, here)]
            others = [*here, *before, *across]
            yield [*found, *_parts_in(sentence, found, others)] if others else found

    def _found(self, sentence: Sentence, possible: Sequence[_Compiled], cues: Sequence[int]) -> list[_Found]:
        """Matches of the possible rules in a sentence, given the indices of its tokens with `Prefilter.cue`."""
        text, ends = sentence.spaced, sentence.token_ends() if cues else []
        plain = plain_reading(sentence)
        written = _matches(text, possible, [(sentence.tokens[i][0], ends[i]) for i in cues])
        if plain is None:
            spans = []
            for match in written:
                ends = ends or sentence.token_ends()
                spans.append((match.rule, *_token_range(ends, match.start, match.end)))
            return [*_disjoint(_that_hold(sentence, spans))]
        as_written = Reading(text, sentence.token_ends())
        undecorated = _matches(plain.text, possible, [(sentence.tokens[i][0], plain.ends[i]) for i in cues])
        spans = [
            (match.rule, *_token_range(reading.ends, match.start, match.end))
            for reading, matches in ((as_written, written), (plain, undecorated))
            for match in matches
        ]
        return [
            *_disjoint(
                sorted(_that_hold(sentence, spans), key=lambda one: (self._rank[one[0].name], one[1] - one[2], one[1]))
            )
        ]

    def _across(self, note: Sequence[Token], place: int) -> list[_Found]:
        """Matches, with their cues, that reach over the line end before a token of a note; by tokens of the note."""
        seam = seam_at(note, place, self._has_cue)
        if seam is None:
            return []
        text, ends = seam.reading
        bits = [self._prefilter[token[0]] for token in seam.tokens]
        possible = self._possible(reduce(or_, bits))
        cues = [(seam.tokens[i][0], ends[i]) for i, own in enumerate(bits) if own & self._prefilter.cue]
        border = ends[seam.split - 1]
        matches = (match for match in _matches(text, possible, cues) if match.rule.in_note is None)
        across = [match for match in matches if match.begin < border < match.stop]
        if not across:
            return []
        before = _matches(text[:border], possible, [cue for cue in cues if cue[1] <= border])
        values = {i for match in before if match.end == border for i in range(match.start, border)}
        found = []
        for match in across:
            first, stop = _token_range(ends, match.start, match.end)
            if may_cross(seam, first, stop, is_value=match.start in values, given_names=self._given_names):
                found.append((match.rule, seam.first + first, seam.first + stop))
        return [*_disjoint(found)]

    def _divided(self, note: Sequence[Token]) -> list[_Found]:
        """Matches over the hyphens at line ends of a note, from left to right; by tokens of the note."""
        if not isinstance(note, NoteTokens):
            return []
        if note in self._over_hyphens:
            return self._over_hyphens[note]
        found = []
        for line in hyphenated_lines(note):
            (bits,), cues = self._prefilter.scan([line.sentence.tokens])
            for rule, first, stop in self._found(line.sentence, self._possible(bits), cues.get(0, ())):
                tokens = line.note_tokens(first, stop)
                if tokens is not None:
                    found.append((rule, *tokens))
        longest = _disjoint(sorted(found, key=lambda one: one[1] - one[2]))
        self._over_hyphens[note] = sorted(longest, key=itemgetter(1))
        return self._over_hyphens[note]

    def _has_cue(self, word: str) -> bool:
        return self._prefilter[word] > _HAS_DIGIT


def _parts_in(sentence: Sentence, found: Iterable[_Found], across: Iterable[_Found]) -> Iterator[_Found]:
    """The parts in a sentence of matches across line ends, as far as no match was found in the sentence."""
    taken = {i for _, first, stop in found for i in range(first, stop)}
    begin = sentence.note_start
    for rule, first, stop in across:
        part = [i for i in range(max(0, first - begin), min(len(sentence.tokens), stop - begin)) if i not in taken]
        taken.update(part)
        for i in part:
            if i - 1 not in part:
                yield rule, i, next(j for j in range(i, stop - begin + 1) if j not in part)


def _that_touch(sentence: Sentence, found: Sequence[_Found]) -> Sequence[_Found]:
    """The matches in a note, sorted and disjoint, that share a token with a sentence."""
    begin = sentence.note_start
    first = bisect_right(found, begin, key=itemgetter(2))
    return found[first : bisect_left(found, begin + len(sentence.tokens), lo=first, key=itemgetter(1))]


def _without_parts(sentence: Sentence, found: Iterable[_Found], whole: Sequence[_Found]) -> Iterator[_Found]:
    """The matches of a sentence that are no part of a match over the end of a line."""
    begin = sentence.note_start
    for rule, first, stop in found:
        if not any(start <= begin + first and begin + stop <= end for _, start, end in whole):
            yield rule, first, stop


def _that_hold(sentence: Sentence, spans: Iterable[_Found]) -> Iterator[_Found]:
    """The matches of a sentence without those that `Rule.in_note` refuses."""
    return (one for one in spans if one[0].in_note is None or _holds_in_note(one[0].in_note, sentence))


# Of each note in memory, the answers of `Rule.in_note`.
_ANSWERS: WeakKeyDictionary[NoteTokens, dict[Callable[[str], bool], bool]] = WeakKeyDictionary()


def _holds_in_note(in_note: Callable[[str], bool], sentence: Sentence) -> bool:
    """The answer of `Rule.in_note` for the note of a sentence, which is asked once for each note."""
    if not isinstance(sentence.note, NoteTokens):
        return in_note(sentence.spaced)
    answers = _ANSWERS.setdefault(sentence.note, {})
    if in_note not in answers:
        answers[in_note] = in_note(sentence.note.text)
    return answers[in_note]


def _token_range(ends: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The first token of a stretch of text, and the one after its last, from the end offset of each token."""
    return bisect_right(ends, start), bisect_right(ends, end - 1) + 1


def _disjoint(spans: Iterable[_Found]) -> Iterator[_Found]:
    """The matches that share no token with an earlier one."""
    taken: set[int] = set()
    for rule, first, stop in spans:
        if taken.isdisjoint(range(first, stop)):
            taken.update(range(first, stop))
            yield rule, first, stop


@cache
def _pattern(form: str, *, small: bool) -> re.Pattern[str]:
    return re.compile(form) if small else re.compile(form, re.IGNORECASE)


@lru_cache(maxsize=32)
def rules_for(languages: tuple[str, ...], names: frozenset[str] | None = None) -> RuleSet:
    """The rules of some languages, compiled when they are first used; only those of some names, or all."""
    return RuleSet(languages, names)


def find_rules(sentence: Sentence, languages: tuple[str, ...]) -> Iterator[tuple[Rule, int, int]]:
    """Matches of the rules in a sentence: the rule, the first token, and the token after the last.

    Example:
        >>> from features.sentences import split_sentences
        >>> [(rule.name, a, b) for rule, a, b in find_rules(split_sentences("MRN: 48-2213, seen 3/14/72")[0], ("en",))]
        [('record number', 2, 5), ('date in digits', 7, 12)]
    """
    yield from next(rules_for(languages).find([sentence]))


class _Match(NamedTuple):
    """A match of a rule: offsets of the match and of the value in it."""

    rule: Rule
    begin: int
    stop: int
    start: int
    end: int


def _matches(text: str, rules: Sequence[_Compiled], cues: Sequence[tuple[str, int]]) -> Iterator[_Match]:
    """Matches of each rule in a text, independent of the other rules.

    Args:
        text: a sentence with normalised white space.
        rules: the rules that its tokens allow.
        cues: the words at which rules with ``starts_with_word`` are tried, and the end of each.
    """
    lower = ""
    digits = len(_DIGIT.findall(text))
    for rule, form, small, least, _, at in rules:
        if at:
            yield from _matches_at(text, at, cues)
            continue
        if least > digits:
            continue
        lower = lower or lower_for_patterns(text)
        for match in form.finditer(lower if small else text):
            yield from _values(rule, text, match)


def _matches_at(
    text: str, at: Mapping[str, Sequence[tuple[int, Rule, re.Pattern[str]]]], cues: Sequence[tuple[str, int]]
) -> Iterator[_Match]:
    """Matches of the rules with ``starts_with_word`` at their cue words, in the order of `make_rules`."""
    tried = [
        (number, end - len(word), rule, form) for word, end in cues for number, rule, form in at.get(word.lower(), ())
    ]
    for _, cue_start, rule, form in sorted(tried, key=itemgetter(0, 1)) if len(tried) > 1 else tried:
        match = form.match(text, cue_start)
        if match:
            yield from _values(rule, text, match)


def _values(rule: Rule, text: str, match: re.Match[str]) -> Iterator[_Match]:
    """The valid values of a match: one, or those between the separators of a list up to the first invalid one."""
    start, end = match.span(match.lastgroup or 0)
    parts = [(start, end)]
    if rule.separator:
        marks = [found.span() for found in _pattern(rule.separator, small=False).finditer(text, start, end)]
        parts = [*zip([start, *(last for _, last in marks)], [*(first for first, _ in marks), end], strict=True)]
    for first, last in parts:
        stop = _right_end(rule, text, first, last)
        if stop <= first:
            return
        yield _Match(rule, *match.span(), first, stop)


def _right_end(rule: Rule, text: str, start: int, end: int) -> int:
    """The end of the longest valid value at the start of a match, cut at its gaps; none is after ``start``."""
    return end if rule.check is None else start + _valid_length(rule.check, text[start:end])


@lru_cache(maxsize=1 << 12)
def _valid_length(check: Callable[[str], bool | None], value: str) -> int:
    """The length of the longest valid value that a text begins with, cut at its gaps; 0 if there is none.

    "4929 5260 1815 9081 12" is a valid card number and another number.
    """
    end = len(value)
    while end > 0 and not (found := check(value[:end])):
        end = -1 if found is None else max(value.rfind(mark, 0, end) for mark in " -,")
    return max(end, 0)
