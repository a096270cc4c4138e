"""Words of surrogates: their case and accents, and the language packs of a locale.

All that depends on a language is in the table "surrogates" of its file in features/languages/. Some languages are read
together, since notes mix them; a locale without a pack is read as `DEFAULT_LOCALE` is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import regex

from features.languages import LANGUAGES, Language
from features.lexicons import lexicons

VOWELS = "aeiouhy"
"""Letters at the beginning of a name before which French elides an article, casefolded."""

DEFAULT_LOCALE = "en_US"
"""Locale whose words are read where no language is known, or it has no pack."""

_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
"""Letters without a Unicode decomposition, and what typists write instead."""


@lru_cache(maxsize=1 << 14)
def casefold_accents(text: str) -> str:
    """Return a text without accents and case, so that two spellings of a name compare equal.

    Surrogates depend on the result, so it must not change. `crfdeid.known_phi.folding.fold_to_alnum` also drops signs.

    Example:
        >>> casefold_accents("MACIÁ") == casefold_accents("Macia")
        True
    """
    lower = text.casefold()
    if lower.isascii():
        return lower
    apart = unicodedata.normalize("NFKD", lower.translate(_LETTERS))
    return "".join(c for c in apart if not unicodedata.combining(c))


def casefold_words(text: str) -> frozenset[str]:
    """Return the distinct words of a text, between white space, by `casefold_accents`.

    Example:
        >>> sorted(casefold_words("Maciá Macia Roe"))
        ['macia', 'roe']
    """
    return frozenset(map(casefold_accents, text.split()))


def with_case_of(word: str, like: str) -> str:
    """Return a word in the case of another: upper, lower or capitalised.

    Example:
        >>> [with_case_of("Ferrer", like) for like in ("QUILL", "quill", "Quill")]
        ['FERRER', 'ferrer', 'Ferrer']
    """
    letters = [c for c in like if c.isalpha()]
    if len(letters) > 1 and like.isupper():
        return word.upper()
    if like.islower():
        return word.lower()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def splice(text: str, pieces: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with pieces replaced, each given as its start, its end and the new text, in order.

    Example:
        >>> splice("Jane Quill", [(0, 4, "Orla"), (5, 10, "Marsh")])
        'Orla Marsh'
    """
    parts: list[str] = []
    end = 0
    for start, stop, new in pieces:
        parts += text[end:start], new
        end = stop
    return "".join([*parts, text[end:]])


# --- language packs


def own_pack(locale: str) -> Language | None:
    """Return the pack of a locale's language, or None.

    Example:
        >>> own_pack("de_AT").name, own_pack("sv_SE")
        ('German', None)
    """
    return LANGUAGES.get(locale.partition("_")[0])


@lru_cache(maxsize=64)
def packs_of(locale: str) -> tuple[Language, ...]:
    """Return the packs whose words are read in a locale's notes: its own, and those that it names in "read_with".

    Example:
        >>> [pack.code for pack in packs_of("es_MX")]
        ['es', 'en']
    """
    pack = own_pack(locale) or LANGUAGES[DEFAULT_LOCALE[:2]]
    return pack, *map(LANGUAGES.__getitem__, pack.entries("surrogates", "read_with"))


@lru_cache(maxsize=64)
def packs_with_quoted(locale: str) -> tuple[Language, ...]:
    """Return the packs of `packs_of`, and those of "quoted": their ages and full days of the week are read, too."""
    own = packs_of(locale)
    quoted = (code for pack in own for code in pack.entries("surrogates", "quoted"))
    return tuple(map(LANGUAGES.__getitem__, dict.fromkeys([*(pack.code for pack in own), *quoted])))


@lru_cache(maxsize=64)
def packs_anywhere(locale: str) -> tuple[Language, ...]:
    """Return the packs of `packs_of`, and those of `DEFAULT_LOCALE`, some words of which occur in all languages."""
    found = {pack.code: pack for pack in (*packs_of(locale), *packs_of(DEFAULT_LOCALE))}
    return tuple(found.values())


def surrogate_entries(locale: str, *path: str) -> tuple[str, ...]:
    """Return the entries of a list in the tables "surrogates" of a locale's packs, without repetitions."""
    return tuple(dict.fromkeys(entry for pack in packs_of(locale) for entry in pack.entries("surrogates", *path)))


def surrogate_expression(locale: str, table: str, field: str) -> str:
    """Return the alternatives of an expression in a table of a locale's packs; one that matches nothing for none."""
    sections = [surrogate_table(pack, table) for pack in packs_of(locale)]
    return "|".join(section[field] for section in sections if field in section) or "(?!)"


@lru_cache(maxsize=256)
def folded_in(locale: str, *path: str) -> frozenset[str]:
    """Return `surrogate_entries`, casefolded."""
    return frozenset(map(casefold_accents, surrogate_entries(locale, *path)))


@lru_cache(maxsize=64)
def classes_of(locale: str) -> Mapping[str, frozenset[str]]:
    """Return class -> its words in the languages of `packs_of`."""
    return lexicons(tuple(pack.code for pack in packs_of(locale)))


@lru_cache(maxsize=256)
def folded_entries(code: str, *path: str) -> frozenset[str]:
    """Return the entries of a list in a pack's table "surrogates", casefolded."""
    return frozenset(map(casefold_accents, LANGUAGES[code].entries("surrogates", *path)))


def surrogate_table(pack: Language, name: str) -> Mapping[str, Any]:
    """Return a table of a pack's table "surrogates"; an empty one if the pack lacks it."""
    found: Mapping[str, Any] = pack.content.get("surrogates", {}).get(name, {})
    return found


class NameForm:
    """A form of an address or institution, of which the part "name" is replaced.

    Args:
        form: an expression with a group "name".
        options: what can replace the name.
        unless: an expression of names that stay.
        also: a template of further, invented names, with {family}, {town}, {female} or {male}; "" for none.
    """

    def __init__(
        self, form: str, options: tuple[str, ...], unless: str = "(?!)", *, also: str = "", flags: int = 0
    ) -> None:
        self.form, self.options, self.also = regex.compile(form, flags), options, also
        self._unless = regex.compile(unless, flags)

    def find(self, text: str) -> list[regex.Match[str]]:
        """Return the matches whose name does not stay."""
        return [match for match in self.form.finditer(text) if not self._unless.fullmatch(match["name"])]


@lru_cache(maxsize=16)
def name_forms(code: str, table: str, flags: int = 0) -> tuple[NameForm, ...]:
    """Return the forms of a pack's table "streets" or "institutions"."""
    return tuple(
        NameForm(
            row["form"],
            tuple(" ".join(part.split()) for part in row["options"].split(",")),
            row.get("unless", "(?!)"),
            also=row.get("also", ""),
            flags=flags,
        )
        for row in surrogate_table(LANGUAGES[code], table).get("forms", ())
    )
