"""Countries by region, in English and Spanish: one is exchanged for another of its region, in its own language.

A region stays because it can be part of the findings: a fever after a journey to Mali is no fever after one to Norway.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.letters import fold

# Region: English name / Spanish name, or one name that both have. After a | come other names of the same country.
_REGIONS = """
Southern Europe: Spain/España, Portugal, Italy/Italia, Greece/Grecia, Malta, Cyprus/Chipre, Croatia/Croacia, Andorra
Western Europe: France/Francia, Germany/Alemania, Belgium/Bélgica, Netherlands/Países Bajos|Holland/Holanda, \
Austria, Switzerland/Suiza, Luxembourg/Luxemburgo, Ireland/Irlanda, \
United Kingdom/Reino Unido|UK|U.K.|Great Britain/Gran Bretaña|England/Inglaterra|Scotland/Escocia|Wales/Gales
Northern Europe: Norway/Noruega, Sweden/Suecia, Denmark/Dinamarca, Finland/Finlandia, Iceland/Islandia, Estonia, \
Latvia/Letonia, Lithuania/Lituania
Eastern Europe: Poland/Polonia, Romania/Rumanía|Rumania, Bulgaria, Hungary/Hungría, Ukraine/Ucrania, Russia/Rusia, \
Moldova/Moldavia, Slovakia/Eslovaquia, Serbia, Albania, Georgia, Armenia
Northern Africa: Morocco/Marruecos, Algeria/Argelia, Tunisia/Túnez, Libya/Libia, Egypt/Egipto, Mauritania
Western Africa: Senegal, Gambia|The Gambia, Mali/Malí, Guinea, Guinea-Bissau/Guinea-Bisáu, Sierra Leone/Sierra Leona, \
Liberia, Ivory Coast/Costa de Marfil, Ghana, Togo, Benin/Benín, Nigeria, Niger/Níger, Burkina Faso, \
Cape Verde/Cabo Verde
Central and Southern Africa: Cameroon/Camerún, Gabon/Gabón, Congo, Angola, Equatorial Guinea/Guinea Ecuatorial, Chad, \
Kenya/Kenia, Uganda, Tanzania, Ethiopia/Etiopía, Somalia, Sudan/Sudán, Eritrea, Mozambique, Zambia, Zimbabwe/Zimbabue, \
South Africa/Sudáfrica, Namibia, Madagascar
Middle East: Turkey/Turquía, Syria/Siria, Lebanon/Líbano, Israel, Jordan/Jordania, Iraq/Irak, Iran/Irán, \
Saudi Arabia/Arabia Saudí|Arabia Saudita, Yemen, Kuwait, Oman/Omán
Southern Asia: India, Pakistan/Pakistán, Bangladesh/Bangladés, Nepal, Sri Lanka, Afghanistan/Afganistán
Eastern Asia: China, Japan/Japón, South Korea/Corea del Sur|Korea/Corea, Mongolia, Taiwan/Taiwán
South-Eastern Asia: Philippines/Filipinas, Vietnam, Thailand/Tailandia, Indonesia, Malaysia/Malasia, Cambodia/Camboya, \
Laos, Myanmar|Burma/Birmania, Singapore/Singapur
Northern America: United States/Estados Unidos|United States of America/Estados Unidos de América|USA|U.S.A.|U.S.|US|\
EE.UU.|EE. UU.|EEUU, Canada/Canadá
Central America: Mexico/México|Méjico, Guatemala, Honduras, El Salvador|Salvador, Nicaragua, Costa Rica, Panama/Panamá
Caribbean: Cuba, Dominican Republic/República Dominicana, Haiti/Haití, Jamaica, Puerto Rico, Trinidad and Tobago/\
Trinidad y Tobago
Southern America: Colombia, Venezuela, Ecuador, Peru/Perú, Bolivia, Chile, Argentina, Uruguay, Paraguay, Brazil/Brasil
Oceania: Australia, New Zealand/Nueva Zelanda, Papua New Guinea/Papúa Nueva Guinea, Fiji/Fiyi
"""


# Locale -> English name of its country.
_HOMES = {
    **dict.fromkeys(("en", "en_US"), "United States"),
    **dict.fromkeys(("es", "es_ES", "es_CA"), "Spain"),
    **{"en_GB": "United Kingdom", "en_IE": "Ireland", "en_CA": "Canada", "en_AU": "Australia", "en_NZ": "New Zealand"},
    **{"en_IN": "India", "es_MX": "Mexico", "es_AR": "Argentina", "es_CL": "Chile", "es_CO": "Colombia"},
}


class Country(NamedTuple):
    """A country's usual names in both languages, and its region."""

    english: str
    spanish: str
    region: str


@lru_cache(maxsize=1)
def known_countries() -> dict[str, tuple[Country, set[str]]]:
    """Every name of a country, folded: the country, and in which of the languages "en" and "es" it has this name."""
    found: dict[str, tuple[Country, set[str]]] = {}
    for line in _REGIONS.strip().splitlines():
        region, _, names = line.partition(": ")
        for entry in names.split(", "):
            usual, *others = (name.split("/") for name in entry.split("|"))
            country = Country(usual[0], usual[-1], region)
            for name in (usual, *others):
                found.setdefault(fold(name[0]), (country, set()))[1].add("en")
                found.setdefault(fold(name[-1]), (country, set()))[1].add("es")
    return found


@lru_cache(maxsize=1)
def by_region() -> dict[str, tuple[Country, ...]]:
    """The countries of each region, in a fixed order."""
    found: dict[str, tuple[Country, ...]] = {}
    for country, _ in known_countries().values():
        if country not in found.get(country.region, ()):
            found[country.region] = (*found.get(country.region, ()), country)
    return found


def home_of(locale: str) -> str | None:
    """The English name of a locale's country; None where it is not listed."""
    return _HOMES.get(locale)


def exchanged(english: str, keyed: Keyed) -> Country:
    """Another country of the region of the one with this English name."""
    country = known_countries()[fold(english)][0]
    others = [other for other in by_region()[country.region] if other != country]
    return keyed.choice("country", country.english, others)


def other_country(text: str, keyed: Keyed, locale: str) -> str | None:
    """Another country of the same region, in the same language; None where it is no country.

    The country of the locale stays: it says no more than the language, and the surrogates of towns lie in it.
    """
    known = known_countries().get(fold(text.strip()))
    if known is None:
        return None
    country, languages = known
    if country.english == home_of(locale):
        return text
    found = exchanged(country.english, keyed)
    is_spanish = languages == {"es"} or (locale.startswith("es") and "es" in languages)
    return found.spanish if is_spanish else found.english
