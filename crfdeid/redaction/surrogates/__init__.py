"""Surrogates: invented values of the same form, the same for the same patient, value and secret.

kinds.py    `Surrogates` of one patient, and KINDS: how each type of PHI is replaced
words.py    people, hospitals, places                  dates.py      dates, moved by some days
shapes.py   numbers, codes, addresses on the net       invented.py   the names that are chosen from
keyed.py    choices by HMAC: nothing is remembered, so that runs, machines and orders agree
"""

from crfdeid.redaction.surrogates.kinds import KINDS, Surrogates

__all__ = ["KINDS", "Surrogates"]
