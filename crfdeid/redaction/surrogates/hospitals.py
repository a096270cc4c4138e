"""Surrogates of hospitals and other institutions: words for the kind of institution stay, names change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.choices import Chooser, Options
from crfdeid.redaction.surrogates.identifiers import other_code
from crfdeid.redaction.surrogates.locales import locale_lists
from crfdeid.redaction.surrogates.name_words import name_words
from crfdeid.redaction.surrogates.names import Names
from crfdeid.redaction.surrogates.place_tables import other_country
from crfdeid.redaction.surrogates.places import PIECE, Places, name_runs, pack_options
from crfdeid.redaction.surrogates.words import (
    VOWELS,
    NameForm,
    casefold_accents,
    casefold_words,
    classes_of,
    folded_in,
    name_forms,
    packs_of,
    splice,
    surrogate_entries,
    surrogate_expression,
    surrogate_table,
)

_ABBREVIATION = regex.compile(r"\p{Lu}{2,8}")
_MOST_INITIALS = 5
_LONGEST_ACRONYM = 4
_MOST_TOWN_WORDS = 4
_ELIDED = regex.compile(r"[dlDL]['’]")
_POSSESSIVE = regex.compile(r"['’]s$")
_LAST_DAY = 28


class InstitutionWords(NamedTuple):
    """Words around the names of a locale's institutions: fields of "institutions" of its packs, casefolded or compiled.

    Attributes:
        before_town: expression of what precedes a town.
        abbreviated: expression of the initials of an institution, with the groups before, name and after.
        small: words of names that have no capital.
    """

    kept: frozenset[str]
    forms: tuple[NameForm, ...]
    named: regex.Pattern[str]
    endings: regex.Pattern[str]
    before_town: regex.Pattern[str]
    towns_tail: tuple[str, ...]
    firm: regex.Pattern[str]
    abbreviated: regex.Pattern[str] | None
    generic: tuple[str, ...]
    demonyms: frozenset[str]
    larger: tuple[str, ...]
    before_first_names: frozenset[str]
    months: tuple[str, ...]
    small: frozenset[str]


@lru_cache(maxsize=16)
def institution_words(locale: str) -> InstitutionWords:
    """Return the words around the names of a locale's institutions."""
    pack, names = packs_of(locale)[0], name_words(locale)
    section = surrogate_table(pack, "institutions")
    kept = folded_in(locale, "institutions", "kept") | casefold_words(" ".join(classes_of(locale)["hospital"]))
    kept |= {*map(casefold_accents, names.titles | names.particles)}
    entries = partial(surrogate_entries, locale, "institutions")
    before, after = entries("initials_before"), entries("initials_after")
    larger = pack.entries("surrogates", "institutions", "larger")
    return InstitutionWords(
        kept,
        name_forms(pack.code, "institutions"),
        regex.compile(section.get("named", "(?!)")),
        regex.compile(section.get("endings", "(?!)"), regex.IGNORECASE),
        regex.compile(section.get("town", "(?!)")),
        pack.entries("surrogates", "institutions", "towns_tail"),
        regex.compile(surrogate_expression(locale, "institutions", "firm")),
        regex.compile(rf"(?P<before>{'|'.join(before)}|)(?P<name>\p{{Lu}}+?)(?P<after>{'|'.join(after)}|)")
        if before or after
        else None,
        pack.entries("surrogates", "institutions", "generic"),
        folded_in(locale, "institutions", "demonyms") if larger else frozenset(),  # "Navarro" is a name elsewhere
        larger,
        folded_in(locale, "institutions", "before_first_names"),
        tuple(forms_of_month[0] for forms_of_month in pack.months),
        folded_in(locale, "places", "articles") or pack.function_words.union(pack.particles),
    )


class Hospitals:
    """Surrogates of hospitals and other institutions.

    Args:
        keyed: the source of choices.
        locale: language and country of the names.
        names: surrogates of the same patient's names; hospitals may be named after persons.
        places: surrogates of the same patient's places; hospitals may be named after towns.
        spelled_out: hospitals in the note; their abbreviations follow their surrogates.
    """

    def __init__(
        self, keyed: Chooser, locale: str, names: Names, places: Places, spelled_out: Iterable[str] = ()
    ) -> None:
        self._keyed, self._locale, self._names, self._places = keyed, locale, names, places
        self._listed = institution_words(locale)
        self._forms: dict[str, Callable[[regex.Match[str]], str | None]] = {
            "who": self._virgin,
            "day": self._feast,
            "cut": self._cut,
            "saint": self._saint,
            "land": self._land,
            "house": self._house,
            "town": self._town,
        }
        self._spelled_out = sorted({text for text in spelled_out if not _ABBREVIATION.fullmatch(text)})

    def hospital(self, text: str) -> str | None:
        """Return another institution: words such as "Hospital" stay; None for one without a name."""
        if self._listed.abbreviated and _ABBREVIATION.fullmatch(text):
            return self._abbreviation(text, self._listed.abbreviated)
        town = self._places.sure(text)
        if town is not None:
            return town
        firm = self._listed.firm.search(text)
        if firm and firm.start():
            named = self.hospital(text[: firm.start()])
            return named and named + firm.group()
        found = self._replaced(str(PIECE.sub(self._usual, text)) if text.isupper() or text.islower() else text)
        found = found.upper() if text.isupper() else found.lower() if text.islower() else found
        return found if casefold_accents(found) != casefold_accents(text) else self._generic(text)

    def _usual(self, match: regex.Match[str]) -> str:
        """Return a word of a name in one case with its usual capital, if it has one."""
        lower = match.group().lower()
        return lower if lower in self._listed.small else match.group().title()

    def _replaced(self, text: str) -> str:
        """Return another institution: its forms of names, towns, numbers, and else names of persons."""
        pieces = [*self._places.forms_in(text, self._listed.forms), *self._named(text)]
        pieces += self._towns(text, pieces)

        def is_done(match: regex.Match[str]) -> bool:
            return any(start < match.end() and match.start() < end for start, end, _ in pieces)

        def is_name(words: Sequence[regex.Match[str]], i: int, joined: bool) -> bool:
            word = casefold_accents(words[i]["word"] or "")
            is_title = word in self._places.words.titles or word in self._places.words.saints
            if not word or is_done(words[i]) or (is_title and i + 1 < len(words) and words[i + 1]["word"]):
                return False
            if word in self._listed.kept:
                return joined and word in self._names.conjunctions
            return self._names.knows(word) or not self._listed.endings.fullmatch(words[i].group())

        def continues(gap: str, words: Sequence[regex.Match[str]], i: int) -> bool:
            return gap.isspace() or gap == "-"

        for run in [*name_runs(text, is_name, continues)]:
            if not run[0]["code"]:
                pieces += self._person(text, run)
            elif not is_done(run[0]):
                pieces.append((*run[0].span(), self._code(run[0].group())))
        return splice(text, sorted(pieces))

    def _named(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the names that `InstitutionWords.named` finds, and what replaces them."""
        position = 0
        while match := self._listed.named.search(text, position):
            found = next(replace(match) for group, replace in self._forms.items() if match[group])
            position = match.end()
            if found is not None:
                yield *match.span(), found
            else:
                position = match.start() + 1
                while position < len(text) and text[position].isalnum():
                    position += 1

    def _towns(self, text: str, done: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
        """Yield the towns and countries of a name, and what replaces them; of "Tawn-Nord" both parts."""
        words = [
            match
            for match in PIECE.finditer(text)
            if not any(a < match.end() and match.start() < b for a, b, _ in done)
        ]
        end, last = -2, ""  # of the town before
        for i, match in enumerate(words):
            if match.start() < end:
                continue
            word, plain = match.group(), casefold_accents(match.group())
            stop, town = self._town_at(text, words[i:])
            if match.start() == end + 1 and text[end] == "-" and plain not in self._listed.kept:
                known = self._places.geography.known(word)
                is_town = known is not None and known.kind in ("capital", "town")
                tails = (self._places.town(word),) if is_town else self._listed.towns_tail
                yield (
                    end,
                    match.end(),
                    f"-{self._places.other('tail', word, tails)}" if "-" not in last and tails else "",
                )
            elif town and not self._names.has(word) and (plain not in self._listed.kept or stop > match.end()):
                yield match.start(), stop, town
                end, last = stop, town

    def _town_at(self, text: str, words: Sequence[regex.Match[str]]) -> tuple[int, str | None]:
        """Return the end and the surrogate of the longest known town that begins with the first of some words."""
        elided = _ELIDED.match(words[0].group())
        start = words[0].start() + (elided.end() if elided else 0)
        for last in reversed(words[:_MOST_TOWN_WORDS]):
            name = text[start : last.end()]
            town = self._places.sure(name) or other_country(name, self._keyed, self._locale)
            if town is not None and text[start].isupper():
                before = text[words[0].start() : start]
                has_vowel = casefold_accents(town[0]) in VOWELS or not before
                return last.end(), (before if has_vowel else f"{before[0]}e ") + town
        return start, None

    def _abbreviation(self, text: str, form: regex.Pattern[str]) -> str:
        """Return the initials of the surrogate that the note spells out, else others that agree with names."""
        for whole in self._spelled_out:
            for articles in (False, True):
                if self._initials(whole, articles=articles) == text:
                    found = self._initials(self.hospital(whole) or text, articles=articles)
                    return found if found != text else self._names.initials(text)
        match = form.fullmatch(text)
        return match["before"] + self._letters(match["name"]) + match["after"] if match else text

    def _letters(self, word: str) -> str:
        """Return other initials; for an acronym that is pronounceable, a name in capitals."""
        is_word = len(word) > _MOST_INITIALS and sum(c in "aeiou" for c in casefold_accents(word)) > 1
        return self._names.full_name([word])[0] if is_word else self._names.initials(word)

    def _generic(self, text: str) -> str | None:
        """Return "Hospital Clínico" for "Hospital General"; None if there is no such word."""
        for word in self._listed.generic:
            match = regex.search(rf"(?<!\p{{L}}){word}(?!\p{{L}})", text, regex.IGNORECASE)
            if match:
                found = self._places.other("generic", match.group(), self._listed.generic)
                return text[: match.start()] + found + text[match.end() :]
        return None

    def _virgin(self, match: regex.Match[str]) -> str:
        """Return "Virgen de la Luz" for "Virgen del Rocío"."""
        which = match["which"].strip()
        other = self._places.other("virgin", which, pack_options(self._locale, "institutions", "virgins", "de {town}"))
        return f"{match['who']} {other if which.isupper() else other[0].lower() + other[1:]}"

    def _saint(self, match: regex.Match[str]) -> str:
        """Return "San Blas" of the surrogate of Soria for "San Cosme de Soria"."""
        called, of, town = match["called"].rpartition(" de ")
        known = self._places.sure(town) if of else None
        saint = self._places.saint(match["saint"].rstrip("."), called if known else match["called"])
        return match["saint"] + match["space"] + saint + (of + known if known else "")

    def _house(self, match: regex.Match[str]) -> str | None:
        """Return "La Merced" for "La Paz"."""
        known = self._places.sure(match["house"])
        if known is None and casefold_accents(match["first"]) in self._listed.kept:
            return None
        return known or self._places.other("house", match["house"], _houses(self._locale))

    def _town(self, match: regex.Match[str]) -> str | None:
        """Return the surrogate of a town after "de", known or not."""
        known = self._places.known(match["town"])
        if known is None and any(
            casefold_accents(word) in self._listed.kept for word in regex.split(r"[-\s]", match["town"])
        ):
            return None
        return match["place"] + (known or self._places.town(match["town"]))

    def _feast(self, match: regex.Match[str]) -> str:
        """Return another day of the year for "12 de Octubre"."""
        days = self._keyed.permutation(f"feasts {casefold_accents(match['month'])}", _LAST_DAY)
        day = 1 + days.of((int(match["day"]) - 1) % _LAST_DAY)
        return f"{day}{match['of']}{match['gap']}{self._places.other('feast', match['month'], self._listed.months)}"

    def _cut(self, match: regex.Match[str]) -> str:
        """Return another day for "12 de", a feast without its month."""
        return self._code(match["first_day"]) + match["cut"][len(match["first_day"]) :]

    def _land(self, match: regex.Match[str]) -> str | None:
        """Return "de la Ribera" for "del Sureste"."""
        thing, land = match["thing"], match["land"]
        known = self._places.sure(thing)
        if known is not None:
            return land[: -len(thing)] + known
        if casefold_accents(thing.split()[0]) in self._listed.kept:
            return None
        return self._places.other("land", land, pack_options(self._locale, "institutions", "lands", "de {town}"))

    def _person(self, text: str, run: Sequence[regex.Match[str]]) -> list[tuple[int, int, str]]:
        """Return what replaces adjacent words: a region's adjective, a town, an abbreviation, or names."""
        words = [match.group() for match in run]
        begin, end = run[0].start(), run[-1].end()
        if not self._listed.demonyms.isdisjoint(map(casefold_accents, words)):
            return [(begin, end, self._places.other("land", words[0], self._listed.larger))]
        if self._listed.before_town.search(text, 0, begin) and not self._names.has(words[0]):
            town = (begin, run[0].end(), self._places.town(words[0]))
            return [town, *(self._person(text, run[1:]) if run[1:] else ())]
        if len(words) == 1 and _ABBREVIATION.fullmatch(words[0]):
            return [(begin, end, self._letters(words[0]))]
        spans = []  # without "d'" and "'s"
        for match in run:
            elided, possessive = _ELIDED.match(match.group()), _POSSESSIVE.search(match.group())
            start = match.start() + (elided.end() if elided else 0)
            spans.append((start, match.start() + possessive.start() if possessive else match.end()))
        words = [text[start:stop] for start, stop in spans]
        preceding = text[:begin].split()
        if preceding and casefold_accents(preceding[-1]) in self._listed.before_first_names:
            names = [self._names.word(words[0]), *self._names.full_name(words[1:])]
        else:
            names = self._names.full_name(words)
        return [
            (*span, self._names.initials(word) if word.isupper() and len(word) <= _LONGEST_ACRONYM else name)
            for span, word, name in zip(spans, words, names, strict=True)
        ]

    def _code(self, text: str) -> str:
        """Return another number; a possible day of the month stays one."""
        if text.isdigit() and 0 < int(text) <= _LAST_DAY + 3:
            options = tuple(str(day) for day in range(1, _LAST_DAY + 1) if len(str(day)) == len(text))
            return (
                self._keyed.other("number", text, options) if options else other_code(text, self._keyed, self._locale)
            )
        return other_code(text, self._keyed, self._locale)

    def _initials(self, text: str, *, articles: bool) -> str:
        """Return the initials of a name's words, with or without articles and prepositions."""
        words = [casefold_accents(match["word"]) for match in PIECE.finditer(text) if match["word"]]
        return "".join(word[0] for word in words if articles or word not in self._listed.small).upper()


@lru_cache(maxsize=8)
def _houses(locale: str) -> Options:
    """Return the names of houses, and invented ones with the article of their ending."""
    known, pack = locale_lists(locale), packs_of(locale)[0]
    articles = surrogate_table(pack, "institutions").get("articles", ())
    return Options(
        pack.entries("surrogates", "institutions", "houses"),
        (
            f"{article} {name}"
            for name in known.last[known.real_last :]
            for end, article in articles
            if name.endswith(end)
        ),
    )
