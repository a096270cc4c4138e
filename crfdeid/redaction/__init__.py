"""Redacted text from documents and spans.

operators.py   one table of operators: what each writes, needs and can do
policy.py      `Operators` of types of PHI, and `Policy`: settings of finding and replacing PHI, with a short name
named_policies.py  `named_operators` of a law, such as Safe Harbor (policies.toml)
generalisation.py  less exact values: years, bands of ages, states (us_places.toml)
redactor.py    `Redactor`: model, policy, keys and columns, for command, Arrow, Spark and service
redact.py      `redact`: documents and spans -> text       encryption.py  values as tokens, and back
in_bytes.py    `redact_bytes`: a whole document          in_markup.py   replacements in the source of markup
numbering.py   numbers of persons and values            round_trip.py  numbered tokens with a map, and back
record.py      what was replaced, for a review: offsets, types, lengths, digests
surrogates/    invented values of the same form, the same for the same value
"""

from crfdeid.redaction.operators import OPERATORS
from crfdeid.redaction.policy import Operators, parse_operators
from crfdeid.redaction.record import RedactionRecord
from crfdeid.redaction.redact import redact, redact_recorded

__all__ = [
    "OPERATORS",
    "Operators",
    "RedactionRecord",
    "parse_operators",
    "redact",
    "redact_recorded",
]
