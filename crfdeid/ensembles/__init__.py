"""Models made of models.

hybrid.py      a statistical model and the rules: what the model misses, a trusted rule finds
ensemble.py    several models: all that any finds, what most find, or the mean of their probabilities
pipeline.py    a model of PHI, and one of concepts on what it leaves      hiding.py    text in which PHI is hidden
halves.py      the training of the two, which several pipelines share     kept.py    what is done of an interrupted one
members.py     their members in one file, and their tables side by side
"""
