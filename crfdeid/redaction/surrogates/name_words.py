"""Words around and in the names of persons, from the language packs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.words import (
    folded_in,
    packs_of,
    surrogate_entries,
    surrogate_expression,
    surrogate_table,
)

_ELISION = r"[dl]['’](?=\p{L})"


class NameWords(NamedTuple):
    """Words around and in the names of a language: fields of "names" of its packs, casefolded or compiled.

    Attributes:
        titles: titles, forms of address, and words such as "née".
        capital_particles: particles that stay even with a capital.
        cue_at_end: labels of fields at the end of a text, with the groups "family" and "first".
        sex_word: words that indicate the sex of a patient, with the groups "female" and "male".
        names_too: titles that are also family names, and are these at the end of a name: "Herr Graf".
        kept: further parts of names that stay, such as "h. c." and "d'".
        two_family_names: whether a name may end with two family names. Elsewhere first names may be abbreviated to
            several letters, "Th.", family names be in capitals, and labels count in notes with labels of both kinds.
        male_ending: None for all endings that are no women's.
        after: particle -> the names that follow it: "Gall" after "le".
        conjunctions: words between family names, and what they are before an "i": "y" and "e".
        abbreviated: expressions of abbreviated names, and the names.
    """

    titles: frozenset[str]
    particles: frozenset[str]
    capital_particles: frozenset[str]
    female_titles: frozenset[str]
    male_titles: frozenset[str]
    before_first_names: frozenset[str]
    cue_at_end: regex.Pattern[str]
    sex_word: regex.Pattern[str]
    doctors: frozenset[str]
    names_too: frozenset[str]
    kept: regex.Pattern[str]
    two_family_names: bool
    has_genitive: bool
    same_vowels: bool
    female_ending: regex.Pattern[str]
    male_ending: regex.Pattern[str] | None
    after: Mapping[str, Sequence[str]]
    conjunctions: Mapping[str, str]
    abbreviated: Sequence[tuple[str, str]]

    def spelled_out(self, text: str) -> str:
        """Return a name with "María" for "Mª" or "M.ª"."""
        for form, name in self.abbreviated:
            text = regex.sub(form, name.upper() if text.replace("ª", "").isupper() else name, text)
        return text

    def without_titles(self, text: str) -> str:
        """Return a text of the same length with spaces for the parts of `kept`."""
        return self.kept.sub(lambda match: " " * len(match.group()), text)


@lru_cache(maxsize=16)
def name_words(locale: str) -> NameWords:
    """Return the words around the names of a locale's languages."""
    packs = packs_of(locale)
    names = surrogate_table(packs[0], "names")
    listed = partial(surrogate_entries, locale, "names")
    folded = partial(folded_in, locale, "names")
    either = partial(surrogate_expression, locale, "names")
    titles = frozenset(listed("titles"))
    titles = titles.union(*(pack.words[name] for pack in packs for name in ("title", "honorific")))
    particles = frozenset(listed("joining"))
    if not particles:
        particles = frozenset(word for entry in packs[0].particles for word in regex.findall(r"\p{L}+", entry))
        particles = particles.union(listed("particles"))
    capital = packs[0].entries("surrogates", "names", "capital_particles")
    male_endings = names.get("male_endings")
    return NameWords(
        titles,
        particles,
        frozenset(capital) if "capital_particles" in names else particles,
        folded("female_titles"),
        folded("male_titles"),
        folded("before_first_names"),
        regex.compile(
            rf"(?<!\p{{L}})(?:(?P<family>{either('family_labels')})|(?P<first>{either('first_labels')}))\s*[:=;|,]?\s*$",
            regex.IGNORECASE,
        ),
        regex.compile(
            rf"(?<!\p{{L}})(?:(?P<female>{either('female_words')})|(?P<male>{either('male_words')}))(?!\p{{L}})",
            regex.IGNORECASE,
        ),
        frozenset(packs[0].entries("surrogates", "names", "doctors")),
        frozenset(listed("titles_and_names")),
        regex.compile(
            rf"(?<!\p{{L}})(?:{names.get('elisions', _ELISION)}|{either('title_phrases')})", regex.IGNORECASE
        ),
        names.get("two_family_names", False),
        names.get("genitive", False),
        names.get("same_vowels", False),
        regex.compile(rf"(?:{names.get('female_endings', 'a')})$"),
        None if male_endings is None else regex.compile(rf"(?:{male_endings})$"),
        {particle: packs[0].entries("surrogates", "names", "after", particle) for particle in names.get("after", {})},
        {word: other for pack in packs for word, other in surrogate_table(pack, "names").get("conjunctions", ())},
        [pair for pack in packs for pair in surrogate_table(pack, "names").get("abbreviated", ())],
    )
