"""Rules for places by their names alone: provinces and large towns of Spain, states of the US, countries.

They are PHI in some corpora alone, so each is used only where the training notes hold examples that speak for it.
"""

from __future__ import annotations

from crfdeid.rules.rule import CAPITAL, Rule, one_of
from features.lexicons import LEXICONS

_SHORT = 3  # "OR" and "IN" are words too
_PROVINCES = tuple(sorted(LEXICONS["province"]))
_STATES = tuple(sorted(word for word in LEXICONS["state"] - {"new", "rhode", "island", "york"} if len(word) > _SHORT))
# Parts of names of countries, and words that are more often something else.
_PARTS = {"estados", "unidos", "states", "costa", "república", "salvador", "china", "mali"}
_COUNTRIES = tuple(sorted(LEXICONS["country"] - _PARTS))

PLACES = (
    Rule(
        "Spanish province",
        rf"(?={CAPITAL}){one_of(_PROVINCES)}",
        ("TERRITORIO", "STATE", "LOCATION", "GEOGRAPHIC_LOCATION"),
        ("natural de [Soria]", "(Dpto. de [Madrid])"),
        ("la rioja que bebió", "un madrid"),
        words=_PROVINCES,
        by_example=True,
    ),
    Rule(
        "US state",
        rf"(?={CAPITAL})(?:(?:North|South|West) )?{one_of(_STATES)}"
        r"|New (?:York|Jersey|Mexico|Hampshire)|Rhode Island",
        ("STATE", "LOCATION", "GEOGRAPHIC_LOCATION"),
        ("from [Ohio]", "in [North Dakota]", "[New York]"),
        ("ohio", "a new island"),
        words=(*_STATES, "york", "rhode"),
        by_example=True,
    ),
    Rule(
        "country",
        rf"(?={CAPITAL})(?:{one_of(_COUNTRIES)}|Reino Unido|Estados Unidos|EE\.? ?UU|Costa Rica"
        r"|United (?:States|Kingdom))",
        ("PAIS", "COUNTRY", "LOCATION", "GEOGRAPHIC_LOCATION"),
        ("nacido en [Francia]", "la sanidad de [Reino Unido]", "from [Ireland]", "(Tawn, [EE. UU].)"),
        ("la guinea", "reino unido"),
        words=(*_COUNTRIES, "reino", "estados", "ee", "rica", "united"),
        by_example=True,
    ),
)
