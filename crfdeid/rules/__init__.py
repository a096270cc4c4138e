"""Patterns that find PHI without training: table.py lists them, tagger.py learns which of them can be trusted."""

from crfdeid.rules.tagger import RulesTagger
from crfdeid.rules.trust import RulesSettings

__all__ = ["RulesSettings", "RulesTagger"]
