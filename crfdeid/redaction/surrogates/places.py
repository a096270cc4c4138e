"""Streets with their numbers, and towns with their postcodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import regex

from crfdeid.redaction.persons import TITLES
from crfdeid.redaction.surrogates.countries import other_country
from crfdeid.redaction.surrogates.geography import Geography
from crfdeid.redaction.surrogates.invented import invented
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.letters import cased, fold, folded
from crfdeid.redaction.surrogates.names import Names
from crfdeid.redaction.surrogates.shapes import DOORS, other_code
from crfdeid.redaction.surrogates.streets import SAINT_WORDS, SAINTS, STREETS, STREETS_OF
from features.lexicons import LEXICONS

ARTICLES = folded(
    ["de", "del", "la", "las", "los", "el", "l", "d", "y", "e", "i", "the", "of", "and", "at", "les", "dels", "en"]
)
"""Small words of places' names, which stand in no abbreviation."""

PIECE = regex.compile(r"(?P<code>\p{L}{0,2}\p{Nd}[\p{L}\p{Nd}ºª°]*)|(?P<word>\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*)")
"""A number, with letters or without, or a word."""

# What stays of a street's address, whether in capitals or not.
_STREET = """
    avgda avd ada av avda cl cr cra pje psje pasaje plaça carrer avinguda rambla callejón travessera prolongación
    cuesta esquina entre esq km kilómetro portal planta escalera interior int apto depto puerta bajos ático atico
    entresuelo principal local nave oficina colonia sector manzana mz lote dcho der drcha izqda izda izquierdo
    derecho nº num número s n sn bis p way circle trail pike unit suite fl ste pkwy hwy cir
    correos carrera crta residencial edificio ed contrafrente frente pasealekua kalea
"""
_STREET_WORDS = folded([*LEXICONS["street"], *_STREET.split()]) - ARTICLES
_STREET_TITLES = """
    marqués marquesa conde duque capitán general coronel pintor poeta maestro obispo cardenal fiscal periodista mossèn
    alcalde ingeniero padre fray sor beata infanta reina rey príncipe princesa
"""
_TITLES = TITLES | folded(_STREET_TITLES.split())
BEFORE_NAMES = _TITLES | SAINT_WORDS.keys()
"""Titles, and words for a saint, of the people that streets and hospitals are called after, folded."""

_ANGLO_SAINTS = folded(["san", "santa", "santo", "sant", "st", "saint"])
_REGION_OF = regex.compile(
    r"(?:provincia|comunidad(?: autónoma)?|ciudad|municipio|distrito|estado|isla|villa|barrio|colonia|condado|región|"
    r"province|county|city|state|town|village|district) (?:de|del|of) ",
    regex.IGNORECASE,
)
_TOWN = regex.compile(
    r"(?P<country>(?<!\p{L})E-(?=[0-9]{5}))"
    r"|(?P<code>\p{L}{0,2}\p{Nd}[\p{L}\p{Nd}]*)"
    r"|(?P<name>\p{L}[\p{L}\p{M}]*(?:[ .'’-]+\p{L}[\p{L}\p{M}]*(?!\p{Nd}))*)"
)


class Places:
    """Surrogates of places.

    Args:
        keyed: where the choices come from.
        locale: of the names.
        names: the surrogates of the same patient's names: streets are called after people.
        marked: the towns that the note names: streets and hospitals of their names follow them.
        countries: the countries that the note names.

    Attributes:
        geography: the surrogates of known places.
    """

    def __init__(
        self, keyed: Keyed, locale: str, names: Names, marked: Iterable[str] = (), countries: Iterable[str] = ()
    ) -> None:
        self._keyed, self._locale, self._names = keyed, locale, names
        self._towns = invented(locale).town
        self._spanish = locale.startswith("es")
        self._marked = frozenset(map(fold, marked))
        self.geography = Geography(keyed, locale, countries)

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
            found = self._code(run[0].group()) if run[0]["code"] else self._street_name(text, run)
            out += text[end:start], found
            end = stop
        return "".join([*out, text[end:]])

    def town(self, text: str) -> str:
        """Another town, province or country for each that stands between commas, and postcodes of the same places."""
        whole = self.geography.place(text.strip()) if len(text) > 2 else None
        if whole is not None:
            return text.replace(text.strip(), whole)
        parts = regex.split(r"(\s*[,;()/]\s*)", text)
        return "".join(other_country(part, self._keyed, self._locale) or self._town(part) for part in parts)

    def known(self, name: str) -> str | None:
        """Another country or place for the name of one that is listed or that the note names; None for any other."""
        found = self.geography.place(name) or other_country(name, self._keyed, self._locale)
        return found or (self.town(name) if fold(name) in self._marked else None)

    def spanish(self, name: str) -> str | None:
        """Another place for the name of one of Spain that no first name or family name is taken for, or of the note."""
        known = self.geography.known(name)
        if known is not None and known.kind in ("capital", "province", "community"):
            return self.geography.place(name)
        return self.town(name) if fold(name) in self._marked else None

    def saint(self, word: str, name: str) -> str:
        """The name of another saint of the sex that a word tells: "San", "Santa"."""
        sex = SAINT_WORDS[fold(word)]
        return self.other("saint", name, SAINTS[sex])

    def other(self, purpose: str, text: str, options: Sequence[str]) -> str:
        """Another one of some options, with the case of the text."""
        plain = fold(text)
        return cased(self._keyed.choice(purpose, plain, [name for name in options if fold(name) != plain]), text)

    def _street_name(self, street: str, run: Sequence[regex.Match[str]]) -> str:
        """Another name for the run of words that is one: "de la Marina" becomes "de la Fuente"."""
        texts = [match.group() for match in run]
        begin = next((i for i, word in enumerate(texts) if fold(word) not in ARTICLES), None)
        if begin is None:
            return " ".join(texts)
        if len(run) == begin + 1 and len(texts[begin]) == 1:
            return " ".join([*texts[:begin], self.other("door", texts[begin], DOORS)])
        if not self._spanish:
            lead = ["de"] if fold(texts[0]) in ("de", "del", "d") else []
            return " ".join([*lead, *(self._street_word(word) for word in texts if fold(word) not in ARTICLES)])
        whole, name = street[run[0].start() : run[-1].end()], street[run[begin].start() : run[-1].end()]
        lead_text, rest = whole[: len(whole) - len(name)], texts[begin + 1 :]
        first = street[run[begin].start() : run[begin + 1].start()] if rest else ""  # with what is after it
        other = self.spanish(name) or other_country(name, self._keyed, self._locale)
        if other is None and rest and fold(texts[begin]) in SAINT_WORDS:
            other = first + self.saint(texts[begin], " ".join(rest))
        elif other is None and rest and fold(texts[begin]) in _TITLES:
            other = first + " ".join(self._names.full_name(rest))
        return lead_text + other if other is not None else self._called(whole, bool(lead_text) and run[0].start() > 0)

    def _called(self, name: str, after_article: bool) -> str:
        """The name of another street, with an article where this one has one."""
        if not after_article:
            return self.other("street", name, STREETS)
        found = self.other("street", name, STREETS_OF)
        return found if name.isupper() else found[0].lower() + found[1:]

    def _street_word(self, word: str) -> str:
        if fold(word) in TITLES or fold(word) in _ANGLO_SAINTS:
            return word
        return self._names.initials(word) if len(word) == 1 else self._names.word(word)

    def _town(self, text: str) -> str:
        """A town, a postcode, or both."""
        said = _REGION_OF.match(text)
        begin = said.end() if said else 0
        return text[:begin] + str(_TOWN.sub(self._town_or_code, text[begin:]))

    def _town_or_code(self, match: regex.Match[str]) -> str:
        name = match.group()
        if match["country"]:
            return name
        if match["code"]:
            return self._code(name)
        known = self.geography.place(name) or self.geography.town_abroad(name)
        if known is not None:
            return known
        if name.isupper() and len(name) <= 3:
            return self._names.initials(name)
        return self.other("town", name, self._towns)

    def _code(self, text: str) -> str:
        return self.geography.postcode(text) or other_code(text, self._keyed)


def _runs(street: str) -> Iterator[list[regex.Match[str]]]:
    """What changes in a street's address: each number by itself, and words side by side that stay in no list."""
    run: list[regex.Match[str]] = []
    last = ""
    for match in PIECE.finditer(street):
        word, before = fold(match["word"] or ""), last
        last = word
        is_name = (
            word.isalpha()
            and match["word"] not in "ºª"
            and (word not in _STREET_WORDS or (before, word) == ("gran", "via"))
        )
        gap = street[run[-1].end() : match.start()] if run else ""
        after_title = gap[:1] == "." and before in BEFORE_NAMES
        if run and not (is_name and (gap[1:] if after_title else gap).isspace()):
            yield run
            run = []
        if match["code"]:
            yield [match]
        elif is_name:
            run.append(match)
    if run:
        yield run
