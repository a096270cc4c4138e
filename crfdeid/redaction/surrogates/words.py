"""Words of surrogates: their case and accents, and the words of German, French and further languages.

English and Spanish have rules and lists of their own in the modules of this package, but for demographic words. Every
other language with a file in features/languages/ has the words of that file, and those of its table "surrogates".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import regex

from features.languages import LANGUAGES, Language
from features.lexicons import lexicons, word_set

VOWELS = "aeiouhy"
"""Letters at the beginning of a name before which French elides an article, casefolded."""

_OWN_RULES = ("en", "es")

ENGLISH_AND_SPANISH_WORDS = lexicons(_OWN_RULES)
"""Class -> its English and Spanish words."""

ENGLISH_AND_SPANISH_TITLES = ENGLISH_AND_SPANISH_WORDS["honorific"] | word_set(
    "dr drs doctor md do phd rn np pa prof professor jr sr ii iii iv esq dra dres doctora señorita"
)
"""Titles and forms of address. Those of other languages are initials in these: "M. Quill"."""


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
    apart = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
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


def language_pack(locale: str) -> Language | None:
    """Return the pack of a locale's language; None for English, Spanish and languages without one.

    Example:
        >>> language_pack("de_AT").name, language_pack("es_ES")
        ('German', None)
    """
    code = locale.partition("_")[0]
    return None if code in _OWN_RULES else LANGUAGES.get(code)


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
