"""Names and other words: the checks of the rules for names, from word lists of some languages.

A word after "Dr." is nearly always a name; after "patient" or "seen by" it is as often a word of the language
("Patient Denies pain", "visto por Cardiología"). The lists are in the language packs and in ``name_words.txt``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from crfdeid.known_phi.folding import fold_to_alnum
from crfdeid.utils.files import read_sections
from features.languages import LANGUAGES
from features.lexicons import name_lists, place_kind, word_classes, word_set

_LISTS = {
    name: word_set(" ".join(lines)) for name, lines in read_sections(Path(__file__).with_name("name_words.txt")).items()
}
_BOTH = _LISTS["both"]
_CLASSES = {"title", "honorific", "kin", "hospital", "contact", "identifier", "weekday"}  # of `features.lexicons`
_PLACES = {"region", "country", "place", "street", "month"}
_NO_ORDINARY = {"region", "country"}  # classes of words that are no ordinary words, even in lower case
_LISTED = frozenset(("given", "family"))  # kinds of words that are names and nothing else
# How words of many languages end that are hardly names: diseases, families of bacteria, international names of drugs.
_ENDINGS = (
    *("itis", "osis", "uria", "oma", "omas", "ceae", "mab", "mabs", "umab", "ximab", "tinib", "statin", "statina"),
    *("statino", "oxacin", "oxacino", "prazol", "prazole", "sartan", "olol", "idine", "azole", "avir", "micin"),
    *("micina", "micino", "cilin", "cilina", "cilino"),
)
_SHORTEST, _ACRONYM = 2, 4  # letters at most
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*(?:\.(?=[ -]?[^\W\d_]))?|,")


class NameWords:
    """Tell names from other words, in notes of some languages.

    Args:
        languages: codes of the languages whose lists count.
    """

    def __init__(self, languages: tuple[str, ...]) -> None:
        packs = [LANGUAGES[code] for code in languages]
        self._languages = languages
        self._others = {fold_to_alnum(word) for pack in packs for word in (*pack.common, *pack.cues["field"])}
        self._others = (self._others | _LISTS["abbreviations"]) - _BOTH
        self._ordinary = {fold_to_alnum(word) for pack in packs for word in pack.ambiguous}
        self._particles = {fold_to_alnum(part) for pack in packs for words in pack.particles for part in words.split()}
        endings = {*_ENDINGS, *(fold_to_alnum(ending) for pack in packs for ending in pack.endings)}
        self._endings = re.compile(rf"(?:{'|'.join(sorted(endings))})$")
        self.given, self._family = name_lists(languages).values()
        self.kind = lru_cache(1 << 14)(self._kind)
        self._is_proper = lru_cache(1 << 14)(self._is_known_name)

    def _kind(self, word: str) -> str:
        """The kind of a word with a capital.

        Returns:
            "given", "family" for names, "word" of the language, "both", "particle", "initial", "acronym", else
            "unknown".

        Example:
            >>> kind = NameWords(("en", "es")).kind
            >>> [kind(word) for word in ("Marta", "Rodríguez", "Denies", "White", "Cardiología", "de")]
            ['given', 'family', 'word', 'both', 'word', 'particle']
            >>> [kind(word) for word in ("Quill", "SNC", "IgG", "J")]
            ['unknown', 'acronym', 'word', 'initial']
        """
        name, classes = fold_to_alnum(word), set(word_classes(word, self._languages))
        if name in self._particles and (len(name) > 1 or word.islower()):
            return "particle"
        if len(name) < _SHORTEST:
            return "unknown" if word.upper() == word.lower() else "initial"  # a script without capitals
        if name in _BOTH:
            return "both"
        mixed = word[-1].isupper() and not word.isupper()  # "IgG"
        if name in self._others or classes & _CLASSES or mixed:
            return "word"
        return self._name_kind(word, name, is_both=bool(classes & _PLACES))

    def _name_kind(self, word: str, name: str, *, is_both: bool) -> str:
        """The kind of a word that no list of the language has, folded too."""
        is_ordinary = name in self._ordinary or not _NO_ORDINARY.issuperset(word_classes(name, self._languages))
        if is_both or (is_ordinary and name not in self.given):
            return "both"
        if name in self.given or name in self._family:
            return "family" if name in self._family else "given"
        if self._endings.search(name):
            return "word"
        return "acronym" if word.isupper() and len(word) <= _ACRONYM else "unknown"

    def _kinds(self, value: str) -> list[str]:
        """The kinds of a value's words; a comma's is ",". It is empty where no cue makes the value a name."""
        words = _WORD.findall(value)
        kinds = ["," if word == "," else "initial" if word.endswith(".") else self.kind(word) for word in words]
        if not kinds or "word" in kinds or kinds[-1] in ("particle", ","):
            return []
        if "acronym" in kinds and any(not word.isupper() for word in words if len(word) > 1):
            return []  # "Quill MIR"
        if "," in kinds:
            comma = kinds.index(",")
            if "given" in kinds[:comma] or fold_to_alnum(words[comma + 1]) not in self.given:
                return []  # "Marta Quill, Tawn"
        return kinds

    def is_after_title(self, value: str) -> bool:
        """True for words after a title that can be a name: none is a word of the language.

        Example:
            >>> check = NameWords(("en", "es")).is_after_title
            >>> [check(value) for value in ("Marta de la Quill", "Marta de", "White", "Visit Notes", "J. Quill")]
            [True, False, True, False, True]
            >>> [check(value) for value in ("Quill, Marta", "Quill, Tawn", "Quill MIR")]
            [True, False, False]
        """
        kinds = self._kinds(value)
        return bool(kinds) and ({*kinds} != {"initial"} or value.endswith("."))

    def is_after_word(self, value: str) -> bool:
        """True for words that are a name even after a cue that more often precedes a word of the language.

        One word that is both, such as "White", is not enough but for a given name, nor are initials, nor a short word
        in capitals. Where all of it is in capitals, the lists have one of its words: there any word can follow.

        Example:
            >>> check = NameWords(("en", "es")).is_after_word
            >>> [check(value) for value in ("Marta", "White", "Rose White", "Quill", "SNC", "J. Quill", "A.")]
            [True, False, True, True, False, True, False]
        """
        kinds = [kind for kind in self._kinds(value) if kind not in ("particle", ",")]
        if value.isupper() and not _LISTED & set(kinds):
            return False
        words = [kind for kind in kinds if kind != "initial"]
        listed = bool(_LISTED & set(words))
        return len(words) > 1 or words == ["unknown"] or (bool(words) and (listed or len(kinds) > 1))

    def is_known(self, value: str) -> bool:
        """True for a name with a word that the lists have as a name and nothing else.

        Example:
            >>> check = NameWords(("en", "es")).is_known
            >>> check("Orla Quill"), check("Marta Quill"), check("White")
            (False, True, False)
        """
        return not _LISTED.isdisjoint(self._kinds(value))

    def is_whole(self, value: str) -> bool:
        """True for a name that begins with a known given name, or has two words or more and one that the lists know.

        Example:
            >>> check = NameWords(("en", "es")).is_whole
            >>> check("Marta Quill"), check("Quill"), check("Quill Rodríguez"), check("Rodríguez")
            (True, False, True, False)
        """
        kinds = [kind for kind in self._kinds(value) if kind not in ("particle", "initial", ",")]
        return kinds[:1] == ["given"] or (len(kinds) > 1 and not _LISTED.isdisjoint(kinds))

    def is_town(self, value: str) -> bool:
        """True for the name of a town, region or country.

        Example:
            >>> check = NameWords(("de", "es")).is_town
            >>> check("Bad Homburg"), check("Toledo"), check("Quill")
            (True, True, False)
        """
        return place_kind(value, self._languages) is not None

    def is_place(self, value: str) -> bool:
        """True for the name of a place, and for words that no list has.

        Example:
            >>> check = NameWords(("en", "es")).is_place
            >>> check("Toledo"), check("Quill"), check("Denies")
            (True, True, False)
        """
        return self.is_town(value) or self.is_after_word(value)

    def ends_with_name(self, value: str) -> bool:
        """True for a name of several words whose last word with a capital is no word of the language.

        Example:
            >>> check = NameWords(("en", "es")).ends_with_name
            >>> check("Hospital General Quill"), check("Hospital Clínico")
            (True, False)
        """
        words = _capitals(value)
        return bool(words) and self.kind(words[-1]) not in ("word", "acronym")

    def has_proper_name(self, value: str) -> bool | None:
        """True for words with the name of a place or person, after the first word, and no word of the language at last.

        Returns:
            None without the name of a place or person, which then no part of the words has.

        Example:
            >>> check = NameWords(("en", "es")).has_proper_name
            >>> [check(f"Hospital {words}") for words in ("Toledo", "Toledo Denies", "Denies")]
            [True, False, None]
        """
        return self.ends_with_name(value) if any(map(self._is_proper, _capitals(value))) else None

    def _is_known_name(self, word: str) -> bool:
        """True for the name of a place or person."""
        return self.is_town(word) or self.kind(word) in _LISTED


def _capitals(value: str) -> list[str]:
    """The words with a capital after the first word."""
    return [word for word in _WORD.findall(value)[1:] if word[0].isupper()]
