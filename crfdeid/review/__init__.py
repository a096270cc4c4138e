"""The loop with people: which notes to annotate and to read, what reviewers mark, and what may be promised afterwards.

bounds.py    the largest share of leaking notes that fits what reviewers found    tokens.py   ... of leaked tokens
strata.py    the same over kinds of notes                                          plan.py     which notes to read
"""
