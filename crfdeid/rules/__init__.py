"""Patterns that find PHI without training: table.py lists them, tagger.py learns which of them can be trusted."""

from crfdeid.rules.tagger import RulesSettings, RulesTagger

__all__ = ["RulesSettings", "RulesTagger"]
