"""A trained model and its card: what it learned from, its scores, and the thresholds chosen for it.

train.py       train, measure and save a model           card.py       the card as data, beside the model
builtin.py     the model 'synthetic'                     markdown.py   the card as a page
likeness.py    are notes like the training notes?       tables.py     the tables on that page
shared.py      train on notes that others shared        concepts.py   scores of concepts, where a model finds them
site.py        a site's lists, beside the model
"""
