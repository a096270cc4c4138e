"""Texts that no clinician types: what is PHI is hidden all the same, and nothing else is lost."""

import json
from pathlib import Path

import pytest
from attack import PHI, REDACT, Attack, carry_out, write

HIDDEN = "Patient [PATIENT] was seen on [DATE]."
PLAIN = "Patient Quill was seen on 3/14/2031."

# Texts around the sentence, which stands at each @: all of them stays as it is.
AROUND = {
    "Windows line ends": "@\r\n@\r\n",
    "old Macintosh line ends": "@\r@\r",
    "form feeds": "@\f@",
    "line and paragraph separators": "@\u2028@\u2029",
    "no line end": "@",
    "nothing": "",
    "white space alone": " \n\t\n",
    "NUL": "\0@\0",
    "a mark of byte order": "\ufeff@",
    "emoji": "😀👩‍⚕️ @ 🏥",
    "a family of emoji": "👨‍👩‍👧‍👦 @",
    "Arabic before it": "مرحبا @",
    "a hundred combining marks": "e" + "\u0301" * 100 + " @",
    "characters outside the basic plane": "𝒳𝒴 @",
    "private characters": "\ue000\U0010ffff @",
    "a word of 50,000 letters": "@ " + "x" * 50_000,
    "50,000 brackets": "[" * 50_000 + " @",
    "50,000 spaces": " " * 50_000 + "@",
    "labels that were there before": "[PATIENT] [DATE] @",
}
# Changes of the sentence itself, and what must come out; None where any label will do.
WITHIN = {
    "non-breaking spaces": (PLAIN.replace(" ", "\u00a0"), HIDDEN.replace(" ", "\u00a0")),
    "thin spaces": (PLAIN.replace(" ", "\u2009"), HIDDEN.replace(" ", "\u2009")),
    "zero-width spaces in words": (PLAIN.replace("ui", "u\u200bi"), HIDDEN),
    "control characters in words": (PLAIN.replace("ui", "u\0i"), HIDDEN),
    "zero-width joiners in words": (PLAIN.replace("ui", "u\u200di"), HIDDEN),
    "a soft hyphen in a name": (PLAIN.replace("Quill", "Quil\u00adl"), HIDDEN),
    "a mark of byte order in a name": (PLAIN.replace("Quill", "Qu\ufeffill"), HIDDEN),
    "marks of direction around a name": (PLAIN.replace("Quill", "\u202aQuill\u202c"), None),
    "a word joiner in a date": (PLAIN.replace("3/14", "3/\u206014"), HIDDEN),
    "full-width digits": (PLAIN.replace("3/14/2031", "３/１４/２０３１"), HIDDEN),
    "full-width letters": (PLAIN.replace("Quill", "Ｑｕｉｌｌ"), HIDDEN),
    "a Cyrillic letter in a name": (PLAIN.replace("Quill", "Qu\u0456ll"), HIDDEN),
    "a Greek letter in a word": (PLAIN.replace("Patient", "Pati\u03b5nt"), None),
}
TEXTS = {what: (text.replace("@", PLAIN), text.replace("@", HIDDEN)) for what, text in AROUND.items()} | WITHIN


def spelled(kind: str, text: str) -> str:
    """A note as a file of a kind."""
    if kind == "csv":
        return 'text\n"' + text.replace('"', '""') + '"\n'
    return text if kind == "txt" else json.dumps({"text": text})


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", ["txt", "jsonl", "csv"])
def test_odd_text_hides_nothing_and_loses_nothing(
    kind: str, text: str, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd, expected = TEXTS[text]
    if kind == "csv" and text in ("NUL", "old Macintosh line ends", "a mark of byte order"):
        pytest.skip("CSV knows no such text")
    (box / "notes" / "note.txt").unlink()
    attack = Attack(text, write(f"notes/note.{kind}", spelled(kind, odd)), REDACT, 0)
    carry_out(attack, box, capsys)
    found = (box / "out" / f"note.{kind}").read_bytes().decode()
    assert not [value for value in PHI if value in found]
    assert expected is None or found == spelled(kind, expected)
