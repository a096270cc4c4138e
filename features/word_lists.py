"""Large lists of names, common words and drugs, and the feature that looks a word up in them.

The file `languages/CODE.words.xz` has a line for each set of lists: their names, joined by "+", a tab, and the folded
words that are in exactly these. `benchmarks/word_lists.py` makes it, and names its sources and licences:

- "female", "male": given names;
- "family": the frequent family names; "rare": other ones;
- "word": words of general text that are written in small letters;
- "drug": names and brands of drugs.
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from features.columns import Extractor, FeatureValue, WordColumn, window_heads
from features.languages import DEFAULT_LANGUAGES
from features.lexicons import fold_word

__all__ = ["WordLists", "lists_of"]


@cache
def lists_of(language: str) -> Mapping[str, str]:
    """Folded word -> the lists that hold it, joined by "+"; nothing for a language without a file."""
    file = files("features.languages") / f"{language}.words.xz"
    if not file.is_file():
        return {}
    lines = lzma.decompress(file.read_bytes()).decode().splitlines()
    return {word: kinds for kinds, _, words in (line.partition("\t") for line in lines) for word in words.split()}


@dataclass(frozen=True)
class WordLists(Extractor):
    """Lists that hold a word: ``list[0]=female+word``. Case and accents do not matter.

    Args:
        window: tokens on each side.
        languages: codes of the languages of the lists.

    Example:
        >>> from features.tokens import Sentence
        >>> WordLists(window=0, languages=("en",)).extract(Sentence.from_words(["Rose", "slept", "."]))
        [['list[0]=female+family+word'], ['list[0]=word'], []]
    """

    window: int = 2
    languages: tuple[str, ...] = DEFAULT_LANGUAGES

    def word_columns(self) -> list[WordColumn]:
        """The features that one word decides, kind by kind."""
        return [WordColumn(window_heads("list", self.window), self._lists)]

    def _lists(self, word: str) -> FeatureValue:
        if not word[0].isalpha():
            return None
        folded = fold_word(word)
        found = [kinds for language in self.languages if (kinds := lists_of(language).get(folded))]
        return "/".join(found) if found else "none"

    def describe(self) -> str:
        """A one-line description of the features."""
        languages = ", ".join(self.languages)
        return f"lists of names, common words and drugs ({languages}) in [-{self.window}, {self.window}]"
