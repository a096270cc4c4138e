"""What a site and a record give, gone wrong: the run is refused, or the note fails."""

from pathlib import Path

import pytest
from attack import NOTE, REDACT, SECRET, Attack, SetUp, carry_out, name, nothing, write

SITE = f"{REDACT} --site site.toml"
PEOPLE = f"{REDACT} --known-file people.csv"
SURROGATE = f"{REDACT} --how surrogate --locale en_US"


def site(content: str | bytes) -> SetUp:
    """Write a site's file."""
    return write("site.toml", content)


def people(content: str) -> SetUp:
    """Write what is known of patients."""
    return write("people.csv", content)


def pattern(regex: str) -> SetUp:
    """Write a site's file with one pattern."""
    return site(f"[[pattern]]\ntype = 'ID'\nregex = '{regex}'\n")


def open_secret(box: Path) -> None:
    """Write a secret that everybody can read."""
    (box / "secret").write_text(SECRET)
    (box / "secret").chmod(0o644)


ROWS = write("notes/note.csv", f'text,mrn\n"{NOTE}",5551037\n')
WHO = write("notes/note.csv", "text,who\na,1\nb,01\n")
KNOWN = f"{REDACT} --known"
ATTACKS = [
    Attack("no site file", nothing, SITE, 1, "site.toml"),
    Attack("a site file that is no TOML", site("deny = ["), SITE, 1, "site.toml, line 1"),
    Attack("a site file in another encoding", site(b"\xff\xfe"), SITE, 1, "site.toml"),
    Attack("an empty site file", site(""), SITE, 1, "site.toml: says nothing"),
    Attack("a key that no site file has", site('\n[[denied]]\nterms = ["Quill"]\n'), SITE, 1, "site.toml, line 2"),
    Attack("a pattern that is no expression", pattern("(Quill"), SITE, 1, "site.toml, line 3"),
    Attack("a pattern that finds nothing everywhere", pattern("x*"), SITE, 1, "site.toml, line 3"),
    Attack("a pattern without a type", site('[[pattern]]\nregex = "Quill"\n'), SITE, 1, "site.toml, line 1"),
    Attack("a list that is not there", site('[[deny]]\ntype = "ID"\nfile = "no.txt"\n'), SITE, 1, "no.txt"),
    Attack("terms that are no texts", site('[[deny]]\ntype = "ID"\nterms = [5551037]\n'), SITE, 1, "site.toml, line 3"),
    Attack("no file of people", nothing, PEOPLE, 1, "people.csv"),
    Attack("people without a header", people(""), PEOPLE, 1, "people.csv"),
    Attack("people of other columns", people("a,b\n1,Quill\n"), PEOPLE, 1, "people.csv, line 1"),
    Attack(
        "people of a column twice",
        people("file,name,x,x\na,Quill,1,2\n"),
        f"{PEOPLE} --known name",
        1,
        "line 1: columns",
    ),
    Attack("a known column that is not there", ROWS, f"{KNOWN} birth_date", 1, "birth_date"),
    Attack("a known column of no kind", ROWS, f"{KNOWN} shoe", 2, "shoe"),
    Attack("known columns for plain text", nothing, f"{KNOWN} mrn", 1, "note.txt: .*--known-file"),
    Attack("columns to drop that are not there", ROWS, f"{REDACT} --drop-columns shoe", 1, "shoe"),
    Attack("the text to drop", ROWS, f"{REDACT} --drop-columns text", 2, "text"),
    Attack(
        "an audit that would overwrite", write("audit.json", "kept"), f"{REDACT} --audit audit.json", 2, "audit.json"
    ),
    Attack("an audit among the notes", nothing, f"{REDACT} --audit notes/audit.json", 2, "audit"),
    Attack("a secret for everybody's eyes", open_secret, f"{SURROGATE} --secret-file secret", 0, "warning: .*secret"),
    Attack("a note in mojibake", write("notes/bad.txt", "Paciente JosÃ© MÃ¡rquez"), REDACT, 1, "bad.txt.*damaged"),
    Attack("one patient in two spellings", WHO, f"{REDACT} --patient-column who", 0, "warning: "),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_what_is_given_is_checked(attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    carry_out(attack, box, capsys)
