"""Checks of the rules for names, from lists of words that are names and words of the language.

A word after "Dr." is nearly always a name; after "patient" or "seen by" it is as often a word of the language
("Patient Denies pain", "visto por Cardiología"). The lists are in the language packs and in ``name_words.txt``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from crfdeid.known_phi.folding import fold_to_alnum
from crfdeid.known_phi.names import is_common_word
from crfdeid.utils.files import read_sections
from features.languages import ALL_LANGUAGES, LANGUAGES
from features.lexicons import name_lists, place_kind, word_classes, word_set

_LISTS = {
    name: word_set(" ".join(lines)) for name, lines in read_sections(Path(__file__).with_name("name_words.txt")).items()
}
_ALSO_WORDS = _LISTS["both"]
_LANGUAGE = (
    _LISTS["abbreviations"]
    | {fold_to_alnum(word) for language in LANGUAGES.values() for word in (*language.common, *language.cues["field"])}
) - _ALSO_WORDS
_CLASSES = {"title", "honorific", "kin", "hospital", "contact", "identifier", "weekday"}  # of `features.lexicons`
_PLACES = {"region", "country", "place", "street", "month"}
_LISTED = frozenset(("given", "family"))  # kinds of words that are names and nothing else
_PARTICLES = frozenset(
    fold_to_alnum(part) for language in LANGUAGES.values() for words in language.particles for part in words.split()
)
# How words of the language end that are hardly names: sciences, diseases, procedures, adjectives, adverbs.
_ENDINGS = re.compile(
    r"(?:cirugias?|log[iíy]as?|logicals?|log[oa]s?|logists?|iatr[ií]as?|iatrics?|iatra|iatrists?|graf[ií]as?|graphy|grams?|gramas?"
    r"|scop[iy]as?|scopies|tom[iy]as?|ect[oó]mi[ao]s?|plast[iy]as?|pat[ií]as?|pathy|terapias?|therap(?:y|ist|ists|eutics?)"
    r"|itis|osis|emias?|uria|algias?|cion|ciones|sion|siones|tion|tions|sions|dades|[iea]dad|mientos?|mente|ness"
    r"|ments?|ities|ically|ivity|ancy|ency|ology|metria|metry|oma|omas|gesics?|tensiv[oa]s?|tensive|logic[oa]s?"
    r"|tic[oa]s?|tiv[oa]s?|ístic[oa]s?|[ou]ri[oa]s|ectad[oa]s?|izad[oa]s?|ized|abl[ey]s?|ibles?|ulos[oa]|micin[ao]?|cilin[ao]?"
    r"|mab|mabs|tinib|statin[ao]?|oxacino?|prazole?|sartan|olol|idine|azole|avir|umab|ximab|ceae"
    rf"{''.join('|' + fold_to_alnum(ending) for language in LANGUAGES.values() for ending in language.endings)})$"
)
_SHORTEST, _ACRONYM = 2, 4  # letters at most
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*(?:\.(?=[ -]?[^\W\d_]))?|,")


@lru_cache(maxsize=1 << 14)
def _name_word_kind(word: str) -> str:
    """The kind of a word with a capital.

    Returns:
        "given", "family" for names, "word" of the language, "both", "particle", "initial", "acronym", else "unknown".

    Example:
        >>> [_name_word_kind(word) for word in ("Marta", "Rodríguez", "Denies", "White", "Cardiología", "de")]
        ['given', 'family', 'word', 'both', 'word', 'particle']
        >>> [_name_word_kind(word) for word in ("Quill", "SNC", "IgG", "J")]
        ['unknown', 'acronym', 'word', 'initial']
    """
    name, classes = fold_to_alnum(word), set(word_classes(word))
    if name in _PARTICLES and (len(name) > 1 or word.islower()):
        return "particle"
    if len(name) < _SHORTEST:
        return "unknown" if word.upper() == word.lower() else "initial"  # a script without capitals
    if name in _ALSO_WORDS:
        return "both"
    mixed = word[-1].isupper() and not word.isupper()  # "IgG"
    if name in _LANGUAGE or classes & _CLASSES or mixed:
        return "word"
    return _name_kind(word, name, is_both=bool(classes & _PLACES))


def _name_kind(word: str, name: str, *, is_both: bool) -> str:
    """The kind of a word that no list of the language has, folded too."""
    given, family = name_lists(ALL_LANGUAGES).values()
    if is_both or (is_common_word(name) and name not in given):
        return "both"
    if name in given or name in family:
        return "family" if name in family else "given"
    if _ENDINGS.search(name):
        return "word"
    return "acronym" if word.isupper() and len(word) <= _ACRONYM else "unknown"


def _kinds(value: str) -> list[str]:
    """The kinds of a value's words; a comma's is ",". It is empty where the value cannot be a name whatever the cue."""
    words = _WORD.findall(value)
    kinds = ["," if word == "," else "initial" if word.endswith(".") else _name_word_kind(word) for word in words]
    if not kinds or "word" in kinds or kinds[-1] in ("particle", ","):
        return []
    if "acronym" in kinds and any(not word.isupper() for word in words if len(word) > 1):
        return []  # "Quill MIR"
    if "," in kinds:
        comma = kinds.index(",")
        if "given" in kinds[:comma] or fold_to_alnum(words[comma + 1]) not in name_lists(ALL_LANGUAGES)["first"]:
            return []  # "Marta Quill, Tawn"
    return kinds


def is_after_title(value: str) -> bool:
    """True for words after a title that can be a name: none is a word of the language.

    Example:
        >>> [is_after_title(value) for value in ("Marta de la Quill", "Marta de", "White", "Visit Notes", "J. Quill")]
        [True, False, True, False, True]
        >>> [is_after_title(value) for value in ("Quill, Marta", "Quill, Tawn", "Quill MIR")]
        [True, False, False]
    """
    kinds = _kinds(value)
    return bool(kinds) and (kinds != ["initial"] or value.endswith("."))


def is_after_word(value: str) -> bool:
    """True for words that are a name even after a cue that more often precedes a word of the language.

    One word that is both, such as "White", is not enough but for a given name, nor are initials, nor a short word in
    capitals. Where all of it is in capitals, the lists have one of its words: there any word can follow.

    Example:
        >>> [is_after_word(value) for value in ("Marta", "White", "Rose White", "Quill", "SNC", "J. Quill", "A.")]
        [True, False, True, True, False, True, False]
    """
    kinds = [kind for kind in _kinds(value) if kind not in ("particle", ",")]
    if value.isupper() and not _LISTED & set(kinds):
        return False
    words = [kind for kind in kinds if kind != "initial"]
    return len(words) > 1 or words == ["unknown"] or (bool(words) and (bool(_LISTED & set(words)) or len(kinds) > 1))


def is_town(value: str) -> bool:
    """True for the name of a town, region or country.

    Example:
        >>> is_town("Bad Homburg"), is_town("Toledo"), is_town("Quill")
        (True, True, False)
    """
    return place_kind(value) is not None


def is_place(value: str) -> bool:
    """True for the name of a place, and for words that no list has.

    Example:
        >>> is_place("Toledo"), is_place("Quill"), is_place("Denies")
        (True, True, False)
    """
    return is_town(value) or is_after_word(value)


def ends_with_name(value: str) -> bool:
    """True for a name of several words whose last word with a capital is no word of the language.

    Example:
        >>> ends_with_name("Hospital General Quill"), ends_with_name("Hospital Clínico")
        (True, False)
    """
    return _end_with_name(_capitals(value))


def _capitals(value: str) -> list[str]:
    """The words with a capital after the first word."""
    return [word for word in _WORD.findall(value)[1:] if word[0].isupper()]


def _end_with_name(words: list[str]) -> bool:
    return bool(words) and _name_word_kind(words[-1]) not in ("word", "acronym")


@lru_cache(maxsize=1 << 14)
def _is_proper(word: str) -> bool:
    """True for the name of a place or person."""
    return is_town(word) or _name_word_kind(word) in _LISTED


def has_proper_name(value: str) -> bool | None:
    """True for words with the name of a place or person, after the first word, and no word of the language at the end.

    Returns:
        None without the name of a place or person, which then no part of the words has.

    Example:
        >>> [has_proper_name(f"Hospital {words}") for words in ("Toledo", "Toledo Denies", "Denies")]
        [True, False, None]
    """
    words = _capitals(value)
    return _end_with_name(words) if any(map(_is_proper, words)) else None


def is_known(value: str) -> bool:
    """True for a name with a word that the lists have as a name and nothing else.

    Example:
        >>> is_known("Orla Quill"), is_known("Marta Quill"), is_known("White")
        (False, True, False)
    """
    return not _LISTED.isdisjoint(_kinds(value))


def is_whole(value: str) -> bool:
    """True for a name that begins with a known given name, or has two words or more and one that the lists know.

    Example:
        >>> is_whole("Marta Quill"), is_whole("Quill"), is_whole("Quill Rodríguez"), is_whole("Rodríguez")
        (True, False, True, False)
    """
    kinds = [kind for kind in _kinds(value) if kind not in ("particle", "initial", ",")]
    return kinds[:1] == ["given"] or (len(kinds) > 1 and not _LISTED.isdisjoint(kinds))
