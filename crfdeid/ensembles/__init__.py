"""Models composed of other models.

base.py        `CombinedTagger`: members in one file, marginals over the joint tags
hybrid.py      `HybridTagger`: a statistical model, with the rules' matches added
ensemble.py    `EnsembleTagger`: union, majority vote, or mean probability of several models
cascade.py     `CascadeTagger`: a model of PHI, and a model of concepts on the masked text

Import a class from its module: loading one model then executes no other.
"""
