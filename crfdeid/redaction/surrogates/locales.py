"""The language and country of surrogates: guessed from a note's text, or given and checked."""

from __future__ import annotations

import unicodedata

import regex

ENGLISH, SPANISH = "en_US", "es_ES"
_MONTH_FIRST = ("en_US", "en", "en_PH", "fil_PH")  # The rest of the world puts the day first, or the year.

# Words that make up much of any text of a language, and those that notes have instead of sentences. The other languages
# are there to be told from the two, not to be guessed. A word of two languages counts for both, so it decides nothing.
_WORDS = {
    ENGLISH: """
        the of and to in is was were with for by on at from as are be been this that his her he she has had have not
        or an after before who which will she's patient patients history seen name date birth age year years old
        month months day days phone call called please admitted discharged male female pt dob mrn lives signed
        attending hospital street address mother father daughter husband wife worked works aged pain left right
    """,
    SPANISH: """
        el la los las un una de del en y que con por para se su sus al lo como más sin sobre desde hasta fue es son ha
        ante tras entre no o a paciente pacientes nombre apellidos fecha nacimiento edad años año meses mes días
        domicilio médico médica historia clínica ingreso alta acude presenta varón mujer niño niña localidad teléfono
        informe hijo calle avda hospital servicio país sexo madre padre vive trabaja dolor antecedentes remitido nhc
        don doña
    """,
    "de_DE": "der die das und ist mit von im den dem ein eine nicht wurde wegen patient patientin geboren am bei zur",
    "fr_FR": "le la les des du et est un une dans pour par avec sur qui au aux ce cette il elle patiente âgé né ans à",
    "it_IT": "il la di che e un una per con del della dei nel nella non è gli le da al alla paziente anni nato si",
    "pt_PT": "o a os as do da dos das em um uma com para por não que no na ao e foi paciente anos idade nascimento",
    "ca_ES": "el la els les de del i amb per que un una és dels al va en pacient anys edat a no",
    "nl_NL": "de het een van en is in op te dat met voor niet zijn werd bij patiënt jaar geboren aan",
}
_LANGUAGES: dict[str, list[str]] = {}
for _locale, _text in _WORDS.items():
    for _word in _text.split():
        _LANGUAGES.setdefault(_word, []).append(_locale)
_WORD = regex.compile(r"(?<![\p{L}\p{M}]-?)\p{L}[\p{L}\p{M}]*+(?!-\p{L})")  # none of "Roux-en-Y"


def guess_locale(text: str) -> str | None:
    """The locale of an English or Spanish text; None where neither is clear.

    It is "en_US" or "es_ES": words tell the language and not the country. They are counted, so that the same text gives
    the same answer wherever it stands.

    Example:
        >>> guess_locale("Seen by Dr. Quill."), guess_locale("Vista por la Dra. Quill."), guess_locale("Quill")
        ('en_US', 'es_ES', None)
    """
    counts = dict.fromkeys(_WORDS, 0)
    for match in _WORD.finditer(unicodedata.normalize("NFC", text).lower()):
        for locale in _LANGUAGES.get(match.group(), ()):
            counts[locale] += 1
    most = max(counts.values())
    best = [locale for locale, count in counts.items() if count == most]
    return best[0] if len(best) == 1 and best[0] in (ENGLISH, SPANISH) else None


def puts_month_first(locale: str) -> bool:
    """Whether 3/4 is the 4th of March in a locale."""
    return locale in _MONTH_FIRST
