"""Numbered tokens with a map of their values: text for a language model, and its answer with the values restored.

A token is ``[TYPE-NUMBER]``. Spellings of one person or value share the number and differ in letters: "Jane Quill" is
``[PATIENT-1]``, "Ms. Quill" ``[PATIENT-1b]``. The caller keeps the map of tokens to values; it is PHI.

Text outside the spans that reads like a token becomes a token itself, ``[LITERAL-1]``, whose value is that text. So
each token of a redacted text is of the map, and `restore` gives back the text exactly.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import regex

from crfdeid.consistency import make_consistent
from crfdeid.documents import CONSISTENCY, MODEL, Document, Evidence, Span, lone_surrogate, merge
from crfdeid.errors import FormatError, LimitError, MismatchError, located
from crfdeid.label_schemes import BINARY, SURROGATE_KINDS, surrogate_kind
from crfdeid.redaction.numbering import Numbering
from crfdeid.redaction.values import span_values
from crfdeid.utils.files import read_text, reserve_file, write_files
from crfdeid.utils.json import parse_json

LITERAL = "LITERAL"
"""Type of text that reads like a token without being one."""

_TYPES = frozenset([*SURROGATE_KINDS, BINARY, LITERAL])
_WORD = regex.compile(r"[^\W\d_]+")
_NO_NAME = regex.compile(r"_*+[\W\d][\W\d_]*+")
_WRITTEN = regex.compile(
    r"\[(?P<name>[^\W\d_]++(?:[-_]++[^\W\d_]++)*+)-(?P<number>[1-9][0-9]{0,8})(?P<letters>[a-z]{0,4})\]"
)
_BRACKETS = [(r"\[", r"\]"), *map(tuple, ("[]", "{}", "<>", "［］", "【】", "⟨⟩", "「」"))]
_NO_MAP = 'not a map of tokens to values such as {"[PATIENT-1]": "Jane Doe"}: give the one of this redaction'
_ALPHABET = 26
_LONGEST_NAME, _LONGEST = 80, 100  # characters of the type in a token, and of the token
_MOST_TYPES = 200  # of a map, since a pattern has all of them
_BETWEEN = "\n\n"  # between values, so that each is a sentence
_Key = tuple[str, str, str]  # type, number and letters of a token


class Restored(NamedTuple):
    """Text with its values restored, and the tokens that were not.

    Attributes:
        text: the text; refused tokens stay in it.
        restored: number of restored tokens.
        missing: tokens of the map that the text does not have.
        unknown: offsets, in the text before, of tokens that the map does not have.
        ambiguous: offsets, in the text before, of what may be a token or something else: "Patient 1".
    """

    text: str
    restored: int
    missing: tuple[str, ...]
    unknown: tuple[tuple[int, int], ...]
    ambiguous: tuple[tuple[int, int], ...]


def restore(text: str, mapping: Mapping[str, str], *, most: int | None = None) -> Restored:
    """Restore the values of numbered tokens, also where case, brackets, hyphens or white space of a token changed.

    "[patient 1]", "{ PATIENT_1 }", "(Patient-1)" and "PATIENT-1" are [PATIENT-1]. "Patient 1", without brackets and
    hyphen, is ambiguous and stays; so are "[PATIENT-1" at the end of an answer, which may be a part of [PATIENT-12],
    and "[PACIENTE-1]" if a token with the number 1 is missing. The restored values are not searched for tokens, and
    not escaped: restore the strings of JSON one by one.

    Args:
        text: the answer of a language model, or the redacted text.
        mapping: the map of the redaction, as of `crfdeid.redact`.
        most: largest number of characters of all restored values; None for no limit.

    Raises:
        FormatError: it is no map of tokens to values, or two of its tokens differ in case alone.
        LimitError: the values are longer, or the map has very many types.

    Example:
        >>> restore("Patient-1 is stable. [DATE-2]?", {"[PATIENT-1]": "Jane Quill"})
        Restored(text='Jane Quill is stable. [DATE-2]?', restored=1, missing=(), unknown=((21, 29),), ambiguous=())
    """
    tokens, pattern = _keys(mapping), _token_pattern(_TYPES.union(map(_name_of, mapping)))
    parts: list[str] = []
    found: list[str] = []
    unknown: list[tuple[int, int]] = []
    doubtful: list[regex.Match[str]] = []
    end = length = 0
    for match in pattern.finditer(text):
        if match["doubtful"] is not None or _is_cut_off(match):
            doubtful.append(match)
            continue
        token = tokens.get(_key(match))
        if token is None:
            unknown.append(match.span())
        else:
            parts += text[end : match.start()], mapping[token]
            found.append(token)
            end, length = match.end(), length + len(mapping[token])
            if most is not None and length > most:
                raise LimitError(f"more than {most:,} characters of values: restore shorter texts")
    there = set(found)
    missing = tuple(token for token in mapping if token not in there)
    numbers = {key[1:] for key, token in tokens.items() if token not in there}
    ambiguous = [
        match.span()
        for match in doubtful
        if (_key(match) in tokens if match["other"] is None else _key(match)[1:] in numbers)
    ]
    return Restored("".join([*parts, text[end:]]), len(found), missing, tuple(unknown), tuple(ambiguous))


def read_map(path: Path) -> dict[str, str]:
    """Read a map of tokens to values from a JSON file.

    Raises:
        DataError: it cannot be read, or is something else. The message quotes nothing.
    """
    mapping = parse_json(read_text(path), path=path, otherwise=_NO_MAP)
    with located(path):
        _keys(mapping)
        if any(lone_surrogate(value) is not None for value in mapping.values()):
            raise FormatError(_NO_MAP)
    return dict(mapping)


@contextmanager
def continued_map(path: Path | None) -> Iterator[dict[str, str] | None]:
    """Yield the map of a file, empty for a new one, and write it at the end unless there is an error.

    Args:
        path: the file, which no second run changes meanwhile; None for no map.

    Raises:
        DataError: the file cannot be read or written, or is something else.
    """
    if path is None:
        yield None
        return
    with reserve_file(path):
        mapping = read_map(path) if path.exists() else {}
        yield mapping
        write_files({path: json.dumps(mapping, ensure_ascii=False, indent=1) + "\n"})  # its owner's alone


class TokenMap:
    """Tokens of the values of a conversation.

    Args:
        mapping: the map of earlier texts. It is not changed.
        types: further types that later texts can have, so that text that reads like their tokens is replaced, too.

    Attributes:
        values: the map with the tokens that were added.

    Raises:
        FormatError: it is no map of tokens to values, or two of its tokens differ in case alone.
        LimitError: it has very many types.

    Example:
        >>> tokens = TokenMap({"[PATIENT-1]": "Jane Quill"})
        >>> [tokens.token("PATIENT", name, name) for name in ("Jane Quill", "Ms. Quill", "John Roe")]
        ['[PATIENT-1]', '[PATIENT-1b]', '[PATIENT-2]']
    """

    def __init__(self, mapping: Mapping[str, str], types: Iterable[str] = ()) -> None:
        keys = _keys(mapping)
        self.values = dict(mapping)
        self._types = _TYPES.union(map(_token_name, types))
        self._numbering = Numbering()
        self._names: dict[str, str] = {}  # as written, by their letters in lower case
        self._tokens: dict[tuple[str, str], str] = {}
        self._spellings: Counter[tuple[str, int]] = Counter()
        for (name, number, letters), token in sorted(keys.items(), key=lambda item: (int(item[0][1]), item[0][2])):
            value, label = mapping[token], self._names.setdefault(name, _name_of(token))
            self._tokens.setdefault((_kind(label), value), token)
            (plain,) = span_values(value, [Span(0, len(value), label)])
            self._numbering.take(label, plain, int(number))
            place = label, int(number)
            self._spellings[place] = max(self._spellings[place], _rank(letters))

    def token(self, label: str, written: str, value: str) -> str:
        """Return the token of a value, which has one for all types of a kind; a new one is added to the map.

        Args:
            label: its type.
            written: its text.
            value: the value on one line (`crfdeid.redaction.values.span_values`).
        """
        name = _token_name(label)
        name = self._names.setdefault(_letters_of(name), name)
        value_key = _kind(name), written  # a doctor of one text can be a patient for the model in the next
        token = self._tokens.get(value_key)
        if token is None:
            number = self._numbering.number(name, value)
            self._spellings[name, number] += 1
            token = f"[{name}-{number}{_letters(self._spellings[name, number])}]"
            self._tokens[value_key] = token
            self.values[token] = written
        return token

    def prepare(self, document: Document) -> Document:
        """Return a document with spans for the values of the map, and for text that reads like a token."""
        known = dict.fromkeys(self._known(document), Evidence(CONSISTENCY))
        document = replace(
            document,
            spans=(*document.spans, *known),
            evidence={**known, **document.evidence} if known else document.evidence,
        )
        pattern = self._pattern(document)
        spans = merge(document.spans)
        edges = [0, *(edge for start, end, _ in spans for edge in (start, end)), len(document.text)]
        gaps = list(pairwise(edges))[::2]
        literals = [
            Span(start + match.start(), start + match.end(), LITERAL)
            for start, end in gaps
            for match in _tokens_in(document.text[start:end], pattern)
        ]
        return replace(document, spans=(*document.spans, *literals))

    def require_exact(self, document: Document, text: str, written: Sequence[tuple[int, int]]) -> None:
        """Refuse a redacted text in which the replacements of other operators make up a token.

        Args:
            document: the document of `prepare`.
            text: its redacted text.
            written: the offsets of the tokens in it.

        Raises:
            MismatchError: they do.
        """
        found = [match.span() for match in _tokens_in(text, self._pattern(document))]
        if found != list(written):
            raise MismatchError("another operator wrote text that reads like a token: use 'numbered' for all types")

    def _pattern(self, document: Document) -> regex.Pattern[str]:
        labels = {_token_name(span.label) for span in document.spans}
        return _token_pattern(self._types.union(self._names.values(), labels))

    def _known(self, document: Document) -> Iterator[Span]:
        """Yield the spans of values of the map, found as `crfdeid.consistency` finds further occurrences."""
        named = [(value, name) for token, value in self.values.items() if (name := _name_of(token)) != LITERAL]
        if not named:
            return
        before = "".join(f"{value}{_BETWEEN}" for value, _ in named)
        starts = accumulate((len(value) + len(_BETWEEN) for value, _ in named), initial=0)
        spans = [Span(start, start + len(value), name) for start, (value, name) in zip(starts, named, strict=False)]
        moved = [Span(len(before) + start, len(before) + end, label) for start, end, label in document.spans]
        both = Document(
            "",
            before + document.text,
            (*spans, *moved),
            evidence=dict.fromkeys(spans, Evidence(MODEL)),
            languages=document.languages,
        )
        found = make_consistent(both)
        for span in found.spans:
            if span.start >= len(before) and span in found.evidence:  # a value of the map, not of the document
                yield Span(span.start - len(before), span.end - len(before), span.label)


def _is_cut_off(match: regex.Match[str]) -> bool:
    """Return True for a token at the end of a text that lacks the closing bracket, and maybe a digit."""
    is_last = match.end() == len(match.string) and match[0][-1].isalnum()
    return is_last and match.string[: match.start()].rstrip()[-1:] in {"[", "(", "{", "<"}


def _token_name(label: str) -> str:
    """Return the name of a type in tokens, without digits: "HL7_ID" is "HL-ID"."""
    return _NO_NAME.sub("-", label[:_LONGEST_NAME]).strip("-_") or BINARY


def _kind(name: str) -> str:
    """Return what the types have in common of which a value has one token."""
    kind = surrogate_kind(name)
    return name if kind == "none" else kind


def _name_of(token: str) -> str:
    match = _WRITTEN.fullmatch(token)
    return BINARY if match is None else match["name"]


def _letters_of(name: str) -> str:
    return "".join(_WORD.findall(name)).casefold()


def _letters(rank: int) -> str:
    """Return the letters of a spelling by its rank: none for the first, "b" for the second, "aa" for the 27th."""
    found = ""
    while rank > 0:
        rank, letter = divmod(rank - 1, _ALPHABET)
        found = chr(ord("a") + letter) + found
    return "" if found == "a" else found


def _rank(letters: str) -> int:
    rank = 0
    for letter in letters or "a":
        rank = _ALPHABET * rank + ord(letter) - ord("a") + 1
    return rank


def _key(match: regex.Match[str]) -> _Key:
    return _letters_of(match["name"] or match["other"]), match["number"], match["letters"].lower()


def _keys(mapping: Mapping[str, str]) -> dict[_Key, str]:
    """Return the tokens of a map by their parts."""
    found: dict[_Key, str] = {}
    for token, value in mapping.items() if isinstance(mapping, Mapping) else [(None, None)]:
        match = _WRITTEN.fullmatch(token) if isinstance(token, str) and isinstance(value, str) and value else None
        if match is None or len(token) > _LONGEST or found.setdefault(_key(match), token) != token:
            raise FormatError(_NO_MAP)
    if len({name for name, _, _ in found}) > _MOST_TYPES:
        raise LimitError(f"a map of more than {_MOST_TYPES} types: begin a new one")
    return found


def _tokens_in(text: str, pattern: regex.Pattern[str]) -> Iterator[regex.Match[str]]:
    return (match for match in pattern.finditer(text) if match["doubtful"] is None)


@lru_cache(maxsize=16)
def _token_pattern(names: frozenset[str]) -> regex.Pattern[str]:
    """Return the pattern of tokens of some types, however a language model wrote them.

    Between brackets the parts of a token can have any separators. Without, and between parentheses, they need a hyphen
    or underscore: "(age 45)" is prose. What lacks that is of the group "doubtful".
    """
    words = sorted({tuple(_WORD.findall(name)) for name in names}, key=lambda name: (-len(name), name))

    def name(between: str) -> str:
        return f"(?P<name>{'|'.join(between.join(map(regex.escape, parts)) for parts in words)})"

    number = r"0{0,9}(?P<number>[1-9][0-9]{0,8})(?P<letters>[a-z]{0,4})"
    joint, gap = r"\\?[_\p{Pd}\u2212]", r"\s{0,9}"  # Markdown escapes signs
    spaced, joined = r"(?:\\?[\s_\p{Pd}\u2212]){0,3}", rf"(?:{joint})?"
    letter = r"[\p{L}\p{M}\p{N}]"
    begin = rf"(?<!{letter})(?<!{letter}_{{1,3}})"  # _emphasis_ is no part of a word
    end = rf"(?!{letter}|_{{1,3}}{letter}|[-.,/:][0-9])"
    inner = rf"{gap}{name(spaced)}(?:\\?[\s_\p{{Pd}}\u2212:#]){{0,4}}{number}{gap}"
    loose = rf"[\])}}>]?\s?(?:{joint})?\s?[\[({{<]?"
    forms = [f"{regex.escape(opening)}{inner}{regex.escape(closing)}" for opening, closing in _BRACKETS]
    forms.append(rf"\({gap}{name(joined)}\s?{joint}\s?{number}{gap}\)")
    forms.append(rf"{begin}{name(joined)}{joint}{number}{end}")
    forms.append(rf"(?P<doubtful>{begin}{name(spaced)}(?:{loose}|\s{{2}}){number}{end})")
    forms.append(rf"(?P<doubtful>\[{gap}(?P<other>[^\W\d_]+){joint}{number}{gap}\\?\])")  # a translation
    return regex.compile("|".join(forms), regex.IGNORECASE)
