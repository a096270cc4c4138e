"""The loop with people: which notes to annotate and to read, what reviewers mark, and what may be promised afterwards.

sampling.py  which notes to annotate next          to_annotate.py  a sample as a folder for annotators
notes.py     what a review page shows              page.py       the page: review.html, .css and .js in templates/
replaced.py  what was replaced in a redacted note  kept.py       values that surrogates keep
marks.py     what reviewers marked, as they download it
plan.py      which notes to read, drawn by a seed  certificate.py  bounds and what they rest on, to sign
bounds.py    how many notes can leak at most       strata.py     ... over kinds of notes      tokens.py  ... tokens
table.py     small tables that people write
"""
