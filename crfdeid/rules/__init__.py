"""Rules: expressions that match PHI without training; training estimates the precision and label of each.

tagger.py        `RulesTagger`, `RulesSettings`              matcher.py       make_rules, prefilters, find_rules
rule.py          `Rule`, expressions for words               tables.py        rules as data: the files below, and packs
network.toml     addresses of mail, web and machines         numbers.toml     numbers by field name or check digits
contact.toml     telephones, postal addresses                makers.toml      manufacturers
shared.toml      parts of expressions, words, types          checks.py        check digits
dates.py         dates                                       names.py         names, by language pack
ages.py          ages over 89                                name_words.py    names and other words
language_rules.py  places and institutions by language pack  readings.py      sentences without decoration
"""

from crfdeid.rules.tagger import RulesSettings, RulesTagger

__all__ = ["RulesSettings", "RulesTagger"]
