"""Quillish, an invented language: the text of its pack, and a note."""

import json

MONTHS = ["unel", "duel", "triel", "kvarel", "kvinel", "sesel", "sepel", "okel", "nauel", "dekel", "deunel", "dedel"]
DAYS = ["lunzo", "marzo", "merzo", "jovzo", "venzo", "sabzo", "domzo"]
PACK = f"""
name = "Quillish"
locale = "de_DE"
capital_nouns = false
function_words = "zu, zel, zan, zir, zor, zim, zax, zep, zoq"
abbreviations = "zmed"
common = "zabdom, zbrief"
endings = "zung"
particles = "zva"
postcode = '\\d{{4}}'
postcode_example = "1234"
months = {json.dumps(MONTHS)}
weekdays = {json.dumps(DAYS)}
[words]
title = "zdoktor"
honorific = "zerr"
kin = "zmama, zpapa"
hospital = "zspital"
street = "zvia"
place = "zort"
contact = "ztel"
identifier = "znum"
[street]
number = "after"
first = "zvia"
suffixes = "zgas"
[cues]
patient = "zpat"
field = "znom"
maiden = "znee"
called = "znamt"
companion = "zfrend"
birth = "znatal"
birthplace = "znat zin"
residence = "zvivit zin"
signature = "zsign"
seen_by = "zvid zvon"
role = "zmedik"
of = "zder"
institution = "zskol"
and = "zund"
[names]
short = "Zq"
female = "Zquilla, Zanna"
male = "Zquillo, Zott"
family = "Zquillson, Zmuller"
ambiguous = "zwort"
[places]
regions = "Zland, Zober Zland"
codes = "zl"
countries = "Zquillia, Zreich"
towns = "Zquillburg, Zbad Zquill"
"""
NOTE = "Zu zel zerr Zott Zmuller, zvivit zin Zbad Zquill, 14. triel 1972 zan Zvia Quillo 12, zmed. Zen."
