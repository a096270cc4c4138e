"""Word lists, gazetteers and word clusters, and the features that look words up in them.

A list is a class of words that behave alike around PHI ("Dr", "Dra", "Doctor"), in English and Spanish, so that what a
model learns of one word helps with the others. No list holds a person's data. Words match without regard to case.

Gazetteers (names and places from Faker's data) and word clusters belong to no named feature set. Models with gazetteers
depend on the installed version of Faker, which also generates names of the synthetic corpus.
benchmarks/results/features.md compares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from types import MappingProxyType

from features.columns import Extractor, FeatureValue, WordColumn, window_heads
from features.tokens import Sentence


def word_set(text: str) -> frozenset[str]:
    """Words of a text, between white space."""
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
"""All ways to write a month's name: in full, in three letters, and the variants of September."""

_ENGLISH_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_SPANISH_WEEKDAYS = "lunes martes miércoles jueves viernes sábado domingo"
ENGLISH_WEEKDAYS, SPANISH_WEEKDAYS = tuple(_ENGLISH_WEEKDAYS.split()), tuple(_SPANISH_WEEKDAYS.split())
"""The days of the week from Monday on."""

# The name of each class, then its words in lower case. A word may be in several classes.
_CLASSES = """
    title
    dr drs doctor doctors md do phd rn np pa prof professor attending resident intern physician surgeon nurse
    dra dres doctora médico médica facultativo especialista cirujano

    honorific
    mr mrs ms miss mx sir madam master sr sra srta señor señora don doña d d.ª dña

    kin
    wife husband spouse son daughter mother father sister brother partner niece nephew cousin uncle aunt grandmother
    esposa esposo marido mujer hijo hija madre padre hermana hermano pareja sobrina sobrino prima primo tía tío abuela

    hospital
    hospital hospitals clinic center centre infirmary medical memorial health healthcare hospice rehabilitation nursing
    clínica clínico centro sanatorio ambulatorio complejo hospitalario universitario universitaria general policlínico
    fundación instituto salud consultorio residencia

    street
    street avenue ave road rd boulevard blvd lane ln drive court ct place plaza square highway hwy route parkway terrace
    suite apt apartment floor building box
    calle c avenida avda av avd plaza pza plz pl paseo pº ps carretera ctra carrer camino ronda travesía glorieta rúa
    vía urbanización urb polígono barrio colonia col bloque piso puerta esc izq dcha izquierda derecha bajo
    apartado apdo

    place
    city town county state village district province country zip provincia localidad municipio ciudad país distrito
    north south east west new san santa saint st los las el la fort mount lake port springs

    contact
    phone telephone tel tfno tfn teléfono fax pager beeper cell mobile móvil ext extension extensión contacto

    identifier
    mrn id number no num medical record account acct unit case chart ssn license policy accession dictated
    nhc nass dni nif nie número núm nº historia episodio colegiado ncol col registro cipa tarjeta póliza matrícula

    state
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois
    indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana
    nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming
    al ak az ar ca co ct de fl ga hi ia il ks ky ma md mi mn mo ms mt nc nd nh nj nm nv ny oh ok pa ri sc sd tn tx ut
    va vt wa wi wv wy dakota carolina hampshire jersey mexico york rhode island

    province
    álava albacete alicante almería asturias ávila badajoz barcelona burgos cáceres cádiz cantabria castellón ceuta
    córdoba coruña cuenca gerona girona granada guadalajara guipúzcoa huelva huesca jaén león lérida lleida lugo madrid
    málaga melilla murcia navarra orense ourense palencia palmas pontevedra rioja salamanca segovia sevilla soria
    tarragona tenerife teruel toledo valencia valladolid vizcaya zamora zaragoza andalucía aragón canarias cataluña
    extremadura galicia baleares mallorca bilbao gijón oviedo vigo santander pamplona elche cartagena vitoria

    country
    españa francia portugal italia alemania inglaterra suiza bélgica holanda rumanía bulgaria polonia rusia ucrania
    marruecos argelia senegal nigeria ghana mali guinea egipto china japón india pakistán bangladesh filipinas
    méxico cuba colombia venezuela ecuador perú bolivia chile argentina uruguay paraguay brasil honduras guatemala
    nicaragua panamá costa república dominicana salvador haití estados unidos canadá australia
    spain france italy germany england britain ireland scotland switzerland belgium netherlands poland romania russia
    ukraine morocco algeria egypt japan india pakistan philippines vietnam korea thailand brazil peru canada usa states
"""
LEXICONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "month": MONTHS,
        "weekday": word_set(f"{_ENGLISH_WEEKDAYS} {_SPANISH_WEEKDAYS} mon tue tues wed thu thurs fri sat sun"),
        **{name: frozenset(words) for name, *words in map(str.split, _CLASSES.split("\n\n"))},
    }
)
"""Class -> its words."""


def month_number(word: str) -> int | None:
    """Number of the month that a word of `MONTHS` names, from 1; None for another word.

    Case is that of expressions without regard to case, for which "İ" is an "i" and "ſ" an "s".

    Example:
        >>> month_number("Sept"), month_number("ABR"), month_number("mark")
        (9, 4, None)
    """
    return _MONTH_NUMBERS.get(word.casefold().replace("\u0307", ""))


def english_ordinal(number: int) -> str:
    """Return the suffix of an ordinal number: "st", "nd", "rd" or "th".

    Example:
        >>> [english_ordinal(number) for number in (1, 12, 22)]
        ['st', 'th', 'nd']
    """
    return "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


@lru_cache(maxsize=1 << 16)
def word_classes(word: str) -> tuple[str, ...]:
    """Classes of `LEXICONS` that contain a word.

    Example:
        >>> word_classes("Dra"), word_classes("aspirin")
        (('title',), ())
    """
    lower = word.lower()
    return tuple(name for name, words in LEXICONS.items() if lower in words)


_MOST_CLASSES = max(len(word_classes(word)) for word in frozenset().union(*LEXICONS.values()))


@dataclass(frozen=True)
class WordClasses(Extractor):
    """Lexicon classes of the words around the token: ``class[-1]=title``.

    Args:
        window: tokens on each side.
    """

    window: int = 2

    def word_columns(self) -> list[WordColumn]:
        """The features that one word decides, kind by kind."""
        heads = window_heads("class", self.window)
        return [WordColumn(heads, partial(_class, number=number)) for number in range(_MOST_CLASSES)]

    def describe(self) -> str:
        """A one-line description of the features."""
        return f"classes of words ({', '.join(LEXICONS)}) in [-{self.window}, {self.window}]"


def _class(word: str, number: int) -> FeatureValue:
    """A word's class of a number, from 0; None for a word with fewer classes."""
    classes = word_classes(word)
    return classes[number] if number < len(classes) else None


_DRAWS = 3000  # Faker repeats itself: 3,000 draws give most of a list


@dataclass(frozen=True)
class Gazetteers(Extractor):
    """Gazetteers that contain a capitalised word: ``list[-1]=first+last``.

    Args:
        locales: languages and countries, as Faker names them.
        window: tokens on each side.

    Example:
        >>> from features.tokens import Sentence
        >>> Gazetteers(("en_US",), window=0).extract(Sentence.from_words(["Zimmerman", "coughs"]))
        [['list[0]=last'], []]
    """

    locales: tuple[str, ...] = ("en_US", "es_ES")
    window: int = 1

    def word_columns(self) -> list[WordColumn]:
        """The features that one word decides, kind by kind."""
        return [WordColumn(window_heads("list", self.window), self._lists)]

    def _lists(self, word: str) -> FeatureValue:
        return gazetteers(self.locales).get(word.lower()) if word[0].isupper() else None

    def describe(self) -> str:
        """A one-line description of the features."""
        locales = ", ".join(self.locales)
        return f"lists of first and family names and of places ({locales}) in [-{self.window}, {self.window}]"


@cache
def gazetteers(locales: tuple[str, ...]) -> Mapping[str, str]:
    """Gazetteers of each word, by the word in lower case: "first", "last", "place", or several with "+"."""
    from faker import Faker  # noqa: PLC0415  takes long to import

    lists: dict[str, set[str]] = {}
    for locale in locales:
        fake = Faker(locale)
        fake.seed_instance(0)
        kinds: dict[str, Callable[[], str]] = {"first": fake.first_name, "last": fake.last_name, "place": fake.city}
        for kind, draw in kinds.items():
            for name in {draw() for _ in range(_DRAWS)}:
                for word in name.split():
                    if len(word) > 2:
                        lists.setdefault(word.lower(), set()).add(kind)
    return {word: "+".join(sorted(kinds)) for word, kinds in lists.items()}


_MIN_COUNT = 5


@dataclass(frozen=True)
class WordClusters(Extractor):
    """Clusters of the words around the token: ``cluster[-1]=17``; no feature for a word without a cluster.

    Args:
        clusters: the cluster of each word in lower case, from `make_clusters` or elsewhere.
        window: tokens on each side.

    Example:
        >>> from features.tokens import Sentence
        >>> WordClusters({"dr": "17"}, window=1).extract(Sentence.from_words(["Dr", "Doe"]))
        [['cluster[0]=17'], ['cluster[-1]=17']]
    """

    clusters: Mapping[str, str]
    window: int = 1

    def word_columns(self) -> list[WordColumn]:
        """The features that one word decides, kind by kind."""
        return [WordColumn(window_heads("cluster", self.window), self._cluster)]

    def _cluster(self, word: str) -> FeatureValue:
        return self.clusters.get(word.lower())

    def describe(self) -> str:
        """A one-line description of the features."""
        return f"clusters of words ({len(set(self.clusters.values()))}) in [-{self.window}, {self.window}]"


def make_clusters(sentences: Sequence[Sentence], *, count: int = 200, seed: int = 0) -> dict[str, str]:
    """Clusters of words with similar contexts: k-means over word2vec vectors (CBOW, 100 dimensions).

    Args:
        sentences: text, without annotations; words that occur five times or more get a cluster.
        count: clusters at most.
        seed: of the vectors and of k-means.

    Returns:
        The cluster's number of each word in lower case.

    Reference:
        Mikolov et al. (2013) for the vectors.
    """
    from gensim.models import Word2Vec  # noqa: PLC0415  takes long to import
    from sklearn.cluster import KMeans  # noqa: PLC0415
    from sklearn.preprocessing import normalize  # noqa: PLC0415

    words = [[word.lower() for word in sentence.words] for sentence in sentences]
    counts = Counter(word for row in words for word in row)
    if not counts or max(counts.values()) < _MIN_COUNT:
        return {}
    vectors = Word2Vec(words, vector_size=100, window=5, min_count=_MIN_COUNT, sg=0, epochs=10, seed=seed, workers=1).wv
    names = list(vectors.index_to_key)
    found = KMeans(min(count, len(names)), random_state=seed, n_init=1).fit_predict(normalize(vectors.vectors))
    return {name: str(number) for name, number in zip(names, found, strict=True)}
