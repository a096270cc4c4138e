"""Hospitals and other institutions: what they are stays, what they are called changes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import regex

from crfdeid.redaction.persons import PARTICLES, TITLES
from crfdeid.redaction.surrogates.countries import known_countries, other_country
from crfdeid.redaction.surrogates.invented import invented
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.letters import cased, fold, folded
from crfdeid.redaction.surrogates.names import Names
from crfdeid.redaction.surrogates.places import ARTICLES, PIECE
from crfdeid.redaction.surrogates.shapes import other_code
from features.lexicons import LEXICONS, SPANISH_MONTHS

_KINDS_OF = """
    universitari universitaria materno infantil provincial regional comarcal nacional central municipal público
    pública privado privada militar médico médica médicos quirúrgico oncológico psiquiátrico psiquiátrica
    pediátrico geriátrico cardiológico oftalmológico dermatológico forense legal asistencial docente integral
    especialidades urgencias consultas atención primaria unidad servicio departamento sección área laboratorio
    laboratorios facultad universidad universitat university college school escuela colegio instituto institut
    fundació asociación sociedad clínicas centros complexo hospitalari hospitalaria maternidad medicina medicine
    cirugía odontología enfermería farmacia ciencias salud investigación investigaciones biomédica biomédico
    biomedical research foundation association department community county state city national veterans children's
    children women's mercy saint's urgent care family practice associates group system systems services service
    surgical cancer heart eye institute laboratory inc llc co corp ltd s.a sa sl edificio juzgados ciudad justicia
    gobierno ministerio consejería ayuntamiento policía guardia civil residencia geriátrica ancianos
"""
_KEPT = folded([*LEXICONS["hospital"], *_KINDS_OF.split(), *TITLES, *PARTICLES])
_PROVINCES = folded(LEXICONS["province"])
# One of these is exchanged for another where nothing else says which hospital it is.
_GENERIC = {
    "es": ("General", "Clínico", "Comarcal", "Provincial", "Regional"),
    "en": ("General", "Community", "Memorial", "Regional", "County"),
}
_DEDICATIONS = """
    de la Luz, del Carmen, de la Paz, del Pilar, de la Esperanza, del Camino, del Mar, de los Remedios, de Gracia,
    de la Vega, del Valle, de la Sierra, del Consuelo, de Belén
"""
_VIRGINS = tuple(name.strip() for name in _DEDICATIONS.split(","))
_NAMED_BY_MORE = regex.compile(
    r"(?P<who>(?:Virgen|(?:Nuestra|Ntra\.?|Nstra\.?)\s+(?:Señora|Sra\.?)))"
    r"(?P<which>(?:\s+(?:de|del|la|las|los))+\s+\p{Lu}\p{L}*)"
    rf"|(?P<day>[0-9]{{1,2}})(?P<of>\s+de\s+)(?P<month>{'|'.join(SPANISH_MONTHS)})(?!\p{{L}})",
    regex.IGNORECASE,
)
_ABBREVIATION = regex.compile(r"\p{Lu}{2,8}")
# "Hospital Universitario", "Medical Center" and the like in an abbreviation, before or after the name.
_ABBREVIATED = regex.compile(
    r"(?P<before>CHU|HGU|HCU|HU|HG|HC|CH|H|)(?P<name>\p{Lu}+?)(?P<after>RMC|GMC|CMC|MC|GH|CH|)"
)


class _Towns(NamedTuple):
    """The towns of one word of a locale, and their folded names."""

    names: tuple[str, ...]
    folded: frozenset[str]


@lru_cache(maxsize=8)
def _towns(locale: str) -> _Towns:
    names = tuple(name for name in invented(locale).town if " " not in name)
    return _Towns(names, folded(names))


class Hospitals:
    """Surrogates of hospitals and other institutions.

    Args:
        keyed: where the choices come from.
        locale: of the names.
        names: the surrogates of the same patient's names: hospitals are called after people.
        spelled_out: the hospitals that the note names: their abbreviations follow their surrogates.
    """

    def __init__(self, keyed: Keyed, locale: str, names: Names, spelled_out: Iterable[str] = ()) -> None:
        self._keyed, self._locale, self._names = keyed, locale, names
        self._towns = _towns(locale)
        self._spelled_out = sorted({text for text in spelled_out if not _ABBREVIATION.fullmatch(text)})

    def hospital(self, text: str) -> str | None:
        """Another hospital or institution: words such as "Hospital" or "Center" stay. None where it has no name."""
        if _ABBREVIATION.fullmatch(text):
            return self._abbreviation(text)
        parts: list[str] = []
        end = 0
        for match in _NAMED_BY_MORE.finditer(text):
            parts += self._words(text[end : match.start()]), self._named_by_more(match)
            end = match.end()
        found = "".join([*parts, self._words(text[end:])])
        return found if fold(found) != fold(text) else self._generic(text)

    def _abbreviation(self, text: str) -> str:
        """The initials of the surrogate of what the note spells out; else other initials, which agree with names'."""
        for whole in self._spelled_out:
            for articles in (False, True):
                if _initials(whole, articles=articles) == text:
                    found = _initials(self.hospital(whole) or text, articles=articles)
                    return found if found != text else self._names.initials(text)
        match = _ABBREVIATED.fullmatch(text)
        return match["before"] + self._names.initials(match["name"]) + match["after"] if match else text

    def _generic(self, text: str) -> str | None:
        """ "Hospital General" becomes "Hospital Clínico"; None where there is no such word."""
        generic = _GENERIC.get(self._locale.split("_")[0], ())
        for word in generic:
            match = regex.search(rf"(?<!\p{{L}}){word}(?!\p{{L}})", text, regex.IGNORECASE)
            if match:
                return text[: match.start()] + self._other("generic", match.group(), generic) + text[match.end() :]
        return None

    def _named_by_more(self, match: regex.Match[str]) -> str:
        """ "Virgen del Rocío" becomes "Virgen de la Luz", and "12 de Octubre" another day."""
        if match["who"]:
            return f"{match['who']} {self._other('virgin', match['which'].strip(), _VIRGINS)}"
        day = 1 + self._keyed.number("feast", fold(match.group()), 28)
        return f"{day}{match['of']}{self._other('feast', match['month'], SPANISH_MONTHS)}"

    def _words(self, text: str) -> str:
        return str(PIECE.sub(self._word, text))

    def _word(self, match: regex.Match[str]) -> str:
        word = match.group()
        plain = fold(word)
        if match["code"]:
            return other_code(word, self._keyed, self._locale)
        if plain in _KEPT:
            return word
        if plain in known_countries():
            return other_country(word, self._keyed, self._locale) or word
        if plain in self._towns.folded or plain in _PROVINCES:
            return self._other("town", word, self._towns.names)
        return self._names.initials(word) if word.isupper() and len(word) <= 4 else self._names.word(word)

    def _other(self, purpose: str, text: str, options: Iterable[str]) -> str:
        others = [name for name in options if fold(name) != fold(text)]
        return cased(self._keyed.choice(purpose, fold(text), others), text)


def _initials(text: str, *, articles: bool) -> str:
    """The first letters of a name's words, in capitals, with articles and prepositions or without."""
    words = [match["word"] for match in PIECE.finditer(text) if match["word"]]
    return "".join(fold(word)[0] for word in words if articles or fold(word) not in ARTICLES).upper()
