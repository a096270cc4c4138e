"""Surrogates: invented values of the same form, the same for the same patient, value and secret.

kinds.py       `Surrogates` of one patient, and KINDS: how each type of PHI is replaced
names.py       people                                    hospitals.py   hospitals and other institutions
places.py      streets and towns                         towns.py       towns of Spain, states of the USA
countries.py   countries by region                       shapes.py      numbers, telephones, addresses on the net
dates.py       dates, moved by some days                 date_forms.py  the forms they are written in
kept.py        sex, kin and ages, which stay             invented.py    the names that are chosen from
locales.py     the language, guessed from the text       letters.py     letters without accents and case
keyed.py       choices by HMAC: nothing is remembered, so that runs, machines and orders agree
"""

from crfdeid.redaction.surrogates.date_forms import order_in
from crfdeid.redaction.surrogates.kinds import KEPT, KINDS, Surrogates, kind_of, patient_key, text_key
from crfdeid.redaction.surrogates.locales import guess_locale

__all__ = ["KEPT", "KINDS", "Surrogates", "guess_locale", "kind_of", "order_in", "patient_key", "text_key"]
