"""Surrogates: invented values of the same form, the same for the same patient, value and secret.

- `Surrogates`: one patient's; `of(text, label)` gives a value's surrogate.
- keyed: choices by HMAC; nothing is remembered, so runs, machines and orders agree.
- words: people, hospitals, places; dates: dates moved; shapes: numbers, codes, addresses on the net.
- pools: what is chosen from; KINDS: how each type of PHI is replaced.
"""

from crfdeid.redaction.surrogates.kinds import KINDS, Surrogates

__all__ = ["KINDS", "Surrogates"]
