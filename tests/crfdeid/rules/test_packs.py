"""Rules of a language are those of its pack: another pack changes none of them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.features.test_fifth_language import PACK

USE = """
import json
from crfdeid.rules.matcher import find_rules, make_rules
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
