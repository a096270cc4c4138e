"""Rules of a language are those of its pack: another pack changes none of them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from invented_language import PACK

from crfdeid.rules.matcher import find_rules, rules_for
from features.languages import LANGUAGES, LanguagePackError
from features.sentences import split_sentences

USE = """
import json
from crfdeid.rules.matcher import find_rules, make_rules, rules_for
from crfdeid.rules.name_words import NameWords
from features.languages import LANGUAGES
from features.sentences import split_sentences

kind = NameWords(("en",)).kind
text = "Zu zel zerr Zott Zmuller, zvivit zin Zbad Zquill, 14. triel 1972, zmed. seen by Dr. Zva Zung on 3/14."
print(json.dumps({
    "rules": [[r.name, r.form, sorted(r.words), sorted(r.left_context)] for r in make_rules(("en",))],
    "matches": [[rule.name, a, b] for s in split_sentences(text, ("en",)) for rule, a, b in find_rules(s, ("en",))],
    "kinds": [kind(word) for word in ("Zabdom", "Znom", "Zva", "Zerzung", "Zwort", "Zquilla", "Zmuller", "Zerr")],
    "packs": list(LANGUAGES),
}))
"""


def told(folder: Path, *codes: str) -> dict[str, Any]:
    """What the program tells with packs of invented languages, of which one has words of English."""
    folder.mkdir()
    for code in codes:
        pack = PACK.replace('"z', '"dr, denies, pain, z') if code == "zz" else PACK
        (folder / f"{code}.toml").write_text(pack, encoding="utf-8")
    environment = {**os.environ, "CRFDEID_LANGUAGES": str(folder)}
    ran = subprocess.run([sys.executable, "-c", USE], capture_output=True, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_another_pack_changes_no_rule_and_no_match_of_rules_for_english(tmp_path: Path) -> None:
    without, with_packs = told(tmp_path / "without"), told(tmp_path / "with", "zq", "zz")
    assert {*with_packs.pop("packs")} - {*without.pop("packs")} == {"zq", "zz"}
    assert with_packs == without
    assert "triel" not in str(without["rules"])
    assert [name for name, *_ in without["matches"]] == [
        "day and month after a word for it",
        "name after a title in English",
    ]
    assert without["kinds"] == ["unknown"] * 8


RULES = """
[rules.lists]
WARD = "zward, zsaal"

[rules.parts]
NUMBER = '\\d{2}[a-d]?'

[[rules.rule]]
name = "ward in Quillish"
form = '{WARD} (?P<value>{NUMBER})'
types = "ROOM, {PATIENT_TYPES}"
words = "{WARD}"
positive_examples = ["zward [48b]"]
negative_examples = ["zward 4"]
"""


def test_a_pack_may_have_rules_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "zr.toml").write_text(PACK + RULES, encoding="utf-8")
    LANGUAGES.add(tmp_path / "zr.toml")
    try:
        (sentence,) = split_sentences("Zott in zsaal 48b", ["zr"])
        ((rule, first, stop),) = find_rules(sentence, ("zr",))
        assert (rule.name, sentence.words[first:stop]) == ("ward in Quillish", ("48", "b"))
        assert rule.types == ("ROOM", "ID_SUJETO_ASISTENCIA", "IDNUM", "ID")
    finally:
        LANGUAGES.remove("zr")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("{NUMBER}", "{NONE}"),
        ("types", "kinds"),
        ("words", "check"),
        ("(?P<value>", "(?P<value>("),
        ('words = "{WARD}"', 'check = "re"'),
    ],
)
def test_a_wrong_rule_of_a_pack_is_an_error_of_the_pack(tmp_path: Path, right: str, wrong: str) -> None:
    code = f"z{right[0]}".translate(str.maketrans("{(", "nm"))
    (tmp_path / f"{code}.toml").write_text(PACK + RULES.replace(right, wrong), encoding="utf-8")
    LANGUAGES.add(tmp_path / f"{code}.toml")
    try:
        with pytest.raises(LanguagePackError, match=f"{code}.toml"):
            rules_for((code,))
    finally:
        LANGUAGES.remove(code)


def test_the_rules_of_all_languages_work_together() -> None:
    (sentence,) = split_sentences("Gezien door Dr. Quill: codice fiscale QLLTWN72C14H501Z")
    found = {" ".join(sentence.words[a:b]) for _, a, b in find_rules(sentence, tuple(LANGUAGES))}
    assert found == {"Quill", "QLLTWN 72 C 14 H 501 Z"}
