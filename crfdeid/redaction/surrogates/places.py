"""Streets with their numbers, and towns with their postcodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from crfdeid.redaction.persons import TITLES
from crfdeid.redaction.surrogates.countries import other_country
from crfdeid.redaction.surrogates.invented import invented
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.letters import cased, fold, folded
from crfdeid.redaction.surrogates.names import Names
from crfdeid.redaction.surrogates.shapes import other_code
from crfdeid.redaction.surrogates.towns import US_STATES
from features.lexicons import LEXICONS

ARTICLES = folded(
    ["de", "del", "la", "las", "los", "el", "l", "d", "y", "e", "i", "the", "of", "and", "at", "les", "dels", "en"]
)
"""Small words of places' names, which stand in no abbreviation."""

PIECE = regex.compile(r"(?P<code>\p{L}{0,2}\p{Nd}[\p{L}\p{Nd}]*)|(?P<word>\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*)")
"""A number, with letters or without, or a word."""

# What stays of a street's address, whether in capitals or not.
_STREET = """
    avgda avd ada av avda cl cr cra pje psje pasaje plaça carrer avinguda rambla callejón travessera prolongación
    cuesta esquina entre esq km kilómetro portal planta escalera interior int apto depto puerta bajos ático atico
    entresuelo principal local nave oficina colonia sector manzana mz lote dcho der drcha izqda izda izquierdo
    derecho nº num número s n sn bis p way circle trail pike unit suite fl ste pkwy hwy cir
"""
_STREET_WORDS = folded([*LEXICONS["street"], *_STREET.split()]) - ARTICLES
_US_STATES = folded(US_STATES)
_SAINTS = folded(["san", "santa", "santo", "sant", "st", "saint"])
_REGION_OF = regex.compile(
    r"(?:provincia|comunidad(?: autónoma)?|ciudad|municipio|distrito|estado|isla|villa|barrio|colonia|condado|región|"
    r"province|county|city|state|town|village|district) (?:de|del|of) ",
    regex.IGNORECASE,
)
_TOWN = regex.compile(
    r"(?P<code>\p{L}{0,2}\p{Nd}[\p{L}\p{Nd}]*)|(?P<name>\p{L}[\p{L}\p{M}]*(?:[ .'’-]+\p{L}[\p{L}\p{M}]*(?!\p{Nd}))*)"
)
_STATES = tuple(sorted(name.upper() for name in LEXICONS["state"] if len(name) == 2))


class Places:
    """Surrogates of places.

    Args:
        keyed: where the choices come from.
        locale: of the names.
        names: the surrogates of the same patient's names: streets are called after people.
    """

    def __init__(self, keyed: Keyed, locale: str, names: Names) -> None:
        self._keyed, self._locale, self._names = keyed, locale, names
        self._towns = invented(locale).town

    def place(self, text: str) -> str:
        """Another street, town or country, whichever each part between commas looks like, with its postcode."""

        def is_street(part: str) -> bool:
            return any(match["word"] and fold(match["word"]) in _STREET_WORDS for match in PIECE.finditer(part))

        parts = regex.split(r"(\s*,\s*)", text)
        return "".join(self.street(part) if is_street(part) else self.town(part) for part in parts)

    def street(self, text: str) -> str:
        """Another street: "Street", "C/", "nº", "s/n" and the like stay, numbers become numbers of the same form."""
        out: list[str] = []
        end = 0
        for run in _runs(text):
            start, stop = run[0].start(), run[-1].end()
            found = self._code(run[0].group()) if run[0]["code"] else self._street_name([m.group() for m in run])
            out += text[end:start], found
            end = stop
        return "".join([*out, text[end:]])

    def town(self, text: str) -> str:
        """Another town or country for each that stands between commas; postcodes become postcodes of the same form."""
        parts = regex.split(r"(\s*[,;()/]\s*)", text)
        return "".join(other_country(part, self._keyed, self._locale) or self._town(part) for part in parts)

    def _street_name(self, texts: list[str]) -> str:
        """Another name for the run of words that is one: "de la Marina" becomes "de Ferrer"."""
        said = [word for word in texts if fold(word) not in ARTICLES]
        if not said:
            return " ".join(texts)
        lead = ["de"] if fold(texts[0]) in ("de", "del", "d") else []
        return " ".join([*lead, *map(self._street_word, said)])

    def _street_word(self, word: str) -> str:
        if fold(word) in TITLES or fold(word) in _SAINTS:
            return word
        return self._names.initials(word) if len(word) == 1 else self._names.word(word)

    def _town(self, text: str) -> str:
        """A town, a postcode, or both."""
        said = _REGION_OF.match(text)
        begin = said.end() if said else 0
        return text[:begin] + str(_TOWN.sub(self._town_or_code, text[begin:]))

    def _town_or_code(self, match: regex.Match[str]) -> str:
        name = match.group()
        if match["code"]:
            return self._code(name)
        if name in _STATES:
            return self._other(name, _STATES)
        if name.isupper() and len(name) <= 3:
            return self._names.initials(name)
        return self._other(name, US_STATES if fold(name) in _US_STATES else self._towns)

    def _other(self, text: str, options: Sequence[str]) -> str:
        plain = fold(text)
        others = [name for name in options if fold(name) != plain]
        return cased(self._keyed.choice("town", plain, others), text)

    def _code(self, text: str) -> str:
        return other_code(text, self._keyed, self._locale)


def _runs(street: str) -> Iterator[list[regex.Match[str]]]:
    """What changes in a street's address: each number by itself, and words side by side that stay in no list."""
    run: list[regex.Match[str]] = []
    for match in PIECE.finditer(street):
        is_name = match["word"] and fold(match["word"]) not in _STREET_WORDS
        if run and not (is_name and street[run[-1].end() : match.start()].isspace()):
            yield run
            run = []
        if match["code"]:
            yield [match]
        elif is_name:
            run.append(match)
    if run:
        yield run
