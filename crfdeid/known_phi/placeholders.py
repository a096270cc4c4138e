"""Placeholders and short values of a patient's record, which would hide ordinary words of every note."""

from __future__ import annotations

import regex

from crfdeid.known_phi.folding import fold
from crfdeid.redaction.persons import NAME_WORD, PARTICLES, TITLES

# As `fold` leaves them: "N/A", "<NA>" and "n.a." are "na".
_NOTHING = """
    na nan nat nil null none nd sd nc ns nr
    unknown unk undefined unidentified unnamed missing noname nodata noinformation notavailable notapplicable notgiven
    notknown notprovided notrecorded notstated anonymous anon anonymised anonymized deleted redacted removed withheld
    tbd tba placeholder dummy example test tester testing testpatient patienttest
    desconocido desconocida ignorado ignorada noconsta nodisponible noaplica noidentificado noidentificada nosesabe
    sindatos sinnombre sinapellido sinapellidos sinidentificar sininformacion ninguno ninguna nulo nula
    anonimo anonima anonimizado anonimizada borrado eliminado pendiente porconfirmar ficticio ejemplo prueba pruebas
    pacienteprueba pacientedeprueba pruebapaciente
"""
# The heads of columns and forms, left where a name should be.
_HEADS = "name surname firstname lastname patient nombre apellido apellidos paciente"
_NOTHING_WORDS, _HEAD_WORDS = frozenset(_NOTHING.split()), frozenset(_HEADS.split())
# Of a whole name some words can be placeholders ("Unknown Quill"); shorter ones are names as well ("Nan", "Na").
_LEAST_OF_A_NAME = 4
_FILLED = regex.compile(r"x+|0+")

PLACEHOLDER = "placeholder"
"""Reason that a value hides nothing: it says nothing."""

SHORT = "short"
"""Reason that a value hides little: a letter is looked for only next to the rest of its name, an identifier of fewer
than `LEAST_ALONE` letters and digits only after a word such as "MRN"."""

LEAST_ALONE = 4


def says_nothing(value: str) -> bool:
    """True for a value without letters and digits, and for the words that tables have for "nothing".

    Example:
        >>> [says_nothing(value) for value in ("N/A", " - ", "Desconocido", "Quill")]
        [True, True, True, False]
    """
    folded = fold(value)
    return not folded or folded in _NOTHING_WORDS


def is_no_name(word: str) -> bool:
    """True for a folded word within a name that is no part of it: "null" in "null Quill"."""
    return len(word) >= _LEAST_OF_A_NAME and (word in _NOTHING_WORDS or word in _HEAD_WORDS)


def why_unsearched(kind: str, value: str) -> str | None:
    """The reason that a value of a record is not looked for everywhere in its notes; None where it is.

    Args:
        kind: of `crfdeid.known_phi.identifiers.KINDS`.
        value: of the record, not empty.

    Returns:
        `PLACEHOLDER` or `SHORT`.
    """
    folded = fold(value)
    if says_nothing(value) or _FILLED.fullmatch(folded):
        return SHORT if kind == "name" and folded == "x" else PLACEHOLDER
    if kind == "name":
        if folded in _HEAD_WORDS or _is_title(value):
            return PLACEHOLDER
        return SHORT if len(folded) == 1 and folded.isascii() and folded.isalpha() else None
    return SHORT if kind != "date" and len(folded) < LEAST_ALONE else None


def _is_title(name: str) -> bool:
    words = [match.group().lower() for match in NAME_WORD.finditer(name)]
    return bool(words) and TITLES.difference(PARTICLES).issuperset(words)
