"""What a site and a record give, gone wrong: the run is refused, or the note fails."""

import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attack import NOTE, REDACT, SECRET, Attack, SetUp, carry_out, name, nothing, write

from crfdeid.cli import main

SITE = f"{REDACT} --lists site.toml"
PEOPLE = f"{REDACT} --record-file people.csv"
SURROGATE = f"{REDACT} --operator surrogate --locale en_US"


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
KNOWN = f"{REDACT} --record-columns"
NOTHING = write("notes/note.csv", f'text,name,mrn\n"{NOTE}",NULL,77\n"{NOTE}",unknown,\n')
ENCODED = write("notes/note.csv", "text,name\n%2525252525252551uill,Quill\n")
DATED = "text,seen\n" + "".join(f"Leg pain.,{day}/03/2031\n" for day in (14, 15, 16))
SEEN = write("notes/note.csv", DATED)
SEEN_IN_JSON = write("notes/note.jsonl", '{"text": "Leg pain.", "seen": {"at": ["2031-03-14T10:22:00Z"]}}\n')
DATED_KEY = '{"text": "Leg pain.", "seen": {"2031-03-14": "at home"}}\n'
DATED_FLOAT = '{"text": "Leg pain.", "seen": 20310314.0}\n'
SEEN_AND_BORN = write("notes/note.csv", "text,seen,born\nLeg pain.,14/03/2031,30/01/1961\n")
UNSURE = write("notes/note.csv", "text,seen\nLeg pain.,03/04/2031\n")
REFUSED = "(?m)^error: note.*: the column 'seen' holds dates, .* --shift-columns, --hash-columns or --allow-columns$"


def seen_in_parquet(box: Path) -> None:
    """A table whose type says that a column holds dates, without a row."""
    schema = pa.schema([("text", pa.string()), ("seen", pa.list_(pa.timestamp("us")))])
    pq.write_table(schema.empty_table(), box / "notes" / "note.parquet")


ATTACKS = [
    Attack("a CSV file's dates next to surrogates", SEEN, SURROGATE, 2, REFUSED),
    Attack("dates in JSON next to surrogates", SEEN_IN_JSON, SURROGATE, 2, REFUSED),
    Attack("dates in Parquet next to surrogates", seen_in_parquet, SURROGATE, 2, REFUSED),
    Attack("a date as a key of JSON", write("notes/note.jsonl", DATED_KEY), SURROGATE, 2, REFUSED),
    Attack("a float that is a date", write("notes/note.jsonl", DATED_FLOAT), SURROGATE, 2, REFUSED),
    Attack("dates in German", write("notes/note.csv", "text,seen\nLeg pain.,14. März 2031\n"), SURROGATE, 2, REFUSED),
    Attack("a date and a number", write("notes/note.csv", "text,seen\nPain.,2031-03-14_007\n"), SURROGATE, 2, REFUSED),
    Attack("a date as a file's name", write("notes/2031-03-14.txt", NOTE), SURROGATE, 2, "--rename-files"),
    Attack("a file that is renamed", write("notes/2031-03-14.txt", NOTE), f"{SURROGATE} --rename-files", 0),
    Attack("two columns of dates", SEEN_AND_BORN, SURROGATE, 2, "the columns 'seen', 'born' hold .*: name them in"),
    Attack("dates that are hashed", SEEN, f"{SURROGATE} --hash-columns seen", 0),
    Attack("dates that are shifted", SEEN, f"{SURROGATE} --shift-columns seen", 0),
    Attack("dates of no order to shift", UNSURE, f"{SURROGATE} --shift-columns seen", 2, "tell day from month"),
    Attack("a column to shift that is not there", ROWS, f"{SURROGATE} --shift-columns shoe", 1, "shoe"),
    Attack("a column in two lists", SEEN, f"{SURROGATE} --shift-columns seen --hash-columns seen", 2, "named twice"),
    Attack("no site file", nothing, SITE, 1, "site.toml"),
    Attack("a site file that is no TOML", site("deny = ["), SITE, 1, "site.toml, line 1"),
    Attack("a site file in another encoding", site(b"\xff\xfe"), SITE, 1, "site.toml"),
    Attack("an empty site file", site(""), SITE, 1, "site.toml: "),
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
        f"{PEOPLE} --record-columns name",
        1,
        "line 1: columns",
    ),
    Attack("a known column that is not there", ROWS, f"{KNOWN} birth_date", 1, "birth_date"),
    Attack("a known column of no kind", ROWS, f"{KNOWN} shoe", 2, "shoe"),
    Attack("known columns for plain text", nothing, f"{KNOWN} mrn", 2, "--record-columns is for tables"),
    Attack("columns to drop that are not there", ROWS, f"{REDACT} --drop-columns shoe", 1, "shoe"),
    Attack("the text to drop", ROWS, f"{REDACT} --drop-columns text", 2, "text"),
    Attack(
        "an audit that would overwrite", write("audit.json", "kept"), f"{REDACT} --report audit.json", 2, "audit.json"
    ),
    Attack("an audit among the notes", nothing, f"{REDACT} --report notes/audit.json", 2, "audit"),
    Attack("a secret for everybody's eyes", open_secret, f"{SURROGATE} --secret-file secret", 0, "warning: .*secret"),
    Attack("a note in mojibake", write("notes/bad.txt", "Paciente JosÃ© MÃ¡rquez"), REDACT, 1, "bad.txt.*damaged"),
    Attack("a note with lost bytes", write("notes/bad.txt", "Dr. Jos\ufffd Quill"), REDACT, 1, r"bad.txt.*U\+FFFD"),
    *(
        Attack(f"raw lines in {name}", write(f"notes/{name}", content), REDACT, 1, f"{name}.*whole lines")
        for name, content in (
            ("raw.csv", "text,_corrupt_record\nx,Dr. Quill\n"),
            ("space.csv", "text, _Corrupt_Record \nx,Dr. Quill\n"),
            ("nested.jsonl", '{"text": "x", "row": [{"_rescued_data": "Dr. Quill"}]}\n'),
        )
    ),
    Attack(
        "placeholders in the record",
        NOTHING,
        f"{KNOWN} name,mrn".replace("notes", "notes/note.csv"),
        0,
        "warning: placeholders(?s:.*)'name'.*2 notes",
    ),
    Attack("a note encoded over and over", ENCODED, f"{KNOWN} name", 1, "row 1, offset 0: "),
    Attack("one patient in two spellings", WHO, f"{REDACT} --patient-column who", 0, "warning: "),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_what_is_given_is_checked(attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    carry_out(attack, box, capsys)


# What the record says, and how a note hides it from who looks for the letters alone.
SPELLINGS = [
    ("De La Sorrel", "Delasorrel|DELASORREL|delasorrel"),
    ("Delasorrel", "De La Sorrel|de la sorrel|DE-LA-SORREL"),
    ("Mac Sorrel", "Macsorrel|macsorrel"),
    ("Macsorrel", "Mac Sorrel|mac sorrel|Mac-Sorrel"),
    ("Anne-Marie", "annemarie|Annemarie|ANNEMARIE"),
    ("Annemarie", "Anne-Marie|anne marie|ANNE MARIE"),
    ("Sorrel", "S&#111;rrel %53orrel|S&#x6F;rrel|%2553orrel|So&shy;rrel"),
    ("14/03/1972", "14\u204403\u20441972|14\u221503\u22151972|14\u221203\u22121972|14\u201103\u20111972"),
    ("14/03/1972", "١٤/٠٣/١٩٧٢|१४/०३/१९७२|１４／０３／１９７２|14&#x2F;03&frasl;1972"),
]
LEFT = re.compile(r"[\w/\u2044\u2212\u2215]")


def test_the_record_is_found_in_every_spelling(box: Path) -> None:
    for number, (value, text) in enumerate(SPELLINGS):
        kind = "birth_date" if "/" in value else "name"
        words = text.split("|")
        rows = [f"to {word},{value}\n" for word in [*words, "; ".join(words)]]
        write(f"notes/{number}.csv", "".join([f"text,{kind}\n", *rows]))(box)
        assert main(shlex.split(f"redact model notes/{number}.csv --output out{number} --record-columns {kind}")) == 0
        lines = (box / f"out{number}" / f"{number}.csv").read_text().splitlines()[1:]
        left = [re.sub(r"\[[A-Z]+\]", "", line.removesuffix(f",{value}").removeprefix("to")) for line in lines]
        assert not LEFT.search("".join(left)), (value, left)
