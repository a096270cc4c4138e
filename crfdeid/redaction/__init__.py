"""Redacted text from documents and spans.

redact.py      `redact`: labels, numbered labels, masks, surrogates, or nothing
policy.py      `Policy`: settings of finding and replacing PHI, with a short name
surrogates/    invented values of the same form, the same for the same value
"""

from crfdeid.redaction.redact import OPERATORS, redact

__all__ = ["OPERATORS", "redact"]
