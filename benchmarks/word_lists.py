"""Make the word lists of `features.lexicons.WordLists` from packages with a free licence.

    pip install names==0.3.0 drug-named-entity-recognition==2.0.9
    python benchmarks/word_lists.py

- Given and family names: United States Census 1990 (public domain; in ``names``, MIT), and Faker's locales (MIT).
- Words of general text: the lexicon of Brill's tagger (MIT; in TextBlob, MIT).
- Drugs: DrugBank's open vocabulary (CC0), with names of MeSH and the NHS; in ``drug-named-entity-recognition``, MIT.
"""

from __future__ import annotations

import bz2
import lzma
import pickle
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from faker.config import AVAILABLE_LOCALES

from features.lexicons import fold_word

_OUTPUT = Path(__file__).parents[1] / "features" / "languages" / "en.words.xz"
_FREQUENT = 5000  # family names of the census, by rank
_LATIN = re.compile(r"[a-z]{2,20}")
_CAPITAL_TAGS = {"NNP", "NNPS"}


def main() -> None:
    """Write the file, and print the size of each list."""
    lists = {
        "female": {*census("dist.female.first"), *faker_names("first_names_female", "first_romanized_names")},
        "male": {*census("dist.male.first"), *faker_names("first_names_male")},
        "family": {*[*census("dist.all.last")][:_FREQUENT]},
        "rare": {*[*census("dist.all.last")][_FREQUENT:], *faker_names("last_names", "last_romanized_names")},
        "word": {*common_words()},
        "drug": {*drugs()},
    }
    lists["rare"] -= lists["family"]
    kinds_of: dict[str, list[str]] = defaultdict(list)
    for kind, words in lists.items():
        print(f"{kind}: {len(words):,}")
        for word in words:
            kinds_of[word].append(kind)
    by_kinds: dict[str, list[str]] = defaultdict(list)
    for word, kinds in sorted(kinds_of.items()):
        by_kinds["+".join(kinds)].append(word)
    text = "".join(f"{kinds}\t{' '.join(words)}\n" for kinds, words in sorted(by_kinds.items()))
    _OUTPUT.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(kinds_of):,} words, {_OUTPUT.stat().st_size:,} bytes")


def single(words: Iterable[str]) -> Iterator[str]:
    """The folded words that are one word of Latin letters."""
    return (folded for word in words if _LATIN.fullmatch(folded := fold_word(word)))


def census(file: str) -> Iterator[str]:
    """Names of a table of the census, the most frequent first."""
    return single(line.split()[0] for line in (files("names") / file).read_text().splitlines())


def faker_names(*attributes: str) -> Iterator[str]:
    """Names of all of Faker's locales, in Latin letters."""
    for locale in sorted(AVAILABLE_LOCALES):
        try:
            provider = import_module(f"faker.providers.person.{locale}").Provider
        except ModuleNotFoundError:
            continue
        for attribute in attributes:
            found = getattr(provider, attribute, ())
            yield from single(part for name in found if isinstance(name, str) for part in name.split())


def common_words() -> Iterator[str]:
    """Words that the lexicon has in small letters."""
    lines = (files("textblob") / "en" / "en-lexicon.txt").read_text(encoding="utf-8").splitlines()
    entries = (line.split() for line in lines if line and not line.startswith(";;;"))
    return single(word for word, *tags in entries if word.islower() and not _CAPITAL_TAGS.intersection(tags))


def drugs() -> Iterator[str]:
    """Names and brands of one word, without those that general text has."""
    content = (files("drug_named_entity_recognition") / "drug_ner_dictionary.pkl.bz2").read_bytes()
    table = pickle.loads(bz2.decompress(content))
    general = {*common_words()}
    return (word for word in single(table["drug_variant_to_canonical"]) if len(word) > 3 and word not in general)


if __name__ == "__main__":
    main()
