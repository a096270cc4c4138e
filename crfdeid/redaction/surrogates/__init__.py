"""Surrogates: invented values of the same form, the same for the same patient, value and secret.

kinds.py       `Surrogates` of one patient
names.py       people                                    name_roles.py  which words of names are first names
places.py      streets and towns                         streets.py     names of streets and saints
geography.py   provinces, their towns and postcodes      towns.py       the tables of these places
countries.py   countries by region                       hospitals.py   hospitals and other institutions
dates.py       dates, moved by some days                 date_forms.py  the forms they are written in
kept.py        sex, kin, ages, occupations, which stay   shapes.py      numbers, telephones, addresses on the net
invented.py    the names that are chosen from            given_names.py given names without pet names
locales.py     the language, guessed from the text       letters.py     letters without accents and case
keyed.py       choices by HMAC: nothing is remembered, so that runs, machines and orders agree
"""

from crfdeid.redaction.surrogates.dates import date_order_of
from crfdeid.redaction.surrogates.generator import PRESERVED_KINDS, Surrogates, consistent_labels, patient_key, text_key
from crfdeid.redaction.surrogates.locales import guess_locale
from crfdeid.redaction.surrogates.names import name_roles

__all__ = [
    "PRESERVED_KINDS",
    "Surrogates",
    "consistent_labels",
    "date_order_of",
    "guess_locale",
    "name_roles",
    "patient_key",
    "text_key",
]
