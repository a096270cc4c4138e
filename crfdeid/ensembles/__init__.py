"""Models composed of other models.

base.py        `CombinedTagger`: members in one file, marginals over the joint tags
hybrid.py      `HybridTagger`: a statistical model, with the rules' matches added
ensemble.py    `EnsembleTagger`: union, majority vote, or mean probability of several models
cascade.py     `CascadeTagger`: a model of PHI, and a model of concepts on the masked text
"""

from crfdeid.ensembles.base import CombinedTagger
from crfdeid.ensembles.cascade import CascadeSettings, CascadeTagger
from crfdeid.ensembles.ensemble import EnsembleSettings, EnsembleTagger
from crfdeid.ensembles.hybrid import HybridSettings, HybridTagger

__all__ = [
    "CascadeSettings",
    "CascadeTagger",
    "CombinedTagger",
    "EnsembleSettings",
    "EnsembleTagger",
    "HybridSettings",
    "HybridTagger",
]
