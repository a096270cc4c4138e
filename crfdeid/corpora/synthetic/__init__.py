"""The built-in synthetic corpus: invented English notes and texts with PHI marked, exact by construction.

generate.py    the corpus and its profiles (docs/reference/synthetic-corpus.md describes it)
notes.py       drafts of notes that meet the wanted counts
case.py        facts of one note, its concepts and its fields
people.py      people, hospitals, places and their written forms
texts.py       short texts with all types
data.py        reads templates and word lists: frames.txt, sentences.txt, scenarios_*.txt, names.txt, concepts.txt,
               queries.txt, messages.txt, general.txt, words.txt; and tables: forms.toml, kinds.toml, profiles.toml
"""

from crfdeid.corpora.synthetic.generate import (
    PROFILES,
    Profile,
    Splits,
    generate,
    generate_all_types,
    generate_concepts,
    generate_notes,
)

__all__ = ["PROFILES", "Profile", "Splits", "generate", "generate_all_types", "generate_concepts", "generate_notes"]
