"""Whole clinical notes from templates: text with slots, filled with invented people, places, dates and numbers.

fill.py     notes of templates, each with its own lines, words and layout
syntax.py   reads folders of templates (docs/reference/synthetic-corpus.md describes the format)
slots.py    the slots of templates
note.py     facts of one note, and the values of its slots
people.py   names and forms of people; places.py  towns, hospitals, employers; dates.py  dates, times, ages
tables.py   facts of a language, by country: languages/*.toml and *.txt

english/, spanish/, german/ and french/ hold the templates and their lists.
"""

from crfdeid.corpora.templates.fill import fill, fill_one
from crfdeid.corpora.templates.note import ORIGIN
from crfdeid.corpora.templates.syntax import Template, TemplateSet, built_in_templates, read_templates
from crfdeid.corpora.templates.tables import LANGUAGES

__all__ = [
    "LANGUAGES",
    "ORIGIN",
    "Template",
    "TemplateSet",
    "built_in_templates",
    "fill",
    "fill_one",
    "read_templates",
]
