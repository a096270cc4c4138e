"""Given names to choose from, as tables: full names for Spanish, and pet names that English lists have among theirs."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from crfdeid.errors import SettingError, UnknownNameError
from crfdeid.redaction.surrogates.chooser import fold
from crfdeid.redaction.surrogates.place_tables import spanish_towns

if TYPE_CHECKING:
    from faker import Faker

_SPANISH_FEMALE = """
    Adela Adriana Aitana Alba Alejandra Alicia Amalia Amelia Amparo Ana Andrea Antonia Araceli Ariadna Aurora Ángela
    Bárbara Beatriz Begoña Belén Berta Blanca
    Camila Candela Carla Carlota Carmen Carolina Catalina Cecilia Celia Clara Claudia Concepción Consuelo Cristina
    Daniela Débora Delia Diana Dolores
    Elena Elisa Elvira Emilia Emma Encarnación Esperanza Estefanía Estela Esther Eugenia Eulalia Eva
    Fabiola Fátima Felisa Fernanda Francisca
    Gabriela Gema Gloria Graciela Guadalupe
    Inés Inmaculada Irene Iris Irma Isabel
    Jacinta Jimena Josefa Josefina Juana Judith Julia Juliana Julieta
    Lara Laura Leonor Leticia Lidia Lorena Lourdes Lucía Luisa
    Macarena Magdalena Manuela Marcela Margarita María Mariana Marina Marta Martina Matilde Mercedes Micaela Milagros
    Miriam Mónica Montserrat
    Nadia Natalia Nerea Nieves Noelia Noemí Nuria
    Ofelia Olga Olivia
    Paloma Patricia Paula Paulina Piedad Pilar Purificación
    Raquel Rebeca Regina Remedios Rita Rocío Rosa Rosalía Rosario Ruth
    Sabina Sandra Sara Silvia Sofía Soledad Sonia Soraya Susana
    Tamara Tania Tatiana Teresa Tomasa
    Valentina Valeria Vanesa Verónica Vicenta Victoria Violeta Virginia
"""
_SPANISH_MALE = """
    Aarón Abel Adolfo Adrián Agustín Alberto Alejandro Alfonso Alfredo Álvaro Andrés Antonio Arturo Augusto Aurelio
    Bartolomé Benito Benjamín Bernardo Bruno
    Camilo Carlos Carmelo César Clemente Claudio Cristian Cristóbal
    Damián Daniel Darío David Diego Domingo
    Eduardo Elías Eloy Emilio Enrique Ernesto Esteban Eugenio
    Fabián Federico Felipe Félix Fermín Fernando Fidel Francisco
    Gabriel Gaspar Gerardo Germán Gonzalo Gregorio Guillermo Gustavo
    Ignacio Isaac Isidro Ismael Iván
    Jacinto Jacobo Jaime Javier Jerónimo Joaquín Joel Jorge José Juan Julián Julio
    Leandro Leonardo Leopoldo Lorenzo Lucas Luciano Luis
    Manuel Marcelo Marcos Mariano Mario Martín Mateo Matías Mauricio Miguel Moisés
    Narciso Néstor Nicolás Norberto
    Octavio Omar Orlando Óscar
    Pablo Patricio Pedro Plácido
    Rafael Raimundo Ramiro Ramón Raúl Ricardo Roberto Rodolfo Rodrigo Rogelio Román Rubén
    Salvador Samuel Santiago Saúl Sebastián Sergio Simón
    Tadeo Teodoro Timoteo Tomás
    Valentín Valerio Vicente Víctor
"""
SPANISH_FEMALE, SPANISH_MALE = (tuple(sorted(names.split())) for names in (_SPANISH_FEMALE, _SPANISH_MALE))
"""Given names of Spain that people of all ages have, none of them a pet name."""

_ENGLISH_PET_NAMES = """
    abby allie andy angie annie barb becky ben bess beth betsy betty bill billy bob bobbie bobby brad brandi brandy
    bud candy carrie cassie cathy charlie cheri chris chrissy christie christy chuck cindy clay cliff connie dan
    danny dave deb debbie don donnie doug dottie drew ed eddie ellie frankie fred gabe ginger ginny greg gregg gus
    hank jackie jake jamie jan janie jeannie jeff jen jenny jerry jess jessie jim jimmy jo jodi jodie jody joe joey
    johnny jon joni joy judy kari kathy katie kay kelli kellie ken kenny kerri kim kristi kristie kristy larry lenny
    liz lonnie maggie mandy margie matt max meg mickey mike mindy missy mitch molly nan nate nick nikki pam pat
    patty peggy penny pete phil polly ralph randi randy ray rick rickey ricky rob robbie rob ron ronnie sally sam
    sammy sandy sheri sherri sherry stacie stacy steph steve sue susie suzy tammie tammy ted terri terry tim tina
    tom tommy toni tony traci tracie tricia trish val vicki vickie vince wendy will willie zach
"""
ENGLISH_PET_NAMES = frozenset(_ENGLISH_PET_NAMES.split())
"""Pet names in small letters."""

_ODD_FAMILY_NAMES = """
    abril amo amor bajo barriga bas bello bueno cabeza cal caro coca hoz luz malo manso mas mate mayo pera pi poza
"""
ODD_FAMILY_NAMES = frozenset(_ODD_FAMILY_NAMES.split())
"""Spanish family names, folded, that a reader takes for another word first."""


# Draws from Faker for a list that it makes up as it goes; it repeats itself, so the list is shorter.
_DRAWS = 500
_FEWEST = 20

# Where given names are looked up, whatever the surrogates' locale: notes name people of many countries.
_GIVEN = (
    *("es_ES", "es_MX", "es_AR", "es_CL", "es_CO", "pt_PT", "pt_BR", "it_IT", "fr_FR"),
    *("en_US", "en_GB", "en_IE", "en_NZ", "de_DE", "nl_NL", "pl_PL", "ro_RO"),
)


class Invented(NamedTuple):
    """Invented names of a locale: each list sorted and without repeats, of single words but for towns.

    Attributes:
        female: first names of women to choose from, none of them a pet name.
        male: first names of men to choose from, none of them a pet name.
        last: family names to choose from, none of them a first name.
        town: towns.
        given: first names that the locale knows, folded, with pet names: "female" or "male".
        family: family names that the locale knows, folded.
    """

    female: tuple[str, ...]
    male: tuple[str, ...]
    last: tuple[str, ...]
    town: tuple[str, ...]
    given: Mapping[str, str]
    family: frozenset[str]


@lru_cache(maxsize=8)
def locale_lists(locale: str) -> Invented:
    """The invented names of a locale; the same for the same version of Faker.

    Raises:
        UsageError: Faker has no such locale, or no names of its own for it; or they are few, or not in Latin letters.
    """
    from faker import Faker  # noqa: PLC0415
    from faker.config import AVAILABLE_LOCALES  # noqa: PLC0415

    if locale not in AVAILABLE_LOCALES:
        problem = f"unknown locale '{locale}': choose one of Faker's, such as en_US, en_GB, es_ES or de_DE"
        raise UnknownNameError(problem)
    fake = Faker(locale)
    fake.seed_instance(0)
    if not _speaks(fake, "person", locale):
        raise SettingError(f"the locale '{locale}' has no names of its own: choose another, such as en_GB or es_ES")
    female, male, last = (_names(fake, kind) for kind in ("first_name_female", "first_name_male", "last_name"))
    if not all(map(_is_latin, (*female, *male, *last))):
        problem = f"the names of the locale '{locale}' are not in Latin letters: choose another, such as en_GB"
        raise SettingError(problem)
    if min(map(len, (female, male, last))) < _FEWEST:
        raise SettingError(f"the locale '{locale}' has too few names: choose another, such as en_GB or es_ES")
    if locale in ("es", "es_ES"):
        town = spanish_towns()
    else:
        town = _drawn(fake.city) if _speaks(fake, "address", locale) else ()
    family = frozenset(map(fold, last))
    female, male = (_of_sex(names, sex) for names, sex in ((female, "female"), (male, "male")))
    given = {fold(name): sex for names, sex in ((female, "female"), (male, "male")) for name in names}
    last = _family_names(last, locale)
    female, male = _full(female, locale, SPANISH_FEMALE), _full(male, locale, SPANISH_MALE)
    return Invented(female, male, last, town if len(town) >= _FEWEST else last, given, family)


def _full(names: tuple[str, ...], locale: str, spanish: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a list without pet names; for Spanish, where most of Faker's are rare or pet names, our own list."""
    if locale.startswith("es"):
        return spanish
    if locale.startswith("en"):
        return tuple(name for name in names if fold(name) not in ENGLISH_PET_NAMES)
    return names


def _family_names(names: tuple[str, ...], locale: str) -> tuple[str, ...]:
    """The family names of a list that are no first name or other word, each with its accents."""
    spelled = {fold(name): name for name in sorted(names, key=str.isascii, reverse=True)}
    first = sexes() if locale.startswith("es") else {}
    found = tuple(
        sorted(name for plain, name in spelled.items() if plain not in first and plain not in ODD_FAMILY_NAMES)
    )
    return found if len(found) >= _FEWEST else names


def _speaks(fake: Faker, kind: str, locale: str) -> bool:
    """Whether Faker has its own words of a kind in the language, and not American ones for want of them."""
    source = next(type(one).__module__ for one in fake.get_providers() if f".providers.{kind}" in type(one).__module__)
    return source.split(".")[3:4] == [locale] or source.split(".")[-1].split("_")[0] == locale.split("_", maxsplit=1)[0]


def _names(fake: Faker, kind: str) -> tuple[str, ...]:
    """The names that Faker lists; drawn where they are made up of parts."""
    lists = next(one for one in fake.get_providers() if ".providers.person" in type(one).__module__)
    listed = _single(getattr(lists, kind.replace("_name", "_names"), ()))
    return listed if len(listed) >= _FEWEST else _drawn(getattr(fake, kind))


def _of_sex(names: tuple[str, ...], sex: str) -> tuple[str, ...]:
    """The names of a list that are given to the other sex more rarely."""
    return tuple(name for name in names if sexes().get(fold(name), sex) == sex)


def _drawn(draw: Callable[[], str]) -> tuple[str, ...]:
    return _single(draw() for _ in range(_DRAWS))


def _single(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name.isalpha() and len(name) > 1}))


def _is_latin(name: str) -> bool:
    return all(unicodedata.name(c, "").startswith("LATIN") for c in name)


@lru_cache(maxsize=1)
def sexes() -> Mapping[str, str]:
    """Given names, folded, of many countries: "female", "male", or "either" for what is as often the one as the other.

    Each locale's lists of Faker have a vote: where both have a name, the one that gives it more weight. No order of
    lists decides.
    """
    votes: dict[str, Counter[str]] = {}
    for locale in _GIVEN:
        lists = import_module(f"faker.providers.person.{locale}").Provider
        weights = {sex: _weights(getattr(lists, f"first_names_{sex}")) for sex in ("female", "male")}
        for sex, names in weights.items():
            other = weights["male" if sex == "female" else "female"]
            for name, weight in names.items():
                if weight > other.get(name, 0):
                    votes.setdefault(name, Counter())[sex] += 1
                else:
                    votes.setdefault(name, Counter())
    return {name: _majority(name, count) for name, count in votes.items()}


def _weights(names: Any) -> dict[str, float]:
    listed = names.items() if isinstance(names, Mapping) else ((name, 1) for name in names)
    return {fold(name): weight for name, weight in listed if name.isalpha() and len(name) > 2}


def _majority(name: str, count: Counter[str]) -> str:
    if count["female"] != count["male"]:
        return "female" if count["female"] > count["male"] else "male"
    return {"a": "female", "o": "male"}.get(name[-1], "either")
