"""Locales of surrogates: the guess of a note's language, and the names of a language and country.

Names come from Faker but for Spanish given names, of which most of Faker's are rare or pet names. Family names and
towns are too few to be distinct, so that invented ones are added (`invention`).
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import regex

from crfdeid.errors import SettingError, UnknownNameError
from crfdeid.redaction.surrogates.invention import composed, distinct, spliced
from crfdeid.redaction.surrogates.place_tables import packed_provinces, spanish_towns
from crfdeid.redaction.surrogates.words import casefold_accents, language_pack
from features.languages import LANGUAGES, Language
from features.lexicons import word_set

if TYPE_CHECKING:
    from faker import Faker

ENGLISH = "en_US"
_MONTH_FIRST = ("en_US", "en", "en_PH", "fil_PH")  # others put the day or the year first

# Frequent words of languages without a pack, which prevent wrong guesses. A word of two languages counts for both.
_WORDS = {
    "it_IT": "il la di che e un una per con del della dei nel nella non è gli le da al alla paziente anni nato si",
    "pt_PT": "o a os as do da dos das em um uma com para por não que no na ao e foi paciente anos idade nascimento",
    "ca_ES": "el la els les de del i amb per que un una és dels al va en pacient anys edat a no",
    "nl_NL": "de het een van en is in op te dat met voor niet zijn werd bij patiënt jaar geboren aan",
}


@lru_cache(maxsize=1)
def _locales_by_word() -> tuple[Mapping[str, Sequence[str]], frozenset[str]]:
    """Return the locales of each word, and the locales that a text can have."""
    packs = {pack.locale: pack.function_words for pack in LANGUAGES.values()}
    found: dict[str, list[str]] = {}
    for locale, words in {**{locale: text.split() for locale, text in _WORDS.items()}, **packs}.items():
        for word in words:
            found.setdefault(word, []).append(locale)
    return found, frozenset(packs)


_WORD = regex.compile(r"(?<![\p{L}\p{M}]-?)\p{L}[\p{L}\p{M}]*+(?!-\p{L})")  # no part of "Roux-en-Y"


def guess_locale(text: str) -> str | None:
    """Return the locale of a text in English, Spanish or a language with a pack, or None if none is clear.

    Words show the language and not the country. They are counted, so that equal texts have equal results.

    Example:
        >>> [guess_locale(text) for text in ("Seen by Dr. Quill.", "Vista por la Dra. Quill.", "Quill")]
        ['en_US', 'es_ES', None]
        >>> guess_locale("Gesehen von der Ärztin."), guess_locale("Vue par le docteur Quill.")
        ('de_DE', 'fr_FR')
    """
    locales, known = _locales_by_word()
    counts = Counter(
        locale
        for match in _WORD.finditer(unicodedata.normalize("NFC", text).lower())
        for locale in locales.get(match.group(), ())
    )
    most = max(counts.values(), default=0)
    best = [locale for locale, count in counts.items() if count == most]
    return best[0] if len(best) == 1 and best[0] in known else None


def puts_month_first(locale: str) -> bool:
    """Return True if 3/4 is the 4th of March in a locale."""
    return locale in _MONTH_FIRST


# Given names of all ages in Spain, without pet names.
_SPANISH_FEMALE = word_set(
    """
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
)
_SPANISH_MALE = word_set(
    """
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
)

_ENGLISH_PET_NAMES = word_set(
    """
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
)

# Spanish family names, casefolded, that read like other words.
_ODD_FAMILY_NAMES = word_set(
    """
    abril amo amor bajo barriga bas bello bueno cabeza cal caro coca hoz luz malo manso mas mate mayo pera pi poza
"""
)


# Samples of a list that Faker composes; without repetitions it is shorter.
_DRAWS = 500
_FEWEST = 20

# Locales of the given names of `given_name_sexes`: notes name people of many countries.
_GIVEN_NAME_LOCALES = (
    *("es_ES", "es_MX", "es_AR", "es_CL", "es_CO", "pt_PT", "pt_BR", "it_IT", "fr_FR"),
    *("en_US", "en_GB", "en_IE", "en_NZ", "de_DE", "nl_NL", "pl_PL", "ro_RO"),
)


class LocaleLists(NamedTuple):
    """Names of a locale; each list is without repetitions, and of single words but for towns.

    Attributes:
        female: first names of women to choose from, without pet names.
        male: first names of men to choose from, without pet names.
        last: family names to choose from, without first names: real ones, then invented ones.
        town: towns to choose from: real ones, then invented ones.
        given: known first names, casefolded, with pet names: "female" or "male".
        family: known family names, casefolded.
        real_last: the number of real names in `last`.
        real_town: the number of real names in `town`.
    """

    female: tuple[str, ...]
    male: tuple[str, ...]
    last: tuple[str, ...]
    town: tuple[str, ...]
    given: Mapping[str, str]
    family: frozenset[str]
    real_last: int
    real_town: int

    @classmethod
    def of(
        cls,
        code: str,
        given: tuple[tuple[str, ...], tuple[str, ...]],
        last: tuple[str, ...],
        town: tuple[str, ...],
        known: tuple[Mapping[str, str], frozenset[str]],
    ) -> LocaleLists:
        """Create the lists of a language from real names, and add invented ones.

        Args:
            code: two letters of the language.
            given: first names of women and of men.
            last: family names.
            town: towns; too few are replaced by family names.
            known: the last two attributes, casefolded.
        """
        town = town if len(town) >= _FEWEST else last
        names = composed(code, "family_endings") or spliced(last, given[1])
        towns = composed(code, "town_endings") or spliced(town)
        taken = {*known[1], *known[0], *given_name_sexes(), *map(casefold_accents, last)}
        towns = distinct(towns, map(casefold_accents, town))
        return cls(*given, last + distinct(names, taken), town + towns, *known, len(last), len(town))


@lru_cache(maxsize=16)
def locale_lists(locale: str) -> LocaleLists:
    """Return the names of a locale, a function of the installed version of Faker.

    Raises:
        UnknownNameError: a locale that Faker does not have.
        SettingError: a locale without names in its language, with too few, or not in Latin letters.
    """
    pack = language_pack(locale)
    if pack is not None:
        return _listed(pack)
    from faker import Faker  # noqa: PLC0415
    from faker.config import AVAILABLE_LOCALES  # noqa: PLC0415

    if locale not in AVAILABLE_LOCALES:
        problem = f"unknown locale '{locale}': choose one of Faker's, such as en_US, en_GB, es_ES or de_DE"
        raise UnknownNameError(problem)
    fake = Faker(locale)
    fake.seed_instance(0)
    if not _speaks(fake, "person", locale):
        raise SettingError(f"the locale '{locale}' has no names in its language: choose another, such as en_GB")
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
    family = frozenset(map(casefold_accents, last))
    female, male = (_of_sex(names, sex) for names, sex in ((female, "female"), (male, "male")))
    sex_of = {casefold_accents(name): sex for names, sex in ((female, "female"), (male, "male")) for name in names}
    last = _family_names(last, locale)
    female, male = _full(female, locale, _SPANISH_FEMALE), _full(male, locale, _SPANISH_MALE)
    return LocaleLists.of(locale.partition("_")[0], (female, male), last, town, (sex_of, family))


def _listed(pack: Language) -> LocaleLists:
    """Return the names of a language pack; those to choose from are those of its surrogates, if it has any."""
    given = {
        casefold_accents(name): sex for sex, names in (("male", pack.male), ("female", pack.female)) for name in names
    }
    common = {
        kind: tuple(sorted(_single(pack.entries("surrogates", "names", kind) or names)))
        for kind, names in (("female", pack.female), ("male", pack.male), ("family", pack.family))
    }
    for kind in ("male", "female"):
        given |= {casefold_accents(name): kind for name in common[kind]}
    family = frozenset(map(casefold_accents, (*pack.family, *common["family"])))
    town = tuple(name for one in packed_provinces(pack.code) for name in one.own_towns) or pack.towns
    first = (common["female"], common["male"])
    return LocaleLists.of(pack.code, first, common["family"], tuple(sorted({*town})), (given, family))


def _full(names: tuple[str, ...], locale: str, spanish: frozenset[str]) -> tuple[str, ...]:
    """Return the given names of a list without pet names, and for Spanish our own list."""
    if locale.startswith("es"):
        return tuple(sorted(spanish))
    if locale.startswith("en"):
        return tuple(name for name in names if casefold_accents(name) not in _ENGLISH_PET_NAMES)
    return names


def _family_names(names: tuple[str, ...], locale: str) -> tuple[str, ...]:
    """Return the family names of a list that are no first name or other word, with their accents."""
    spelled = {casefold_accents(name): name for name in sorted(names, key=str.isascii, reverse=True)}
    first = given_name_sexes() if locale.startswith("es") else {}
    found = tuple(
        sorted(name for plain, name in spelled.items() if plain not in first and plain not in _ODD_FAMILY_NAMES)
    )
    return found if len(found) >= _FEWEST else names


def _speaks(fake: Faker, kind: str, locale: str) -> bool:
    """Return True if Faker has words of a kind in the language, instead of American ones."""
    source = next(type(one).__module__ for one in fake.get_providers() if f".providers.{kind}" in type(one).__module__)
    return source.split(".")[3:4] == [locale] or source.split(".")[-1].split("_")[0] == locale.split("_", maxsplit=1)[0]


def _names(fake: Faker, kind: str) -> tuple[str, ...]:
    """Return the names that Faker lists, or samples if it composes them."""
    lists = next(one for one in fake.get_providers() if ".providers.person" in type(one).__module__)
    listed = _single(getattr(lists, kind.replace("_name", "_names"), ()))
    return listed if len(listed) >= _FEWEST else _drawn(getattr(fake, kind))


def _of_sex(names: tuple[str, ...], sex: str) -> tuple[str, ...]:
    """Return the names of a list that the other sex has less often."""
    return tuple(name for name in names if given_name_sexes().get(casefold_accents(name), sex) == sex)


def _drawn(draw: Callable[[], str]) -> tuple[str, ...]:
    return _single(draw() for _ in range(_DRAWS))


def _single(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name.isalpha() and len(name) > 1}))


def _is_latin(name: str) -> bool:
    return all(unicodedata.name(c, "").startswith("LATIN") for c in name)


@lru_cache(maxsize=1)
def given_name_sexes() -> Mapping[str, str]:
    """Return the sex of given names of many countries, casefolded: "female", "male", or "either" if equally frequent.

    Each of Faker's locales has one vote, for the sex with the greater weight. The order of the lists has no influence.
    """
    votes: dict[str, Counter[str]] = {}
    for locale in _GIVEN_NAME_LOCALES:
        lists = import_module(f"faker.providers.person.{locale}").Provider
        weights = {sex: _weights(getattr(lists, f"first_names_{sex}")) for sex in ("female", "male")}
        for sex, names in weights.items():
            other = weights["male" if sex == "female" else "female"]
            for name, weight in names.items():
                votes.setdefault(name, Counter())[sex] += weight > other.get(name, 0)
    return {name: _majority(name, count) for name, count in votes.items()}


def _weights(names: Any) -> dict[str, float]:
    listed = names.items() if isinstance(names, Mapping) else ((name, 1) for name in names)
    return {casefold_accents(name): weight for name, weight in listed if name.isalpha() and len(name) > 2}


def _majority(name: str, count: Counter[str]) -> str:
    if count["female"] != count["male"]:
        return "female" if count["female"] > count["male"] else "male"
    return {"a": "female", "o": "male"}.get(name[-1], "either")
