"""Surrogates of hospitals and other institutions: words for the kind of institution stay, names change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.choices import Chooser
from crfdeid.redaction.surrogates.identifiers import other_code
from crfdeid.redaction.surrogates.locales import locale_lists
from crfdeid.redaction.surrogates.names import Names, name_words
from crfdeid.redaction.surrogates.place_tables import country_of, other_country
from crfdeid.redaction.surrogates.places import PIECE, Places, more_options, name_runs, replace_runs, towns_of
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
_LAST_DAY = 28


@lru_cache(maxsize=8)
def _folded_towns(locale: str) -> frozenset[str]:
    """Return the casefolded real towns of one word in a locale."""
    known = locale_lists(locale)
    return casefold_words(" ".join(name for name in known.town[: known.real_town] if " " not in name))


class InstitutionWords(NamedTuple):
    """Words around the names of a locale's institutions.

    Attributes:
        kept: casefolded words that stay.
        forms: forms of names.
        named: expression of names of other forms, with groups that say what they are (`Hospitals.hospital`).
        endings: expression of words that stay.
        before_town: expression of what precedes a town.
        towns_tail: what replaces the second part of a town with a hyphen.
        firm: expression of the form of a company at the end of a name.
        abbreviated: expression of the initials of an institution, with the groups before, name and after.
        generic: words that replace each other in an institution without another name.
        demonyms: casefolded adjectives of regions and countries.
        larger: adjectives that replace these.
        before_first_names: casefolded words before the given name of a person.
        months: names of the months.
        small: casefolded words of names that have no capital.
    """

    kept: frozenset[str]
    forms: tuple[NameForm, ...]
    named: regex.Pattern[str] | None
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
    forms = name_forms(pack.code, "institutions")
    kept = folded_in(locale, "institutions", "kept") | casefold_words(" ".join(classes_of(locale)["hospital"]))
    if not forms:
        kept |= {*map(casefold_accents, names.titles | names.particles)}
    entries = partial(surrogate_entries, locale, "institutions")
    before, after = entries("initials_before"), entries("initials_after")
    return InstitutionWords(
        kept,
        forms,
        regex.compile(section["named"]) if "named" in section else None,
        regex.compile(section.get("endings", "(?!)"), regex.IGNORECASE),
        regex.compile(section.get("town", "(?!)")),
        pack.entries("surrogates", "institutions", "towns_tail"),
        regex.compile(surrogate_expression(locale, "institutions", "firm")),
        regex.compile(rf"(?P<before>{'|'.join(before)}|)(?P<name>\p{{Lu}}+?)(?P<after>{'|'.join(after)}|)")
        if before or after
        else None,
        pack.entries("surrogates", "institutions", "generic"),
        folded_in(locale, "institutions", "demonyms"),
        pack.entries("surrogates", "institutions", "larger"),
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
        self._folded_towns = _folded_towns(locale)
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
        if self._listed.forms:
            return self._in_usual_case(text, self._of_forms)
        town = self._places.sure(text)
        if town is not None:
            return town
        firm = self._listed.firm.search(text)
        if firm and firm.start():
            named = self.hospital(text[: firm.start()])
            return named and named + firm.group()
        found = self._in_usual_case(text, self._of_named) if self._listed.named else str(PIECE.sub(self._word, text))
        return found if casefold_accents(found) != casefold_accents(text) else self._generic(text)

    def _in_usual_case(self, text: str, replace: Callable[[str], str]) -> str:
        """Return the surrogate of a name by way of its usual capitals, if it is in upper or lower case."""
        if not (text.isupper() or text.islower()):
            return replace(text)
        found = replace(str(PIECE.sub(self._usual, text)))
        return found.upper() if text.isupper() else found.lower()

    def _usual(self, match: regex.Match[str]) -> str:
        """Return a word of a name in one case with its usual capital, if it has one."""
        lower = match.group().lower()
        return lower if lower in self._listed.small else match.group().title()

    def _of_forms(self, text: str) -> str:
        """Return another institution by the forms of a language, its towns, and its words that stay."""
        kept = self._listed.kept
        pieces = self._places.forms_in(text, self._listed.forms)
        words = [
            match
            for match in PIECE.finditer(text)
            if not any(start < match.end() and match.start() < end for start, end, _ in pieces)
        ]
        done = -2  # the end of the town before
        for i, match in enumerate(words):
            if match.start() < done:
                continue
            word, plain = match.group(), casefold_accents(match.group())
            stop, town = self._town_at(text, words[i:])
            if match.start() == done + 1 and text[done] == "-" and plain not in kept:  # a part of the town
                tails = self._listed.towns_tail
                known = self._places.geography.known(word)
                if known is not None and known.kind in ("capital", "town"):
                    tails = (self._places.town(word),)
                is_single = "-" not in pieces[-1][2]
                tail = f"-{self._places.other('tail', word, tails)}" if is_single and tails else ""
                pieces.append((done, match.end(), tail))
            elif town and not self._names.has(word) and (plain not in kept or stop > match.end()):
                pieces.append((match.start(), stop, town))
                done = stop
            elif match["code"]:
                pieces.append((*match.span(), self._code(word)))
            elif (
                (word.islower() and not self._names.knows(word))
                or plain in kept
                or self._listed.endings.fullmatch(word)
            ):
                continue
            elif self._listed.before_town.search(text, 0, match.start()) and not self._names.has(word):
                pieces.append((*match.span(), self._places.town(word)))
            elif word.isupper() and len(word) <= _LONGEST_ACRONYM:
                pieces.append((*match.span(), self._names.initials(word)))
            else:
                elided = _ELIDED.match(word)
                begin = elided.end() if elided else 0
                follows = i + 1 < len(words) and text[match.end() : words[i + 1].start()] in ("-", " ")
                is_first = follows and words[i + 1].group()[:1].isupper() and not self._names.has(word)
                found = self._names.full_name([word[begin:], *([words[i + 1].group()] if is_first else [])])[0]
                found = self._names.word(word) if self._names.has(word) else found
                pieces.append((match.start() + begin, match.end(), found))
        return splice(text, sorted(pieces))

    def _town_at(self, text: str, words: Sequence[regex.Match[str]]) -> tuple[int, str | None]:
        """Return the end and the surrogate of the longest known town that begins with the first of some words."""
        elided = _ELIDED.match(words[0].group())
        start = words[0].start() + (elided.end() if elided else 0)
        for last in reversed(words[:_MOST_TOWN_WORDS]):
            town = self._places.sure(text[start : last.end()])
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

    def _of_named(self, text: str) -> str:
        """Return another institution: names that `InstitutionWords.named` finds first, then those of persons."""
        parts: list[str] = []
        end, position = 0, 0
        while self._listed.named and (match := self._listed.named.search(text, position)):
            found = next(replace(match) for group, replace in self._forms.items() if match[group])
            if found is None:
                position = match.start() + 1
                while position < len(text) and text[position].isalnum():
                    position += 1
                continue
            parts += self._people(text[end : match.start()]), found
            end = position = match.end()
        return "".join([*parts, self._people(text[end:])])

    def _virgin(self, match: regex.Match[str]) -> str:
        """Return "Virgen de la Luz" for "Virgen del Rocío"."""
        which = match["which"].strip()
        other = self._places.other("virgin", which, more_options(self._locale)["virgin"])
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
        return known or self._places.other("house", match["house"], more_options(self._locale)["house"])

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
        return self._places.other("land", land, more_options(self._locale)["land"])

    def _people(self, text: str) -> str:
        """Return the surrogate of the rest of a name: known places, words that stay, and names of persons."""
        return replace_runs(text, name_runs(text, self._is_name, self._continues_name), self._code, self._person)

    def _person(self, text: str, run: list[regex.Match[str]]) -> str:
        """Return the surrogate of adjacent words: a place, a region's adjective, an abbreviation, or a name."""
        begin, end = run[0].start(), run[-1].end()
        for i, match in enumerate(run):
            known = self._places.sure(text[match.start() : end])
            if known is not None:
                before = self._person(text, run[:i]) + text[run[i - 1].end() : match.start()] if i else ""
                return before + known
        words = [match.group() for match in run]
        if any(casefold_accents(word) in self._listed.demonyms for word in words):
            return self._places.other("land", words[0], self._listed.larger)
        if len(words) == 1 and _ABBREVIATION.fullmatch(words[0]):
            return self._letters(words[0])
        preceding = text[:begin].split()
        if preceding and casefold_accents(preceding[-1]) in self._listed.before_first_names:
            names = [self._names.word(words[0]), *self._names.full_name(words[1:])]
        else:
            names = self._names.full_name(words)
        changes = [(m.start() - begin, m.end() - begin, name) for m, name in zip(run, names, strict=True)]
        return splice(text[begin:end], changes)

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

    def _is_name(self, pieces: Sequence[regex.Match[str]], i: int, joined: bool) -> bool:
        word = casefold_accents(pieces[i]["word"] or "")
        is_title = word in self._places.words.titles or word in self._places.words.saints
        if is_title and i + 1 < len(pieces) and pieces[i + 1]["word"]:
            return False
        return bool(word) and (word not in self._listed.kept or (joined and word == "y"))

    def _continues_name(self, gap: str, pieces: Sequence[regex.Match[str]], i: int) -> bool:
        return gap.isspace() or (gap == "-" and casefold_accents(pieces[i].group()) in self._listed.demonyms)

    def _word(self, match: regex.Match[str]) -> str:
        word = match.group()
        plain = casefold_accents(word)
        if match["code"]:
            return self._code(word)
        if plain in self._listed.kept:
            return word
        if country_of(plain, self._locale):
            return other_country(word, self._keyed, self._locale) or word
        if plain in self._folded_towns:
            return self._places.other("town", word, towns_of(self._locale)[""])
        if word.isupper() and len(word) <= 4:
            return self._names.initials(word)
        owner = word[:-2] if word[-2:] in ("'s", "’s") else word
        return self._names.word(owner) + word[len(owner) :]
