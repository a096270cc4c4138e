"""Surrogates of hospitals and other institutions: words for the kind of institution stay, names change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import regex

from crfdeid.known_phi.names import PARTICLES
from crfdeid.redaction.surrogates.choices import Chooser
from crfdeid.redaction.surrogates.identifiers import other_code
from crfdeid.redaction.surrogates.locales import locale_lists
from crfdeid.redaction.surrogates.names import Names
from crfdeid.redaction.surrogates.place_tables import known_countries, other_country
from crfdeid.redaction.surrogates.places import (
    ARTICLES,
    BEFORE_NAMES,
    PIECE,
    Places,
    more_options,
    name_runs,
    replace_runs,
    towns_of,
)
from crfdeid.redaction.surrogates.words import (
    ENGLISH_AND_SPANISH_TITLES,
    ENGLISH_AND_SPANISH_WORDS,
    VOWELS,
    casefold_accents,
    casefold_words,
    folded_entries,
    language_pack,
    name_forms,
    splice,
    surrogate_table,
)
from features.languages import Language
from features.lexicons import SPANISH_MONTHS

_KEPT = casefold_words(
    " ".join([*ENGLISH_AND_SPANISH_WORDS["hospital"], *ENGLISH_AND_SPANISH_TITLES, *PARTICLES])
) | casefold_words(
    """
    universitari universitaria materno infantil provincial regional comarcal nacional central municipal público
    pública privado privada militar médico médica médicos quirúrgico oncológico psiquiátrico psiquiátrica
    pediátrico geriátrico cardiológico oftalmológico dermatológico forense legal asistencial docente integral
    especialidades urgencias consultas atención primaria unidad servicio departamento sección área laboratorio
    laboratorios facultad universidad universitat university college school escuela colegio instituto institut
    fundació asociación sociedad clínicas centros complexo hospitalari hospitalaria maternidad medicina medicine
    cirugía odontología enfermería farmacia ciencias salud investigación investigaciones biomédica biomédico
    biomedical research foundation association department community county state city national veterans children's
    children women's mercy saint's urgent care family practice associates group system systems services service
    surgical cancer heart eye institute laboratory inc llc co corp ltd s.a sa sl edificio juzgados ciudad justicia
    gobierno ministerio consejería ayuntamiento policía guardia civil residencia geriátrica ancianos
    dolor diálisis hemodiálisis rehabilitación cuidados paliativos microbiología oftalmobiología oftalmología urología
    nefrología neurología cardiología pediatría traumatología oncología radiología psiquiatría ginecología anatomía
    patológica toxicología genética mental deportivo deportiva ceguera evitar consejo comité comisión europa
    europeo europea internacional aplicada social pública medicina seguridad mutua consultorio consulta edifici
    iml ivml iis ute cap eap uci para con contra por sin
    acute adult allergy ambulance ambulatory assisted asthma audiology behavioral behavioural birth blood bone breast
    campus cardiac cardiology cardiovascular chiropractic clinical convalescent counseling counselling day dental
    dentistry department dermatology detox diabetes diagnostic diagnostics dialysis disease ear emergency endocrinology
    endoscopy ent extended facility fertility gastroenterology geriatric gynecology gynaecology hematology home homecare
    hospitalist imaging immunology infectious infusion intensive internal joint kidney labs lab laboratories living
    liver long maternity mental midwifery mri neonatal nephrology neurology neurosurgery nose ob obgyn obstetrics
    occupational oncology ophthalmology optical optometry orthopaedic orthopaedics orthopedic orthopedics outpatient
    pain palliative partners pathology pediatric pediatrics paediatric paediatrics pharmacy physical physicians
    physiotherapy plasma podiatry practice primary providers psychiatric psychiatry psychology pulmonary radiation
    radiology recovery rehab renal respiratory retirement rheumatology senior skilled sleep specialists specialty
    specialties speech spine sports stroke surgeons surgery telehealth term therapy throat transplant trauma treatment
    trust nhs in ultrasound unit urology vascular vision walk wellness wound
    adicciones ambulancias ambulatoria ambulatorio análisis asilo asistida banco botica clínicos desintoxicación
    día diagnóstico digestivo domiciliaria domicilio endocrinología endoscopias estética fertilidad fisioterapia
    geriatría hematología hogar hospicio imagen logopedia mayores neumología óptica ortopedia podología psicología renal
    reproducción resonancia reumatología sangre sanitario sanitaria trasplantes
"""
)
# Words that replace each other in a hospital without another name.
_GENERIC = {
    "es": ("General", "Clínico", "Comarcal", "Provincial", "Regional"),
    "en": ("General", "Community", "Memorial", "Regional", "County"),
}
# Adjectives of regions and countries, replaced by "Nacional" and the like.
_DEMONYMS = casefold_words(
    """
    español española andaluz andaluza aragonés aragonesa asturiano asturiana balear canario canaria cántabro
    cántabra castellano castellana leonés leonesa catalán catalana extremeño extremeña gallego gallega madrileño
    madrileña murciano murciana navarro navarra vasco vasca valenciano valenciana galego galega català argentino
    argentina chileno chilena colombiano colombiana cubano cubana mexicano mexicana peruano peruana uruguayo
    uruguaya venezolano venezolana
"""
) - {"navarra", "argentina"}  # which are places, too
_BEFORE_FIRST_NAMES = casefold_words("infanta reina rey príncipe princesa beata sor fray")
_LARGER = ("Nacional", "Central", "General")
_MONTHS = f"(?i:{'|'.join(SPANISH_MONTHS)})"
_CAP = r"\p{Lu}[\p{L}\p{M}]*"
_NAMED = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}])(?:(?P<who>(?i:Virgen|(?:Nuestra|Ntra\.?|Nstra\.?)\s+(?:Señora|Sra\.?)))"
    rf"(?P<which>(?:\s+(?i:de|del|la|las|los))*\s+{_CAP})"
    rf"|(?P<day>[0-9]{{1,2}})(?P<of>º?(?:\s+(?i:de)(?!\p{{L}}))?)(?:(?P<gap>\s+)(?P<month>{_MONTHS}))(?!\p{{L}})"
    rf"|(?P<cut>(?P<first_day>[0-9]{{1,2}})º?\s+(?i:de)$)"
    rf"|(?P<saint>(?i:San|Santo|Santa|Sant|St[ao]\.?))(?P<space>\s+)"
    rf"(?P<called>{_CAP}(?:\s+(?:de|de la|de los|del|y)\s+{_CAP})?)"
    rf"|(?P<land>(?:de\s+la|de\s+las|de\s+los|del)\s+(?P<thing>{_CAP}(?:\s+{_CAP})*))"
    rf"|(?P<house>(?i:la|el|las|los)\s+(?P<first>{_CAP}))"
    rf"|(?P<place>(?i:de|en)\s+)(?P<town>{_CAP}(?:[-\s]{_CAP})*))"
)
_ABBREVIATION = regex.compile(r"\p{Lu}{2,8}")
# Initials of "Hospital Universitario", "Medical Center" and the like before or after those of the name.
_ABBREVIATED = regex.compile(
    r"(?P<before>CHU|HGU|HCU|HU|HG|HC|CH|H|)(?P<name>\p{Lu}+?)(?P<after>RMC|GMC|CMC|MC|GH|CH|)"
)
_FIRM = regex.compile(r"[\s,]+S\.?\s?[AL]\.?(?:U\.?)?$")
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
        self._spanish = locale.startswith("es")
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
        self._pack = language_pack(locale)
        self._spelled_out = sorted({text for text in spelled_out if not _ABBREVIATION.fullmatch(text)})

    def hospital(self, text: str) -> str | None:
        """Return another institution: words such as "Hospital" stay; None for one without a name."""
        if self._pack is not None:
            usual = text if not (text.isupper() or text.islower()) else str(PIECE.sub(self._usual, text))
            found = self._packed(usual, self._pack)
            return found.upper() if text.isupper() else found.lower() if text.islower() else found
        if _ABBREVIATION.fullmatch(text):
            return self._abbreviation(text)
        town = self._places.spanish(text)
        if town is not None:
            return town
        firm = _FIRM.search(text)
        if firm and firm.start():
            named = self.hospital(text[: firm.start()])
            return named and named + firm.group()
        if self._spanish:
            found = self._in_one_case(text) if text.isupper() or text.islower() else self._in_spanish(text)
        else:
            found = self._words(text)
        return found if casefold_accents(found) != casefold_accents(text) else self._generic(text)

    def _usual(self, match: regex.Match[str]) -> str:
        """Return a word of a name in one case with its usual capital, if it has one."""
        lower = match.group().lower()
        small = self._pack is not None and any(
            lower in words for words in (self._pack.particles, self._pack.function_words)
        )
        return lower if small else match.group().title()

    def _packed(self, text: str, pack: Language) -> str:
        """Return another institution by the forms of a language, its towns, and its words that stay."""
        section = surrogate_table(pack, "institutions")
        kept = folded_entries(pack.code, "institutions", "kept") | frozenset(
            map(casefold_accents, pack.words["hospital"])
        )
        stays = regex.compile(section.get("endings", "(?!)"), regex.IGNORECASE)
        before_town = regex.compile(section.get("town", "(?!)"))
        pieces = self._places.forms_in(text, name_forms(pack.code, "institutions"))
        words = [match for match in PIECE.finditer(text) if not _within(match.span(), pieces)]
        done = -2  # the end of the town before
        for i, match in enumerate(words):
            if match.start() < done:
                continue
            word, plain = match.group(), casefold_accents(match.group())
            stop, town = self._town_at(text, words[i:])
            if match.start() == done + 1 and text[done] == "-" and plain not in kept:  # a part of the town
                tails = pack.entries("surrogates", "institutions", "towns_tail")
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
            elif (word.islower() and not self._names.knows(word)) or plain in kept or stays.fullmatch(word):
                continue
            elif before_town.search(text, 0, match.start()) and not self._names.has(word):
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
            town = self._places.spanish(text[start : last.end()])
            if town is not None and text[start].isupper():
                before = text[words[0].start() : start]
                has_vowel = casefold_accents(town[0]) in VOWELS or not before
                return last.end(), (before if has_vowel else f"{before[0]}e ") + town
        return start, None

    def _abbreviation(self, text: str) -> str:
        """Return the initials of the surrogate that the note spells out, else others that agree with names."""
        for whole in self._spelled_out:
            for articles in (False, True):
                if _initials(whole, articles=articles) == text:
                    found = _initials(self.hospital(whole) or text, articles=articles)
                    return found if found != text else self._names.initials(text)
        match = _ABBREVIATED.fullmatch(text)
        return match["before"] + self._letters(match["name"]) + match["after"] if match else text

    def _letters(self, word: str) -> str:
        """Return other initials; for an acronym that is pronounceable, a name in capitals."""
        is_word = len(word) > _MOST_INITIALS and sum(c in "aeiou" for c in casefold_accents(word)) > 1
        return self._names.full_name([word])[0] if is_word else self._names.initials(word)

    def _generic(self, text: str) -> str | None:
        """Return "Hospital Clínico" for "Hospital General"; None if there is no such word."""
        generic = _GENERIC.get(self._locale.split("_")[0], ())
        for word in generic:
            match = regex.search(rf"(?<!\p{{L}}){word}(?!\p{{L}})", text, regex.IGNORECASE)
            if match:
                found = self._places.other("generic", match.group(), generic)
                return text[: match.start()] + found + text[match.end() :]
        return None

    def _in_one_case(self, text: str) -> str:
        """Return the surrogate of a name in upper or lower case, by way of its usual capitals."""
        usual = PIECE.sub(lambda match: _as_usual(match.group()), text)
        found = self._in_spanish(str(usual))
        return found.upper() if text.isupper() else found.lower()

    def _in_spanish(self, text: str) -> str:
        """Return the surrogate of a Spanish name: forms of `_NAMED` first, then the rest as names of persons."""
        parts: list[str] = []
        end, position = 0, 0
        while match := _NAMED.search(text, position):
            found = self._named(match)
            if found is None:
                position = match.start() + 1
                while position < len(text) and text[position].isalnum():
                    position += 1
                continue
            parts += self._people(text[end : match.start()]), found
            end = position = match.end()
        return "".join([*parts, self._people(text[end:])])

    def _named(self, match: regex.Match[str]) -> str | None:
        """Return the surrogate of a name in one of the forms, or None if it is no name."""
        return next(way(match) for group, way in self._forms.items() if match[group])

    def _virgin(self, match: regex.Match[str]) -> str:
        """Return "Virgen de la Luz" for "Virgen del Rocío"."""
        which = match["which"].strip()
        other = self._places.other("virgin", which, more_options(self._locale)["virgin"])
        return f"{match['who']} {other if which.isupper() else other[0].lower() + other[1:]}"

    def _saint(self, match: regex.Match[str]) -> str:
        """Return "San Blas" of the surrogate of Soria for "San Cosme de Soria"."""
        called, of, town = match["called"].rpartition(" de ")
        known = self._places.spanish(town) if of else None
        saint = self._places.saint(match["saint"].rstrip("."), called if known else match["called"])
        return match["saint"] + match["space"] + saint + (of + known if known else "")

    def _house(self, match: regex.Match[str]) -> str | None:
        """Return "La Merced" for "La Paz"."""
        known = self._places.spanish(match["house"])
        if known is None and casefold_accents(match["first"]) in _KEPT:
            return None
        return known or self._places.other("house", match["house"], more_options(self._locale)["house"])

    def _town(self, match: regex.Match[str]) -> str | None:
        """Return the surrogate of a town after "de", known or not."""
        known = self._places.known(match["town"])
        if known is None and any(casefold_accents(word) in _KEPT for word in regex.split(r"[-\s]", match["town"])):
            return None
        return match["place"] + (known or self._places.town(match["town"]))

    def _feast(self, match: regex.Match[str]) -> str:
        """Return another day of the year for "12 de Octubre"."""
        days = self._keyed.permutation(f"feasts {casefold_accents(match['month'])}", _LAST_DAY)
        day = 1 + days.of((int(match["day"]) - 1) % _LAST_DAY)
        return f"{day}{match['of']}{match['gap']}{self._places.other('feast', match['month'], SPANISH_MONTHS)}"

    def _cut(self, match: regex.Match[str]) -> str:
        """Return another day for "12 de", a feast without its month."""
        return self._code(match["first_day"]) + match["cut"][len(match["first_day"]) :]

    def _land(self, match: regex.Match[str]) -> str | None:
        """Return "de la Ribera" for "del Sureste"."""
        thing, land = match["thing"], match["land"]
        known = self._places.spanish(thing)
        if known is not None:
            return land[: -len(thing)] + known
        if casefold_accents(thing.split()[0]) in _KEPT:
            return None
        return self._places.other("land", land, more_options(self._locale)["land"])

    def _people(self, text: str) -> str:
        """Return the surrogate of the rest of a name: known places, words that stay, and names of persons."""
        return replace_runs(text, name_runs(text, _is_name, _continues_name), self._code, self._person)

    def _person(self, text: str, run: list[regex.Match[str]]) -> str:
        """Return the surrogate of adjacent words: a place, a region's adjective, an abbreviation, or a name."""
        begin, end = run[0].start(), run[-1].end()
        for i, match in enumerate(run):
            known = self._places.spanish(text[match.start() : end])
            if known is not None:
                before = self._person(text, run[:i]) + text[run[i - 1].end() : match.start()] if i else ""
                return before + known
        words = [match.group() for match in run]
        if any(casefold_accents(word) in _DEMONYMS for word in words):
            return self._places.other("land", words[0], _LARGER)
        if len(words) == 1 and _ABBREVIATION.fullmatch(words[0]):
            return self._letters(words[0])
        preceding = text[:begin].split()
        if preceding and casefold_accents(preceding[-1]) in _BEFORE_FIRST_NAMES:
            names = [self._names.word(words[0]), *self._names.full_name(words[1:])]
        else:
            names = self._names.full_name(words)
        changes = [(m.start() - begin, m.end() - begin, name) for m, name in zip(run, names, strict=True)]
        return splice(text[begin:end], changes)

    def _code(self, text: str) -> str:
        """Return another number; a possible day of the month stays one."""
        if text.isdigit() and 0 < int(text) <= _LAST_DAY + 3:
            options = tuple(str(day) for day in range(1, _LAST_DAY + 1) if len(str(day)) == len(text))
            return self._keyed.other("number", text, options) if options else other_code(text, self._keyed)
        return other_code(text, self._keyed)

    def _words(self, text: str) -> str:
        return str(PIECE.sub(self._word, text))

    def _word(self, match: regex.Match[str]) -> str:
        word = match.group()
        plain = casefold_accents(word)
        if match["code"]:
            return self._code(word)
        if plain in _KEPT:
            return word
        if plain in known_countries():
            return other_country(word, self._keyed, self._locale) or word
        if plain in self._folded_towns:
            return self._places.other("town", word, towns_of(self._locale)[""])
        if word.isupper() and len(word) <= 4:
            return self._names.initials(word)
        owner = word[:-2] if word[-2:] in ("'s", "’s") else word
        return self._names.word(owner) + word[len(owner) :]


def _within(span: tuple[int, int], pieces: Iterable[tuple[int, int, str]]) -> bool:
    return any(start < span[1] and span[0] < end for start, end, _ in pieces)


def _initials(text: str, *, articles: bool) -> str:
    """Return the initials of a name's words, with or without articles and prepositions."""
    words = [match["word"] for match in PIECE.finditer(text) if match["word"]]
    return "".join(
        casefold_accents(word)[0] for word in words if articles or casefold_accents(word) not in ARTICLES
    ).upper()


def _as_usual(word: str) -> str:
    return word.lower() if casefold_accents(word) in ARTICLES else word.title()


def _is_name(pieces: Sequence[regex.Match[str]], i: int, joined: bool) -> bool:
    word = casefold_accents(pieces[i]["word"] or "")
    is_title = word in BEFORE_NAMES and i + 1 < len(pieces) and pieces[i + 1]["word"]
    return bool(word) and not is_title and (word not in _KEPT or (joined and word == "y"))


def _continues_name(gap: str, pieces: Sequence[regex.Match[str]], i: int) -> bool:
    return gap.isspace() or (gap == "-" and casefold_accents(pieces[i].group()) in _DEMONYMS)
