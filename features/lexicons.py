"""Small word lists: the words that announce an identifier, in English and Spanish. No list holds anybody's data.

A list is a class of words that behave alike around PHI ("Dr", "Dra", "Doctor"), so that what is learned of one helps
with the others. Add a language by adding its words; every list is matched without regard to case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType

from features.columns import Extractor, Value, WordColumn, window_heads


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH_MONTHS = "january february march april may june july august september october november december"
_SPANISH_MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
ENGLISH_MONTHS, SPANISH_MONTHS = tuple(_ENGLISH_MONTHS.split()), tuple(_SPANISH_MONTHS.split())
"""The months in the order of the year."""

_SHORT = 3
# Each way to write a month, in lower case -> its number.
_MONTH_NUMBERS = {
    form: number
    for names in (ENGLISH_MONTHS, SPANISH_MONTHS)
    for number, name in enumerate(names, start=1)
    for form in (name, name[:_SHORT])
} | {"sept": 9, "setiembre": 9, "set": 9}
MONTHS = frozenset(_MONTH_NUMBERS)
"""All ways to write a month's name: whole, in three letters, and the other ones of September."""

_WEEKDAYS = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun
    lunes martes miércoles jueves viernes sábado domingo
"""
_TITLES = """
    dr drs doctor doctors md do phd rn np pa prof professor attending resident intern physician surgeon nurse
    dra dres doctora médico médica facultativo especialista cirujano
"""
_HONORIFICS = "mr mrs ms miss mx sir madam master sr sra srta señor señora don doña d d.ª dña"
_KIN = """
    wife husband spouse son daughter mother father sister brother partner niece nephew cousin uncle aunt grandmother
    esposa esposo marido mujer hijo hija madre padre hermana hermano pareja sobrina sobrino prima primo tía tío abuela
"""
_HOSPITALS = """
    hospital hospitals clinic center centre infirmary medical memorial health healthcare hospice rehabilitation nursing
    clínica clínico centro sanatorio ambulatorio complejo hospitalario universitario universitaria general policlínico
    fundación instituto salud consultorio residencia
"""
_STREETS = """
    street avenue ave road rd boulevard blvd lane ln drive court ct place plaza square highway hwy route parkway terrace
    suite apt apartment floor building box
    calle c avenida avda av avd plaza pza plz pl paseo pº ps carretera ctra carrer camino ronda travesía glorieta rúa
    vía urbanización urb polígono barrio colonia col bloque piso puerta esc izq dcha izquierda derecha bajo
    apartado apdo
"""
_PLACES = """
    city town county state village district province country zip provincia localidad municipio ciudad país distrito
    north south east west new san santa saint st los las el la fort mount lake port springs
"""
_CONTACTS = "phone telephone tel tfno tfn teléfono fax pager beeper cell mobile móvil ext extension extensión contacto"
_IDENTIFIERS = """
    mrn id number no num medical record account acct unit case chart ssn license policy accession dictated
    nhc nass dni nif nie número núm nº historia episodio colegiado ncol col registro cipa tarjeta póliza matrícula
"""
_STATES = """
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois
    indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana
    nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming
    al ak az ar ca co ct de fl ga hi ia il ks ky ma md mi mn mo ms mt nc nd nh nj nm nv ny oh ok pa ri sc sd tn tx ut
    va vt wa wi wv wy dakota carolina hampshire jersey mexico york rhode island
"""
_SPAIN = """
    álava albacete alicante almería asturias ávila badajoz barcelona burgos cáceres cádiz cantabria castellón ceuta
    córdoba coruña cuenca gerona girona granada guadalajara guipúzcoa huelva huesca jaén león lérida lleida lugo madrid
    málaga melilla murcia navarra orense ourense palencia palmas pontevedra rioja salamanca segovia sevilla soria
    tarragona tenerife teruel toledo valencia valladolid vizcaya zamora zaragoza andalucía aragón canarias cataluña
    extremadura galicia baleares mallorca bilbao gijón oviedo vigo santander pamplona elche cartagena vitoria
"""
_COUNTRIES = """
    españa francia portugal italia alemania inglaterra suiza bélgica holanda rumanía bulgaria polonia rusia ucrania
    marruecos argelia senegal nigeria ghana mali guinea egipto china japón india pakistán bangladesh filipinas
    méxico cuba colombia venezuela ecuador perú bolivia chile argentina uruguay paraguay brasil honduras guatemala
    nicaragua panamá costa república dominicana salvador haití estados unidos canadá australia
    spain france italy germany england britain ireland scotland switzerland belgium netherlands poland romania russia
    ukraine morocco algeria egypt japan india pakistan philippines vietnam korea thailand brazil peru canada usa states
"""

# Name of the class -> its words, in lower case. A word may be in several classes.
LEXICONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "month": MONTHS,
        "weekday": _words(_WEEKDAYS),
        "title": _words(_TITLES),
        "honorific": _words(_HONORIFICS),
        "kin": _words(_KIN),
        "hospital": _words(_HOSPITALS),
        "street": _words(_STREETS),
        "place": _words(_PLACES),
        "contact": _words(_CONTACTS),
        "identifier": _words(_IDENTIFIERS),
        "state": _words(_STATES),
        "province": _words(_SPAIN),
        "country": _words(_COUNTRIES),
    }
)


_WORDS = frozenset().union(*LEXICONS.values())


def month_number(word: str) -> int | None:
    """The number of the month that a word of `MONTHS` names, from 1; None for another word.

    Case is that of expressions without regard to case, for which "İ" is an "i" and "ſ" an "s".

    Example:
        >>> month_number("Sept"), month_number("ABR"), month_number("mark")
        (9, 4, None)
    """
    return _MONTH_NUMBERS.get(word.casefold().replace("\u0307", ""))


@lru_cache(maxsize=1 << 16)
def word_classes(word: str) -> tuple[str, ...]:
    """The classes of `LEXICONS` that a word belongs to.

    Example:
        >>> word_classes("Dra"), word_classes("aspirin")
        (('title',), ())
    """
    lower = word.lower()
    return tuple(name for name, words in LEXICONS.items() if lower in words)


# The most classes that a word is in.
_MOST_CLASSES = max(map(len, map(word_classes, _WORDS)))


@dataclass(frozen=True)
class WordClasses(Extractor):
    """The lexicon classes of the words around the token: ``class[-1]=title``.

    Args:
        window: tokens on each side.
    """

    window: int = 2

    def word_columns(self) -> list[WordColumn]:
        """The features that a word alone decides, kind by kind."""
        heads = window_heads("class", self.window)
        return [WordColumn(heads, partial(_class, place=place)) for place in range(_MOST_CLASSES)]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"classes of words ({', '.join(LEXICONS)}) in [-{self.window}, {self.window}]"


def _class(word: str, place: int) -> Value:
    """The first class of a word, or the second, …"""
    classes = word_classes(word)
    return classes[place] if place < len(classes) else None
