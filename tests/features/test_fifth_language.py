"""A further language is one data file: an invented one works in sentences, rules, lexicon features and the tagger."""

import json
import os
import subprocess
import sys
from pathlib import Path

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
USE = """
import json, sys
from crfdeid import create
from crfdeid.bio import encode
from crfdeid.documents import Document, Span
from crfdeid.rules.matcher import find_rules, make_rules
from crfdeid.rules import RulesTagger
from features.languages import DEFAULT_LANGUAGES, LANGUAGES, language_of
from features.lexicons import Gazetteers, word_classes
from features.patterns import Patterns
from features.sentences import split_sentences

text = "Zu zel zerr Zott Zmuller, zvivit zin Zbad Zquill, 14. triel 1972 zan Zvia Quillo 12, zmed. Zen."
(sentence,) = split_sentences(text, ("zq",))
date = {row[0] for row in Patterns(0, ("zq",)).extract(sentence)} & {"pattern[0]=B-date"}
unread = Patterns(0).extract(sentence)
found = {" ".join(sentence.words[a:b]): rule.name for rule, a, b in find_rules(sentence, ("zq",))}
examples = {}
for rule in make_rules(("zq",)):
    if rule.language == "zq":
        for example in rule.positive_examples:
            plain = example.replace("[", "").replace("]", "")
            value = example.partition("[")[2].partition("]")[0] or example
            hits = [plain[s.tokens[a].start:s.tokens[b-1].end]
                    for s in split_sentences(plain) for other, a, b in find_rules(s, ("zq",)) if other is rule]
            examples[rule.name] = hits == [value]
crf = create("crf", overrides={"max_iterations": 5})
notes = encode(Document("1", text, (Span(12, 24, "PATIENT"),))).sentences
crf.fit(notes, [])
print(json.dumps({
    "default": DEFAULT_LANGUAGES, "all": list(LANGUAGES), "of": language_of(text.split()),
    "found": found, "examples": examples,
    "date": bool(date), "no date": unread[sentence.words.index("triel")] == ["pattern[0]=O"],
    "ends without it": len(split_sentences(text)), "class": word_classes("ZDOKTOR", ("zq",)),
    "class without it": word_classes("ZDOKTOR"),
    "place": [row[0] for row in Gazetteers(0, ("zq",)).extract(sentence) if not row[0].endswith("=O")],
    "language": crf.settings.language,
}))
"""


def test_an_invented_language_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "zq.toml").write_text(PACK, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", USE],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CRFDEID_LANGUAGES": str(tmp_path)},
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["default"] == ["de", "en", "es", "fr"]
    assert told["all"][-1] == "zq"
    assert told["ends without it"] == 2
    assert told["of"] == told["language"] == "zq"
    assert told["found"] == {
        "Zott Zmuller": "name after a form of address in Quillish",
        "Zbad Zquill": "town after residence in Quillish",
        "14 . triel 1972": "date",
        "Zvia Quillo 12": "street in Quillish",
    }
    assert len(told["examples"]) > 15
    assert all(told["examples"].values()), told["examples"]
    assert told["date"]
    assert told["no date"]
    assert (told["class"], told["class without it"]) == (["title"], [])
    assert told["place"] == ["gazetteer[0]=B-town", "gazetteer[0]=E-town"]
