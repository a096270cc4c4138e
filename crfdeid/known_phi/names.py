"""Names of persons: their words, names in a note that can be one person's, placeholders, and the search for a name.

A name is searched in full, in parts, with initials, and with one typing error. Placeholders and short values of a
record occur as ordinary words in every note.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import regex

from crfdeid.consistency import can_be_misspelt, is_near_length, one_less, within_one_edit
from crfdeid.known_phi.folding import FoldedText, PhraseMatcher, fold_to_alnum
from features.languages import DEFAULT_LANGUAGES, LANGUAGES, packs, with_defaults
from features.lexicons import fold_name, spellings, word_classes, word_set
from features.line_gaps import LINE_GAP

# A word of a name, with apostrophes inside ("O'Neill") and without the possessive.
NAME_WORD = regex.compile(
    r"(?<![\p{L}\p{M}]['’])\p{L}\p{M}*(?:['’]?\p{L}\p{M}*)*?(?=['’]s?(?![\p{L}\p{M}])|(?!['’]?[\p{L}\p{M}]))"
)


@lru_cache(maxsize=16)
def _listed(field: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Entries of a list of the table "records" in some languages; titles with forms of address but "M."."""
    own = packs(languages)
    found = {entry for pack in own for entry in pack.entries("records", field)}
    if field == "titles":
        found.update(word for pack in own for word in pack.words["honorific"] if len(word) > 1)
    return frozenset(found)


def _of_cells(field: str) -> frozenset[str]:
    """Entries of a list in all languages: the cells of a record can be of any."""
    return _listed(field, tuple(LANGUAGES))


PARTICLES = frozenset(word for pack in packs() for word in pack.entries("surrogates", "names", "joining"))


class PersonName(NamedTuple):
    """Parts of a person's name, in lower case.

    Attributes:
        words: words of two letters or more, without titles and particles.
        initials: single letters.
    """

    words: frozenset[str]
    initials: frozenset[str]

    @property
    def letters(self) -> frozenset[str]:
        """Initials, and the first letters of the words."""
        return self.initials | {word[0] for word in self.words}

    def joined(self, other: PersonName) -> PersonName | None:
        """Return the union of two names that can be one person's, else None.

        The longer name must have all words of the shorter, and each initial of it as an initial or first letter:
        "Quill", "J. Quill" and "Jane Quill" can be one person's, "John Quill" and "Jane Quill" cannot.
        """
        short, long = sorted((self, other), key=lambda name: (len(name.words), len(name.initials)))
        if short.words <= long.words and short.initials <= long.letters:
            return PersonName(long.words, long.initials | short.initials)
        return None


class PersonClusterer:
    """People of a note, numbered in order of their first mention.

    Of two names of one person, one has all words and initials of the other. Each name is therefore compared with few
    people: with those who have its rarest word, and with those whose own rarest word it has.

    Example:
        >>> people = PersonClusterer()
        >>> [people.number(parse_name(name)) for name in ("Quill", "Jane Quill", "Doe", "John Quill", "J. Doe")]
        [1, 1, 2, 3, 2]
    """

    def __init__(self) -> None:
        self._people: list[PersonName] = []
        self._having: defaultdict[str, set[int]] = defaultdict(set)  # people by each word and letter
        self._rarest: defaultdict[str, set[int]] = defaultdict(set)  # people by one word, or by one initial

    def number(self, name: PersonName) -> int:
        """Return the number of the first person who can have a name, from 1; a fuller name replaces a shorter one."""
        fuller = self._having[min(name.words or name.initials, key=lambda part: len(self._having[part]))]
        shorter = (self._rarest[part] for part in name.words | name.letters)
        candidates = sorted(fuller.union(*shorter))
        index = next((i for i in candidates if self._people[i].joined(name)), len(self._people))
        if index == len(self._people):
            self._people.append(name)
            parts = name.words or name.initials
            self._rarest[min(parts, key=lambda part: len(self._rarest[part]))].add(index)
        person = self._people[index] = self._people[index].joined(name) or name
        for part in person.words | person.letters:
            self._having[part].add(index)
        return index + 1


def parse_name(text: str) -> PersonName | None:
    """Return the parts of a name; None for a text without any.

    Example:
        >>> sorted(parse_name("Dr. J. Quill's").words)
        ['quill']
    """
    found = [match.group().lower() for match in NAME_WORD.finditer(text)]
    titles = _listed("titles", DEFAULT_LANGUAGES)
    words = frozenset(w for w in found if len(w) > 1 and w not in titles and w not in PARTICLES)
    initials = frozenset(w for w in found if len(w) == 1)
    return PersonName(words, initials) if words or initials else None


# A word of a longer name can be a placeholder ("Unknown Quill"); shorter ones are names, too ("Nan", "Na").
_MIN_PLACEHOLDER_WORD = 4
_FILLED = regex.compile(r"x+|0+")

PLACEHOLDER = "placeholder"
"""Reason: the value means a missing one."""

SHORT = "short"
"""Reason: a single letter is searched only next to the rest of its name, and an identifier of fewer than
`MIN_SEARCHED_LENGTH` letters and digits only after a word such as "MRN"."""

MIN_SEARCHED_LENGTH = 4
"""Fewest letters and digits of an identifier that is searched everywhere."""


def is_placeholder(value: str) -> bool:
    """Return True for a value without letters and digits, and for words that mean a missing value.

    Example:
        >>> [is_placeholder(value) for value in ("N/A", " - ", "Desconocido", "Quill")]
        [True, True, True, False]
    """
    folded = fold_to_alnum(value)
    return not folded or folded in _of_cells("placeholders")  # "N/A" and "<NA>" are "na"


def _is_placeholder_word(word: str) -> bool:
    """Return True for a folded word that is a placeholder within a name: "null" in "null Quill"."""
    return len(word) >= _MIN_PLACEHOLDER_WORD and (word in _of_cells("placeholders") or word in _of_cells("headings"))


def unsearched_reason(kind: str, value: str) -> str | None:
    """Return the reason that a value of a record is not searched everywhere in its notes, or None.

    Args:
        kind: one of `crfdeid.known_phi.identifiers.IDENTIFIER_KINDS`.
        value: a value that is not empty.

    Returns:
        `PLACEHOLDER`, `SHORT` or None.
    """
    folded = fold_to_alnum(value)
    if is_placeholder(value) or _FILLED.fullmatch(folded):
        return SHORT if kind == "name" and folded == "x" else PLACEHOLDER
    if kind == "name":
        if folded in _of_cells("headings") or _is_title(value):
            return PLACEHOLDER
        return SHORT if len(folded) == 1 and folded.isascii() and folded.isalpha() else None
    return SHORT if kind != "date" and len(folded) < MIN_SEARCHED_LENGTH else None


def _is_title(name: str) -> bool:
    words = [match.group().lower() for match in NAME_WORD.finditer(name)]
    return bool(words) and (_of_cells("titles") - PARTICLES).issuperset(words)


# --- search for a name

_PLACES = {"region", "country"}  # no ordinary words, even in lower case

_LEAST_PART = 2
_LEAST_WITH_ENDING = 5  # "Müllers": a genitive's "s"
_LEAST_SMALL = 3  # two letters in lower case are too few for a name
_MOST_INITIALS = 3

_CAPITAL_WITHIN = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")
# Between the words of one name: "Quill, Jane", "jane.quill", "Smith-Jones", "J. Quill".
_WITHIN_A_NAME = regex.compile(rf"[\s,_\p{{Pd}}]{{0,4}}|\.|[,_]?{LINE_GAP}")
_AFTER_AN_INITIAL = regex.compile(rf"\.?(?:[\s,_\p{{Pd}}]{{0,3}}|[,_]?{LINE_GAP})")
_ARTICLES = frozenset("aeiouy")

# A word of a name that is written as several: "Mac Donald", "de la Cruz", "Anne-Marie".
_BETWEEN_PIECES = regex.compile(r"\.?[\s_]{0,3}(?:[\p{Pd}\u2212'’`´][\s_]{0,3})?")
_HYPHEN = regex.compile(r"[\p{Pd}\u2212]")
_MOST_PIECES = 4
_LEAST_SPLIT = 5
_LEAST_LAST_PIECE = 3
# A word of a name with a line end in it.
_AT_LINE_END = regex.compile(rf"['’`´]?{LINE_GAP}['’`´]?")
_ALONE = frozenset("odl")  # single letters that begin a name: "O Neill", "D Angelo", "L Hermite"
# Words that begin a name of any origin in lower case, too; other adjacent words may be no name ("con suelo").
_PREFIX_WORDS = word_set("mac mc fitz van von de del dela des di da do dos du d o l le san santa saint st")


@lru_cache(maxsize=16)
def _ambiguous(languages: tuple[str, ...]) -> frozenset[str]:
    """Folded names that are ordinary words in notes."""
    return frozenset(fold_to_alnum(word) for pack in packs(languages) for word in pack.ambiguous)


def is_common_word(name: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> bool:
    """Return True for a name that is an ordinary word of notes in lower case.

    Args:
        name: in the form of `fold_to_alnum`.
        languages: codes of the languages of the notes.

    Example:
        >>> [is_common_word(name) for name in ("brown", "may", "quill", "carolina")]
        [True, True, False, False]
    """
    return name in _ambiguous(languages) or not _PLACES.issuperset(word_classes(name, languages))


class _Word(NamedTuple):
    """A word of a note that may belong to the name.

    Attributes:
        start: offset of its first character.
        end: offset after its last character.
        part: the matching part of the name, perhaps misspelt; "" for an initial or a particle.
        sure: True if the word alone identifies the name; else its neighbours decide.
        initial: True for an initial, or several without a space.
    """

    start: int
    end: int
    part: str
    sure: bool
    initial: bool


class NameMatcher:
    """Search for the name of one person.

    Args:
        values: the name in the record, or several of its forms ("Jane A. Quill", "QUILL, JANE").
        languages: codes of the languages of the notes.

    Example:
        >>> text = "Ms. Sorelby (J. Sorrelby) works; seen by Jo Marsh."
        >>> [text[a:b] for a, b in NameMatcher(["Sorrelby, Jane"]).find(text, FoldedText(text))]
        ['Sorelby', 'J. Sorrelby']
    """

    def __init__(self, values: Iterable[str], languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> None:
        self._languages = languages
        self._parts: set[str] = set()
        self._initials: set[str] = set()
        joined: set[str] = set()
        wholes = []
        for value in values:
            why = unsearched_reason("name", value)
            if why is None:
                wholes.append((value, None))
            for half in value.split(",") if why != PLACEHOLDER else ():
                joined.update(self._add(half))
        self._near: defaultdict[str, list[str]] = defaultdict(list)  # parts by what a typing error leaves of them
        for part in sorted(self._parts):
            for form in (part, *one_less(part)) if can_be_misspelt(part) else ():
                self._near[form].append(part)
        self._parts |= joined
        self._parts |= {f"{part}s" for part in self._parts if len(part) >= _LEAST_WITH_ENDING}
        self._sorted = sorted(self._parts)
        self._whole = PhraseMatcher(wholes)

    def _add(self, half: str) -> Iterator[str]:
        """Add the words of the part of a name before or after a comma; yield adjacent words joined into one."""
        words = [word for word in NAME_WORD.findall(half) if not _is_placeholder_word(fold_to_alnum(word))]
        is_name = [word.lower() not in _of_cells("titles") | PARTICLES for word in words]
        if words and words[-1].lower() in PARTICLES:  # "Minh Do": the last word is no particle
            is_name[-1] = True
        for word in compress(words, is_name):
            self._initials.add(fold_to_alnum(word)[:1])
            # Variants such as "O Neill" and "Mac Donald".
            pieces = [word, *regex.split("['’]", word), *_CAPITAL_WITHIN.split(word)]
            self._parts.update(part for piece in pieces for part in _forms(piece) if len(part) >= _LEAST_PART)
        for last in range(1, len(words)):
            for first in range(max(0, last + 1 - _MOST_PIECES), last if is_name[last] else 0):
                together = fold_to_alnum("".join(words[first : last + 1]))
                if len(together) >= _LEAST_SPLIT:
                    yield together

    def find(self, text: str, folded: FoldedText) -> Iterator[tuple[int, int]]:
        """Yield the offsets of the name in a text; they may overlap.

        Args:
            text: the note.
            folded: the same text, folded.
        """
        for start, end, _ in self._whole.find(folded):
            if end - start >= _LEAST_SMALL or not text[start].islower():
                yield start, end
        chain: list[_Word] = []
        for word in self._words(text):
            if chain and not _is_one_name(text, chain[-1], word):
                yield from _settle(chain)
                chain = []
            chain.append(word)
        yield from _settle(chain)

    def _words(self, text: str) -> Iterator[_Word]:
        reached = 0
        for match in NAME_WORD.finditer(text):
            if match.start() < reached:
                continue
            word = match.group()
            found = self._of_pieces(match, text) or self._word(word, match.start(), text)
            if found is not None:
                reached = found.end
                yield found
                continue
            start = match.start()
            pieces = _CAPITAL_WITHIN.split(word)
            for piece in pieces if len(pieces) > 1 else ():
                found = self._word(piece, start, text)
                if found is not None:
                    yield found
                start += len(piece)

    def _of_pieces(self, first: regex.Match[str], text: str) -> _Word | None:
        """Return the longest part of the name that begins with a word and is written as several words, or None."""
        letters, pieces, found, end = fold_to_alnum(first.group()), [first.group()], None, first.end()
        hyphen = divided = False
        while len(pieces) < _MOST_PIECES and self._is_head(letters):
            at_line_end = _AT_LINE_END.match(text, end)
            gap = at_line_end or _BETWEEN_PIECES.match(text, end)
            following = gap and gap.end() > end and NAME_WORD.match(text, gap.end())
            if not gap or not following:
                break
            hyphen = hyphen or _HYPHEN.search(gap.group()) is not None
            divided = divided or at_line_end is not None
            pieces.append(following.group())
            letters, end = letters + fold_to_alnum(following.group()), following.end()
            if letters in self._parts and (
                _are_divided(pieces, hyphen=hyphen)
                if divided
                else _are_pieces(pieces, hyphen=hyphen, languages=self._languages)
            ):
                found = _Word(first.start(), end, letters, sure=True, initial=False)
        return found

    def _word(self, word: str, start: int, text: str) -> _Word | None:
        folded, end = fold_to_alnum(word), start + len(word)
        capital = word[0].isupper()
        part = folded if folded in self._parts else self._misspelt(folded)
        if part:
            sure = capital or (len(folded) >= _LEAST_SMALL and not is_common_word(folded, self._languages))
            return _Word(start, end, part, sure, initial=False)
        if self._initials.issuperset(folded) and len(folded) <= (_MOST_INITIALS if word.isupper() else 1):
            sure = word.isupper() or text.startswith(".", end)
            if sure or folded not in _ARTICLES:
                return _Word(start, end, "", sure, initial=True)
        return _Word(start, end, "", sure=False, initial=False) if folded in PARTICLES else None

    def _is_head(self, letters: str) -> bool:
        """Return True if a longer part of the name begins with some letters."""
        after = bisect_right(self._sorted, letters)
        return letters != "" and after < len(self._sorted) and self._sorted[after].startswith(letters)

    def _misspelt(self, word: str) -> str:
        """Return the part of the name that a word is one typing error away from; "" if there is none."""
        if not self._near or not is_near_length(len(word)):
            return ""
        parts = (part for form in (word, *one_less(word)) for part in self._near.get(form, ()))
        found = min((part for part in parts if within_one_edit(word, part)), default="")
        return "" if found and is_common_word(word, self._languages) else found


def _forms(word: str) -> frozenset[str]:
    """The ways to write a word of a name in the form of `fold_to_alnum`, with "ae" for "ä" and the reverse."""
    return frozenset(map(fold_to_alnum, (word, *spellings(word), fold_name(word))))


def _are_pieces(pieces: Sequence[str], *, hyphen: bool, languages: tuple[str, ...]) -> bool:
    """Return True if words that spell a part of the name together are no separate words ("con suelo")."""
    small = [fold_to_alnum(piece) for piece in pieces]
    if (
        sum(map(len, small)) < _LEAST_SPLIT
        or len(small[-1]) < _LEAST_LAST_PIECE
        or any(len(one) < 2 and one not in _ALONE for one in small[:-1])
    ):
        return False
    if pieces[-1][0].isupper() or hyphen or small[0] in _PREFIX_WORDS:
        return True
    others = frozenset[str]().union(*(pack.function_words for pack in packs(with_defaults(languages))))
    return not any(one in others or is_common_word(one, languages) or len(one) < _LEAST_SMALL for one in small)


def _are_divided(pieces: Sequence[str], *, hyphen: bool) -> bool:
    """Return True if words around a line end that spell a part of the name are no separate words ("Quill", "S:")."""
    is_name = hyphen or pieces[0][0].isupper() or sum(map(len, pieces)) >= _LEAST_SPLIT
    return is_name and pieces[-1] not in ("s", "S")


def _is_one_name(text: str, word: _Word, following: _Word) -> bool:
    between = text[word.end : following.start]
    return (_AFTER_AN_INITIAL if word.initial else _WITHIN_A_NAME).fullmatch(between) is not None


def _settle(chain: list[_Word]) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the name in adjacent words: two parts in any case, or one with a capital, with initials."""
    parts = [word for word in chain if word.part]
    together = len({word.part for word in parts}) > 1 or (parts and any(w.initial and w.sure for w in chain))
    sure = [i for i, word in enumerate(chain) if word.part and (word.sure or together)]
    if not sure:
        return
    first, last = sure[0], sure[-1]
    while first and chain[first - 1].initial:
        first -= 1
    while last + 1 < len(chain) and chain[last + 1].initial:
        last += 1
    yield chain[first].start, chain[last].end
