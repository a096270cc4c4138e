"""Lists of people's names and places, from Faker's data for a locale, as features.

They are no part of `STRONG`: a model that uses them depends on the installed version of Faker, and Faker also draws
some of the synthetic corpus's names, which would score itself. docs/features.md has what they bring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from features.columns import Extractor, Value, WordColumn, window_heads

_DRAWS = 3000  # Faker repeats itself: after so many, most of a list has come


@dataclass(frozen=True)
class Gazetteers(Extractor):
    """The lists that a capitalised word is in: ``list[-1]=first+last``.

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
        """The features that a word alone decides, kind by kind."""
        return [WordColumn(window_heads("list", self.window), self._lists)]

    def _lists(self, word: str) -> Value:
        return gazetteers(self.locales).get(word.lower()) if word[0].isupper() else None

    def describe(self) -> str:
        """What is extracted, in one line."""
        places = ", ".join(self.locales)
        return f"lists of first and family names and of places ({places}) in [-{self.window}, {self.window}]"


@cache
def gazetteers(locales: tuple[str, ...]) -> Mapping[str, str]:
    """The lists that each word is in, by the word in lower case: "first", "last", "place", or several with "+"."""
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
