"""Surrogates: invented values of the same form, the same for the same patient, value and secret.

generator.py      `Surrogates` of one patient: the table of kinds, keys, consistent types; choices are by HMAC, which
                  needs no memory and agrees between runs and machines (`crfdeid.secrets.HmacChooser`)
choices.py        keyed choices in which originals of a list stay distinct
invention.py      invented family names and towns, which fill short lists
names.py          names of persons                        name_words.py, name_roles.py  their words, and roles of these
dates.py          dates shifted by days, in the form of the original, and what incomplete dates take from their note
calendars.py      forms of dates, by language             written_dates.py  dates as a text has them
places.py         streets and towns                       geography.py     known places, postcodes, area codes
place_tables.py   provinces, countries, states
hospitals.py      hospitals and other institutions        identifiers.py   numbers, telephones, network addresses
demographics.py   sex, kinship, ages and occupations      locales.py       language guess; names of a locale
words.py          case and accents of words; the language packs of a locale
"""

from crfdeid.redaction.surrogates.generator import PRESERVED_KINDS, Surrogates, consistent_labels, note_key
from crfdeid.redaction.surrogates.locales import guess_locale
from crfdeid.redaction.surrogates.name_roles import name_roles
from crfdeid.redaction.surrogates.places import town_postcodes
from crfdeid.redaction.surrogates.written_dates import date_order_of, with_weekdays

__all__ = [
    "PRESERVED_KINDS",
    "Surrogates",
    "consistent_labels",
    "date_order_of",
    "guess_locale",
    "name_roles",
    "note_key",
    "town_postcodes",
    "with_weekdays",
]
