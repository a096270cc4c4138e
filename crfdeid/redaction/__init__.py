"""Redacted text from documents and spans.

operators.py   `Operators`: the operator of each type       redact.py      `redact`: documents and spans -> text
policy.py      `Policy`: settings of finding and replacing PHI, with a short name
surrogates/    invented values of the same form, the same for the same value
"""

from crfdeid.redaction.operators import OPERATORS, Operators, parse_operators
from crfdeid.redaction.redact import redact

__all__ = ["OPERATORS", "Operators", "parse_operators", "redact"]
