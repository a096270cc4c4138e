"""The built-in synthetic corpus: invented English notes and texts with PHI marked, exact by construction.

generate.py     the corpus and its profiles            docs/synthetic-corpus.md says what is in it
layout.py       kinds of notes and their sections      notes.py        drafts a note
quotas.py       meets the counts that are wanted       case.py         the facts of one note
people.py       people, hospitals and places, dealt to the splits
fields.py       what a template's fields stand for     surrogates.py   how names, dates and numbers are written
templates.py    the template language                  pieces.py       text with its spans
data.py         reads frames.txt, sentences.txt, scenarios_*.txt and names.txt: templates and word lists

Notes with concepts marked too are made from sentences of their own:

concepts.py     the terms of a split and of a note      concept_layout.py  kinds of such notes
concepts.txt    the terms and the sentences

With all types, short texts stand beside the notes:

texts.py        kinds of short texts                   text_fields.py  what their fields stand for
text_forms.py   names and dates as they are written    text_places.py  streets, towns, addresses, hospitals
world.py        names from all over the world          queries.txt, messages.txt, general.txt, words.txt: the data
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
