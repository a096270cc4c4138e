"""Rules: expressions that match PHI without training; training estimates the precision and label of each.

tagger.py        `RulesTagger`, `RulesSettings`              matcher.py       make_rules, prefilters, find_rules
rule.py          `Rule`, parts of expressions, check digits  language_rules.py  places by language pack
contact.py       e-mail, web, telephones, addresses          identifiers.py   numbers by field name or check digits
dates.py         dates                                       names.py         names, by language pack
ages.py          ages over 89
entities.py      institutions, manufacturers, places,        name_words.py    names and other words
                 relatives, ages, sexes, professions
"""

from crfdeid.rules.tagger import RulesSettings, RulesTagger

__all__ = ["RulesSettings", "RulesTagger"]
