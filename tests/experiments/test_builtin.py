"""The models that ship with the library: made again from a share of their notes, and used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import crfdeid
from crfdeid import Policy
from crfdeid.cli import main
from crfdeid.errors import SettingError
from crfdeid.model_card.card import model_digest, read_card
from crfdeid.model_card.pretrained import BUILT_IN_MODELS, find_model
from crfdeid.redaction.redactor import Redactor
from crfdeid.thresholds import threshold_in
from experiments import builtin
from experiments.builtin import RECIPES, train_builtin

MOST_BYTES = 8_000_000
ENGLISH = (
    "{Mr. Orla Quill|PATIENT} was seen by Dr. {Huntington|DOCTOR} on {03/14/72|DATE}. Babinski was negative, a Foley "
    "was placed, and Zofran 4 mg was given. His daughter {Zann|PATIENT} can be called at {(555) 555-0134|PHONE}."
)
SPANISH = (
    "Paciente: {Quill Marsh, Orla|PATIENT}. Ingresa el {14 de marzo de 2031|DATE} y lo ve la Dra. {Zann|DOCTOR}. Signo "
    "de Babinski negativo, Glasgow 15. Su hermana {Abe|PATIENT}, tel. {600 555 134|PHONE}."
)
GERMAN = (
    "Frau {Orla Quillmann|PATIENT} wurde am {14.03.2031|DATE} von OÄ Dr. {Zannhuber|DOCTOR} gesehen. Babinski negativ, "
    "ein Foley-Katheter liegt. Die Tochter {Sabine|PATIENT} ist unter {0171 5550134|PHONE} erreichbar."
)
FRENCH = (
    "Mme {Orla Quillard|PATIENT} a été vue le {14/03/2031|DATE} par le Dr {Zannier|DOCTOR}. Babinski négatif, sonde de "
    "Foley en place. Sa fille {Sabine|PATIENT} est joignable au {06 39 98 01 34|PHONE}."
)
NOTES = {"english": ENGLISH, "spanish": SPANISH, "german": GERMAN, "french": FRENCH}


def marked(text: str) -> tuple[str, list[str]]:
    """A text without its marks, and the values that are marked."""
    parts = [part.partition("|")[0] if "|" in part else part for part in text.replace("}", "{").split("{")]
    return "".join(parts), parts[1::2]


def test_a_share_of_the_notes_gives_the_same_model_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = RECIPES["english"]
    quick = replace(recipe, fillings=1, settings={**recipe.settings, "max_iterations": 3})
    monkeypatch.setitem(builtin.RECIPES, "english", quick)
    cards = [train_builtin("english", tmp_path / name, share=0.05) for name in "ab"]
    first, second = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in "ab")
    assert first == second
    assert cards[0]["sensitivity"] == recipe.sensitivity
    assert cards[0]["corpus"]["sha256"] == cards[1]["corpus"]["sha256"]


@pytest.mark.parametrize(("name", "note"), NOTES.items())
def test_a_shipped_model_finds_names_and_leaves_eponyms(name: str, note: str) -> None:
    text, values = marked(note)
    for sensitivity in (None, "none"):
        redacted = crfdeid.redact(crfdeid.load(name, sensitivity=sensitivity).annotate(text)).text
        assert [value for value in values if value in redacted] == []
    assert "Babinski" in redacted  # by the most probable tags; the default may hide it


@pytest.mark.parametrize("name", sorted(RECIPES.keys() & BUILT_IN_MODELS.keys()))
def test_a_shipped_model_is_small_and_whole(name: str) -> None:
    folder = find_model(name)
    assert sum(file.stat().st_size for file in folder.path.iterdir()) <= MOST_BYTES
    assert len(model_digest(folder)) == 64
    if name == "spanish":
        card = read_card(folder)
        assert card is not None and "CC BY 4.0" in " ".join(card["corpus"]["notices"])


def test_a_shipped_model_has_a_default_sensitivity() -> None:
    card = read_card(find_model("english"))
    assert card is not None
    default = threshold_in(card, card["sensitivity"])
    assert crfdeid.load("english").threshold == default > 0
    assert crfdeid.load("english", sensitivity="none").threshold is None
    assert Redactor("english").load().threshold == default
    assert Redactor("english", Policy(sensitivity="none")).load().threshold is None
    assert crfdeid.load("english", sensitivity=0.5).threshold == threshold_in(card, 0.5)
    with pytest.raises(SettingError):
        crfdeid.load("english", sensitivity="high")  # type: ignore[arg-type]
    with pytest.raises(SettingError):
        Policy(sensitivity="high")  # type: ignore[arg-type]


def test_the_summary_names_the_default_and_none_turns_it_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "1.txt").write_text(marked(ENGLISH)[0], encoding="utf-8")
    said = []
    for number, more in enumerate(([], ["--sensitivity", "none"])):
        words = ["redact", "english", str(tmp_path / "notes"), "--output", str(tmp_path / str(number)), *more]
        assert main(words) == 0
        said.append(capsys.readouterr().err)
    assert "has not been validated" in said[0]
    assert f"for a sensitivity of {RECIPES['english'].sensitivity:g}" in said[0]
    assert "the most probable tags" in said[1]
