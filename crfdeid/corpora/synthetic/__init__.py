"""The built-in synthetic corpus: invented English notes with PHI marked, exact by construction.

- `generate`, `generate_notes`, `PROFILES`: the corpus (generate.py); what is in it: docs/synthetic-corpus.md.
- layout.py: the kinds of notes and their sections; notes.py: drafts them; quotas.py: meets the counts wanted.
- case.py: the facts of one note; fields.py: what a template's fields stand for; surrogates.py: written forms.
- pools.py: people, hospitals and places, dealt to the splits; templates.py, pieces.py: text with spans; data.py: .txt.
- frames.txt, sentences.txt, scenarios_*.txt, names.txt: templates and word lists.
"""

from crfdeid.corpora.synthetic.generate import PROFILES, Profile, Splits, generate, generate_notes

__all__ = ["PROFILES", "Profile", "Splits", "generate", "generate_notes"]
