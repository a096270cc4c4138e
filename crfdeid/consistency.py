"""Document consistency: a value that is found once in a note is marked everywhere in it.

A name at the head of a letter is easy to find, the same name in the middle of a sentence is not. Every value that a
model found is therefore searched in the rest of its note:

- a name of a person: whole, in its parts ("Quill" after "Jane Quill"), and with one typing error (a
  letter wrong, missing or added, or two swapped) in a part of `_LEAST_MISSPELT_LENGTH` to `_MOST_MISSPELT_LENGTH`
  letters; "Müller" also as "MUELLER" and with the "s" of a genitive;
- any other value: whole, if it has at least `_LEAST_VALUE` letters and digits, and a capital or that many digits; a
  value without digits only if at least half of its occurrences were found.

A part of a name must look like a name: it begins with a capital, the note has the word nowhere in lower case outside
the found spans, and it is in no list of words that announce PHI (`features.lexicons`: months, titles, kin, places).
Account names such as "Quill.j@..." are no names. "Brown sputum" is not marked if the note has "brown" too, and "May"
never is.

A word is also found where a line ends in it, with a hyphen or, from `_LEAST_VALUE` letters or digits, without one.

Values in scripts without capitals are searched by their letters (`crfdeid.caseless`), as their tokens may be sentences.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import compress, starmap
from typing import NamedTuple, TypeVar

import regex

from crfdeid.caseless import canonical, caseless_words, find_caseless, is_caseless, weight
from crfdeid.documents import CONSISTENCY, LIST, RECORD, Document, Evidence, Span, merged_parts, overlapping, tokens_of
from crfdeid.label_schemes import SURROGATE_KINDS
from features.lexicons import fold_name, word_classes
from features.line_gaps import is_hyphenated, line_gaps
from features.tokenizer import Token, normal_form

_LEAST_PART = 3
_LEAST_MISSPELT_LENGTH = 6  # letters of a part of a name that is searched with typing errors
_MOST_MISSPELT_LENGTH = 40  # The search takes time and memory in the square of a word's length.
_LEAST_VALUE = 5
_WITHIN_A_NAME = {"", " ", "-", ", ", ","}

# Text after an account name, as in an e-mail address: PHI, but not a name.
_ADDRESS = regex.compile(r"[@＠]|[._．＿]\p{Default_Ignorable_Code_Point}*+\w")

_Words = tuple[str, ...]
_Key = TypeVar("_Key", bound=Hashable)


class TokenTable:
    """Columns of a note's tokens, at 16 bytes a token; equal words share one text.

    Args:
        tokens: the first tokens, sorted by position and without overlaps; `add` appends further ones.

    Attributes:
        words: the texts of the tokens.
        starts: their offsets.
        ends: their ends.

    Example:
        >>> table = TokenTable([Token("Dr", 0, 2), Token("Doe", 3, 6), Token("Doe", 8, 11)])
        >>> table.words, table.small, table.positions(Span(1, 4, "DOCTOR"))
        (['Dr', 'Doe', 'Doe'], {'Dr': 'dr', 'Doe': 'doe'}, range(0, 2))
    """

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self.words: list[str] = []
        self.starts, self.ends = array("i"), array("i")
        self._distinct: dict[str, str] = {}
        self.add(tokens)

    def add(self, tokens: Iterable[Token]) -> None:
        """Append tokens."""
        columns = tuple(zip(*tokens, strict=True))
        if columns:
            texts, starts, ends = columns
            self.words += map(self._distinct.setdefault, texts, texts)
            self.starts.extend(starts)
            self.ends.extend(ends)

    @cached_property
    def small(self) -> dict[str, str]:
        """Each distinct word in lower case, by `features.lexicons.fold_name`."""
        return {word: fold_name(word) for word in self._distinct}

    def positions(self, span: Span) -> range:
        """Return the positions of the tokens that share a character with a span."""
        first = bisect_right(self.ends, span.start)
        return range(first, bisect_left(self.starts, span.end, lo=first))

    def between(self, start: int, stop: int) -> Iterator[Token]:
        """Yield the tokens of some positions."""
        columns = (self.words[start:stop], self.starts[start:stop], self.ends[start:stop])
        return starmap(Token, zip(*columns, strict=True))

    def joined(self, word: str) -> Iterator[range]:
        """Yield the positions of the tokens between white space around each occurrence of a word."""
        stop = 0
        for i in [i for i, text in enumerate(self.words) if text == word] if word in self._distinct else ():
            if i < stop:
                continue
            first, stop = i, i + 1
            while first and self.ends[first - 1] == self.starts[first]:
                first -= 1
            while stop < len(self.words) and self.starts[stop] == self.ends[stop - 1]:
                stop += 1
            yield range(first, stop)


class _Values(NamedTuple):
    """Values to search for, each with the first span that has its most frequent type.

    Attributes:
        whole: by the words of a whole value, as in `TokenTable.small`.
        counts: how often the values were found, by their first spans.
        written: the whole values with the capitals of the note.
        parts: by a word of a name, as in `TokenTable.small`.
        common: words that the note has in lower case outside the spans, as in `TokenTable.small`.
    """

    whole: Mapping[_Words, Span]
    counts: Mapping[Span, int]
    written: frozenset[_Words]
    parts: Mapping[str, Span]
    common: frozenset[str]


def make_consistent(document: Document, tokens: TokenTable | None = None) -> Document:
    """Mark further occurrences of the values that are marked in a document.

    No span is changed or removed, and no added span shares a character with another. The added spans depend only on the
    document, and have the score of the span whose value occurs again. They begin and end at the edges of tokens, except
    for values in scripts without capitals.

    Args:
        document: a note with predicted spans.
        tokens: its tokens; None to tokenise it again.

    Example:
        >>> note = Document("1", "Pt: Jane Quill. Ms. Quill is stable.", (Span(4, 14, "PATIENT"),))
        >>> make_consistent(note).spans[1]
        Span(start=20, end=25, label='PATIENT')
    """
    if not document.spans:
        return document
    tokens = TokenTable(tokens_of(document)) if tokens is None else tokens
    joined = _joined_at_line_ends(document, tokens)
    added = {} if joined is None else _over_line_ends(document, joined)
    added |= _copies(document, tokens, added)
    added |= _caseless(document, added)
    if not added:
        return document
    evidence = dict(document.evidence)
    for span, origin in added.items():
        if origin in evidence:
            evidence[span] = Evidence(CONSISTENCY, evidence[origin].score, origin)
    return replace(document, spans=(*document.spans, *added), evidence=evidence)


def _copies(document: Document, tokens: TokenTable, others: Iterable[Span] = ()) -> dict[Span, Span]:
    """Return further occurrences, outside other spans, of the values that are marked in a document, with origins."""
    free = bytearray(b"\1") * len(tokens.words)  # 1 for each token without a span
    values = _values(document, tokens, free)
    for span in others:
        positions = tokens.positions(span)
        free[positions.start : positions.stop] = bytes(len(positions))
    whole = dict(_whole(tokens, free, values))
    doubtful = _doubtful(document, whole.values(), values.counts)
    for span in [span for span, origin in whole.items() if origin in doubtful]:
        positions = tokens.positions(span)
        free[positions.start : positions.stop] = b"\1" * len(positions)
        del whole[span]
    return whole | dict(_parts(document.text, tokens, free, values))


def _joined_at_line_ends(document: Document, tokens: TokenTable) -> TokenTable | None:
    """Return the tokens with those around line ends joined where they are a word of a value; None if none are.

    Two words of a value lose the hyphen and the margin of a quotation between them.
    """
    places = [*line_gaps(document.text)]
    if not places:
        return None
    taken = bytearray(len(tokens.words))
    for span in document.spans:
        positions = tokens.positions(span)
        taken[positions.start : positions.stop] = b"\1" * len(positions)
    known = {tokens.small[word] for word in set(compress(tokens.words, taken))}
    joined: list[Token] = []
    done = 0  # tokens that are in `joined`
    for gap in places:
        first = bisect_left(tokens.starts, gap.start()) - 1
        after = bisect_left(tokens.starts, gap.end(), lo=first + 1)
        if first < done or after == len(tokens.words) or tokens.ends[first] < gap.start():
            continue
        one, other = tokens.words[first], tokens.words[after]
        word = one + other
        if fold_name(word) in known or (taken[first] and taken[after] and is_hyphenated(gap[0])):
            joined += tokens.between(done, first)
            joined.append(Token(word, tokens.starts[first], tokens.ends[after]))
            done = after + 1
        elif after > first + 1 and known.issuperset((tokens.small[one], tokens.small[other])):
            hyphens = [token for token in tokens.between(first + 1, after) if token.text == "-" and "-" in known]
            joined += (*tokens.between(done, first + 1), *hyphens[:1])
            done = after
    return TokenTable([*joined, *tokens.between(done, len(tokens.words))]) if done else None


def _over_line_ends(document: Document, joined: TokenTable) -> dict[Span, Span]:
    """Return the further occurrences of values where a line ends in the value or in its occurrence, with origins."""
    text = document.text
    whole = {span for span in document.spans if _in_joined_word(text, joined, span)}
    return {
        span: origin
        for span, origin in _copies(document, joined).items()
        if origin in whole or _is_divided(text[span.start : span.end])
    }


def _in_joined_word(text: str, joined: TokenTable, span: Span) -> bool:
    places = ((joined.starts[i], joined.ends[i]) for i in joined.positions(span))
    return any(next(line_gaps(text[start:end]), None) for start, end in places)


def _is_divided(value: str) -> bool:
    """Return True for a value with a line end in it, and a hyphen or enough letters and digits."""
    gap = next(line_gaps(value), None)
    return gap is not None and (is_hyphenated(gap[0]) or sum(map(str.isalnum, value)) >= _LEAST_VALUE)


def _values(document: Document, tokens: TokenTable, free: bytearray) -> _Values:
    """Return the values of a document's spans; their tokens are no longer free."""
    places = [(span, tokens.positions(span)) for span in document.spans]
    for _, positions in places:
        free[positions.start : positions.stop] = bytes(len(positions))
    common = _common_words(tokens, free)
    whole: dict[tuple[_Words, str], list[Span]] = {}
    parts: dict[tuple[str, str], list[Span]] = {}
    written = set()
    for span, positions in places:
        texts = tuple(tokens.words[positions.start : positions.stop])
        words = tuple([tokens.small[text] for text in texts])
        is_name = _is_name(span)
        if is_name:
            for text, word in zip(texts, words, strict=True):
                if len(word) >= _LEAST_PART and not text.islower() and _looks_like_a_name(word, common):
                    parts.setdefault((word, span.label), []).append(span)
        if len(texts) > is_name and _is_specific(texts):  # one word of a name is a part
            whole.setdefault((words, span.label), []).append(span)
            written.add(words if texts == words else texts)  # shares one of two equal tuples
    commonest = _commonest(whole)
    return _Values(
        {words: spans[0] for words, spans in commonest.items()},
        {spans[0]: len(spans) for spans in commonest.values()},
        frozenset(written),
        {part: spans[0] for part, spans in _commonest(parts).items()},
        common,
    )


def _common_words(tokens: TokenTable, free: bytearray) -> frozenset[str]:
    """Return the words that a note has in lower case outside all spans and all text with "@"."""
    plain = bytearray(free)
    for positions in tokens.joined("@"):
        plain[positions.start : positions.stop] = bytes(len(positions))
    return frozenset([tokens.small[word] for word in set(compress(tokens.words, plain)) if word.islower()])


def _commonest(found: Mapping[tuple[_Key, str], Sequence[Span]]) -> dict[_Key, Sequence[Span]]:
    """Return the spans of the most frequent type of each key, of equals of the first type in the note."""
    most: dict[_Key, Sequence[Span]] = {}
    for (key, _), spans in found.items():
        if len(spans) > len(most.get(key, ())):
            most[key] = spans
    return most


def _doubtful(document: Document, copied: Iterable[Span], counts: Mapping[Span, int]) -> set[Span]:
    """Return the origins, no names and without digits, that a model found less often than not.

    A model that finds one of five such values is more often wrong than right.
    """
    known = {span for span, source in document.findings if source in (RECORD, LIST)}
    return {
        span
        for span, copies in Counter(copied).items()
        if copies > counts[span]
        and not (_is_name(span) or span in known or any(map(str.isdigit, document.text[span.start : span.end])))
    }


def _caseless(document: Document, added: Iterable[Span]) -> dict[Span, Span]:
    """Return the further occurrences of values in scripts without capitals, outside all spans, with their origins."""
    values: dict[tuple[str, str], list[Span]] = {}
    for span in document.spans:
        value = document.text[span.start : span.end]
        if value.isascii():
            continue
        is_name = _is_name(span)
        words = {canonical(value)} if is_caseless(value) else set()
        words = {word for word in words if weight(word) >= (_LEAST_PART if is_name else _LEAST_VALUE)}
        for word in sorted(words.union(caseless_words(value) if is_name else ())):
            values.setdefault((word, span.label), []).append(span)
    if not values:
        return {}
    commonest = _commonest(values)
    hits = {
        Span(start, end, commonest[word][0].label): commonest[word][0]
        for start, end, word in find_caseless(document.text, commonest)
    }
    taken = set(overlapping(hits, (*document.spans, *added)))
    copies = {span: origin for span, origin in hits.items() if span not in taken}
    counts = {spans[0]: len(spans) for spans in commonest.values()}
    doubtful = _doubtful(document, copies.values(), counts)
    return {span: origin for span, origin in copies.items() if origin not in doubtful}


def _is_name(span: Span) -> bool:
    return SURROGATE_KINDS.get(span.label) == "person"


def _whole(tokens: TokenTable, free: bytearray, values: _Values) -> Iterator[tuple[Span, Span]]:
    """Yield whole values outside all spans, the longest first, with their origins; their tokens are no longer free."""
    lengths: dict[str, set[int]] = {}  # of the values, by their first word
    for words in values.whole:
        lengths.setdefault(words[0], set()).add(len(words))
    first = {word: sorted(lengths[small], reverse=True) for word, small in tokens.small.items() if small in lengths}
    for i, word in enumerate(tokens.words):
        for length in first.get(word, ()):
            stop = i + length
            if stop > len(free) or 0 in free[i:stop]:
                continue
            texts = tuple(tokens.words[i:stop])
            origin = values.whole.get(tuple([tokens.small[text] for text in texts]))
            # Not in lower case where the value has capitals.
            if origin is not None and (texts in values.written or any(text[0].isupper() for text in texts)):
                free[i:stop] = bytes(length)
                yield Span(tokens.starts[i], tokens.ends[stop - 1], origin.label), origin
                break


def _parts(text: str, tokens: TokenTable, free: bytearray, values: _Values) -> Iterator[tuple[Span, Span]]:
    """Yield parts of names outside all spans, with their origins; adjacent parts are one name."""

    def one_name(whole: Span, span: Span) -> bool:
        return normal_form(text[whole.end : span.start]).text in _WITHIN_A_NAME

    single = dict(_single_parts(text, tokens, free, values))
    for whole, parts in merged_parts(single, one_name):
        # The most frequent type, of equals the last, which is more often the surname's.
        label = Counter(part.label for part in reversed(parts)).most_common(1)[0][0]
        yield whole._replace(label=label), next(single[part] for part in parts if part.label == label)


def _single_parts(text: str, tokens: TokenTable, free: bytearray, values: _Values) -> Iterator[tuple[Span, Span]]:
    parts = values.parts
    if not parts:
        return
    near = {form: part for part in reversed(list(parts)) if can_be_misspelt(part) for form in one_less(part)}
    initials = {part[0] for part in parts}  # an error in the first letter is not searched
    candidates = (word for word, lower in tokens.small.items() if lower[0] in initials)
    pairs = ((word, _origin(word, tokens.small[word], values, near)) for word in candidates)
    origins = {word: origin for word, origin in pairs if origin is not None}
    for i, word in enumerate(tokens.words):
        if word in origins and free[i] and not _ADDRESS.match(text, tokens.ends[i]):
            yield Span(tokens.starts[i], tokens.ends[i], origins[word].label), origins[word]


def _origin(written: str, word: str, values: _Values, near: Mapping[str, str]) -> Span | None:
    """Return the origin of a word that is part of a name, perhaps with an "s" or a typing error; else None."""
    if len(written) < _LEAST_PART or not written[0].isupper():
        return None
    parts = values.parts
    origin = parts.get(word) or _genitive(word, parts) or _misspelt(word, parts, near)
    return origin if origin is not None and _looks_like_a_name(word, values.common) else None


def _genitive(word: str, parts: Mapping[str, Span]) -> Span | None:
    """Return the origin of a word that is a part of a name with a further "s", or without its last one."""
    part = word.removesuffix("s") if word.endswith("s") else f"{word}s"
    return parts.get(part) if min(len(word), len(part)) > _LEAST_PART else None


def _looks_like_a_name(word: str, common: frozenset[str]) -> bool:
    return word.isalpha() and word not in common and not word_classes(word)


def _is_specific(texts: _Words) -> bool:
    """Return True for a value that identifies by itself: not "family", "Madrid", "9 pm" or "12"."""
    letters_and_digits = "".join(filter(str.isalnum, texts))
    written_so = any(text[0].isupper() for text in texts) or sum(map(str.isdigit, letters_and_digits)) >= _LEAST_VALUE
    return len(letters_and_digits) >= _LEAST_VALUE and written_so and (len(texts) > 1 or not word_classes(texts[0]))


def _misspelt(word: str, parts: Mapping[str, Span], near: Mapping[str, str]) -> Span | None:
    """Return the origin of the part of a name that differs from a word by one typing error."""
    if not is_near_length(len(word)):
        return None
    for form in (word, *one_less(word)):
        part = form if form in parts and can_be_misspelt(form) else near.get(form)
        if part is not None and part[0] == word[0] and within_one_edit(word, part):
            return parts[part]
    return None


def can_be_misspelt(part: str) -> bool:
    """Return True for a part of a name that is searched with typing errors, by its length."""
    return _LEAST_MISSPELT_LENGTH <= len(part) <= _MOST_MISSPELT_LENGTH


def is_near_length(length: int) -> bool:
    """Return True for a length of a word that can be one typing error away from such a part."""
    return _LEAST_MISSPELT_LENGTH - 1 <= length <= _MOST_MISSPELT_LENGTH + 1


def one_less(word: str) -> list[str]:
    """Return the word without each one of its letters."""
    return [word[:i] + word[i + 1 :] for i in range(len(word))]


def within_one_edit(word: str, other: str) -> bool:
    """Return True if one letter is changed, missing or added, or two adjacent ones are swapped (Damerau 1964).

    Example:
        >>> [within_one_edit("quillan", other) for other in ("qulilan", "quilan", "quiller")]
        [True, True, False]
    """
    i = next((k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    a, b = word[i:], other[i:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
