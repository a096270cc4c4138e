"""`Rule`, a row of the tables, and expressions for words of a list."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from features.languages import Language
from features.lexicons import spellings
from features.tokenizer import tokenize


class Rule(NamedTuple):
    r"""An expression for one kind of PHI, and its examples.

    Attributes:
        name: the kind of value.
        form: expression of the value, case-insensitive. A named group, such as "value", marks the part to report; with
            several groups, the last one that matched.
        types: type names in corpora, in order of preference; the first one that a corpus has is the label if the
            training notes hold no example.
        positive_examples: texts with the value in brackets; without brackets the whole text is the value.
        negative_examples: texts without a match.
        left_context: names of fields, one of which must precede the value ("MRN: 4822"); empty: no field needed.
        words: lower-case tokens, one of which is in every match, so that the rule is tried in sentences with one; taken
            from ``left_context`` if that is set.
        starts_with_word: a match starts with one of ``words``; the rule is tried at those words only.
        check: validates a value, such as by its checksum. If a match fails, the part before its last space, hyphen or
            comma is tried, unless the answer is None: then no part of it can be valid.
        has_checksum: ``check`` hardly passes by chance, so that a match is PHI even if annotators missed it.
        requires_support: use the rule only if its matches in the training notes are PHI, or if there are training notes
            without a match: its values are PHI in some corpora only, such as words for relatives.
        in_note: says of a whole note, by its text, whether the matches in it are PHI; None: in every note.
        exact: the ends of its matches that are ends of annotators' spans too: "both", "start", or "" for none. There a
            hybrid of few training notes splits a span of its model, such as a street with the postal code after it.
        language: code of the language of the notes that the rule is for; None for all.
        separator: expression of what is between the values of a list, "Quill, Marsh and Tawn"; "" for one value.
        digits: the least number of digits of a match with its context; the rule is tried in sentences with as many.

    Example:
        >>> Rule("room", r"\d{3}[a-d]?", ("ROOM",), ("room [214b]",), ("room to move",), ("room",)).name
        'room'
    """

    name: str
    form: str
    types: tuple[str, ...]
    positive_examples: tuple[str, ...]
    negative_examples: tuple[str, ...]
    left_context: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    starts_with_word: bool = False
    check: Callable[[str], bool | None] | None = None
    has_checksum: bool = False
    requires_support: bool = False
    in_note: Callable[[str], bool] | None = None
    exact: Literal["", "start", "both"] = ""
    language: str | None = None
    separator: str = ""
    digits: int = 0


def one_of(words: Iterable[str]) -> str:
    """An expression for any of some words, longest match first; a trie, so that each letter is compared once.

    Example:
        >>> one_of(["sister", "sisters", "son", "aunt"])
        '(?=[as])(?:aunt|s(?:ister(?:s)?|on))'
    """
    words = set(words)
    return f"(?=[{''.join(sorted({word[0] for word in words}))}]){_branches(words)}"


def any_of(entries: Iterable[str]) -> str:
    """The expression of any of some entries of a list in a language pack; one that never matches for none."""
    forms = {form for entry in entries for form in (entry, entry.replace("'", "’"))}
    return f"(?:{one_of(forms)})" if forms else "(?!)"


def cue(entries: Iterable[str], pack: Language, *, capitals: int = 1) -> str:
    """The expression of any of some cues of a language, in any spelling; one that never matches for none.

    A full stop may follow an entry; an entry that the list has with a full stop alone needs it. An entry in capitals is
    found in capitals.

    Args:
        entries: the cues.
        pack: the language.
        capitals: letters at most of entries that are found with a capital alone, such as "M.".
    """
    entries = {*entries}
    groups: dict[tuple[str, bool, bool], set[str]] = defaultdict(set)
    for entry in entries:
        start, rest = _split_cue(entry, pack)
        for form in _spelled(rest):
            letters = form.removesuffix(".")
            needs_stop = letters != form and letters not in entries
            exact = rest.isupper() or len(letters) <= capitals
            cases = {letters} if rest.isupper() or not exact else {letters.capitalize(), letters.upper()}
            groups[start, needs_stop, exact].update(cases)
    parts = []
    for (start, needs_stop, exact), forms in sorted(groups.items()):
        before = f"(?<={re.escape(start)} )".replace("'", "['’]") if start else ""
        stop = r"\." if needs_stop else r"(?:(?<=['’/])|(?!\w))\.?"
        parts.append(before + (f"(?-i:{any_of(forms)})" if exact else any_of(forms)) + stop)
    return f"(?:{'|'.join(parts)})" if parts else "(?!)"


def cue_starts(entries: Iterable[str], pack: Language) -> tuple[str, ...]:
    """Lower-case tokens at which the cues of a list are looked for: `Rule.words` of a rule that begins with a cue."""
    rests = (_split_cue(entry, pack)[1].lower() for entry in entries)
    return tuple(sorted({tokenize(form)[0].text for rest in rests for form in _spelled(rest)}))


def _spelled(entry: str) -> set[str]:
    """An entry in all its spellings."""
    return {entry} if entry.isupper() or len(entry) <= _SHORT else {entry, *spellings(entry)}


_FREQUENT, _SHORT = 3, 3  # letters at most of a frequent word, and of a cue with one spelling


def _split_cue(entry: str, pack: Language) -> tuple[str, str]:
    """Frequent words that a cue begins with, and the rest: a rule is tried at a word that is rare."""
    words = entry.split()
    rare = (i for i, word in enumerate(words) if len(word) > _FREQUENT or word not in pack.function_words)
    count = next(rare, 0)
    return " ".join(words[:count]), " ".join(words[count:])


def _branches(words: set[str]) -> str:
    """The expression for any of some words or word endings."""
    tails: dict[str, set[str]] = defaultdict(set)
    for word in words - {""}:
        tails[word[0]].add(word[1:])
    if not tails:
        return ""
    branches = [re.escape(letter) + _branches(rest) for letter, rest in sorted(tails.items())]
    whole = branches[0] if len(branches) == 1 and "" not in words else f"(?:{'|'.join(branches)})"
    return whole + "?" * ("" in words)
