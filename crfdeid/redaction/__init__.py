"""Documents and spans to redacted text.

replace.py     `redact`: labels, numbered labels, masks, surrogates, or nothing at all
persons.py     when two written names can be of one person
surrogates/    invented values of the same form, the same for the same value
"""

from crfdeid.redaction.redact import OPERATORS, redact

__all__ = ["OPERATORS", "redact"]
