"""Placeholders and short values of a record, which occur as ordinary words in every note."""

from __future__ import annotations

import regex

from crfdeid.known_phi.folding import fold_to_alnum
from crfdeid.known_phi.persons import NAME_WORD, PARTICLES, TITLES
from features.lexicons import word_set

# In the form of `fold_to_alnum`: "N/A", "<NA>" and "n.a." are "na".
_PLACEHOLDER_WORDS = word_set(
    """
    na nan nat nil null none nd sd nc ns nr
    unknown unk undefined unidentified unnamed missing noname nodata noinformation notavailable notapplicable notgiven
    notknown notprovided notrecorded notstated anonymous anon anonymised anonymized deleted redacted removed withheld
    tbd tba placeholder dummy example test tester testing testpatient patienttest
    desconocido desconocida ignorado ignorada noconsta nodisponible noaplica noidentificado noidentificada nosesabe
    sindatos sinnombre sinapellido sinapellidos sinidentificar sininformacion ninguno ninguna nulo nula
    anonimo anonima anonimizado anonimizada borrado eliminado pendiente porconfirmar ficticio ejemplo prueba pruebas
    pacienteprueba pacientedeprueba pruebapaciente
"""
)
# Headings of columns and forms in the place of a name.
_HEADING_WORDS = word_set("name surname firstname lastname patient nombre apellido apellidos paciente")
# A word of a longer name can be a placeholder ("Unknown Quill"); shorter ones are names, too ("Nan", "Na").
_MIN_PLACEHOLDER_WORD = 4
_FILLED = regex.compile(r"x+|0+")

PLACEHOLDER = "placeholder"
"""Reason: the value means a missing one."""

SHORT = "short"
"""Reason: a single letter is searched only next to the rest of its name, and an identifier of fewer than
`MIN_SEARCHED_LENGTH` letters and digits only after a word such as "MRN"."""

MIN_SEARCHED_LENGTH = 4
"""Fewest letters and digits of an identifier that is searched everywhere."""


def is_placeholder(value: str) -> bool:
    """Return True for a value without letters and digits, and for words that mean a missing value.

    Example:
        >>> [is_placeholder(value) for value in ("N/A", " - ", "Desconocido", "Quill")]
        [True, True, True, False]
    """
    folded = fold_to_alnum(value)
    return not folded or folded in _PLACEHOLDER_WORDS


def is_placeholder_word(word: str) -> bool:
    """Return True for a folded word that is a placeholder within a name: "null" in "null Quill"."""
    return len(word) >= _MIN_PLACEHOLDER_WORD and (word in _PLACEHOLDER_WORDS or word in _HEADING_WORDS)


def unsearched_reason(kind: str, value: str) -> str | None:
    """Return the reason that a value of a record is not searched everywhere in its notes, or None.

    Args:
        kind: one of `crfdeid.known_phi.identifiers.IDENTIFIER_KINDS`.
        value: a value that is not empty.

    Returns:
        `PLACEHOLDER`, `SHORT` or None.
    """
    folded = fold_to_alnum(value)
    if is_placeholder(value) or _FILLED.fullmatch(folded):
        return SHORT if kind == "name" and folded == "x" else PLACEHOLDER
    if kind == "name":
        if folded in _HEADING_WORDS or _is_title(value):
            return PLACEHOLDER
        return SHORT if len(folded) == 1 and folded.isascii() and folded.isalpha() else None
    return SHORT if kind != "date" and len(folded) < MIN_SEARCHED_LENGTH else None


def _is_title(name: str) -> bool:
    words = [match.group().lower() for match in NAME_WORD.finditer(name)]
    return bool(words) and TITLES.difference(PARTICLES).issuperset(words)
