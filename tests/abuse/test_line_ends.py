"""A line ends inside what the record and the site name: a command redacts it at each place."""

import csv
import re
import shlex
from itertools import cycle, product
from pathlib import Path

from attack import write

from crfdeid.cli import main

GAPS = ["".join(parts) for parts in product(("-", "\u00ad", ""), ("\n", "\r\n"), ("", "   ", "\t", " " * 40, "> "))]
VALUES = {
    "name": ("Zarandona", "Orla Marsh", "O'Neill"),
    "birth_date": ("14/03/1972", "14 de marzo de 1972"),
    "mrn": ("48221377", "48-2213-7"),
    "address": ("48 Tawn Street",),
}
TERM = "Tawnlist"


def test_no_line_end_hides_a_known_value(box: Path) -> None:
    write("site.toml", f'[[deny]]\ntype = "ID"\nterms = ["{TERM}"]\n')(box)
    gaps = cycle(GAPS)
    for kind, values in [*VALUES.items(), ("name", (TERM,))]:
        with (box / "notes" / "note.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["text", kind])
            for value in values:
                for i, _ in product(range(1, len(value)), range(6)):
                    rows.writerow([f"{value[:i]}{next(gaps)}{value[i:]}", "Quill" if value == TERM else value])
        output = f"out-{kind}-{len(values)}"
        command = f"redact model notes/note.csv --output {output} --lists site.toml --record-columns {kind}"
        assert main(shlex.split(command)) == 0
    texts = [row["text"] for path in box.glob("out-*/note.csv") for row in _rows(path)]
    assert len(texts) > 300
    assert [text for text in texts if re.search(r"\w", re.sub(r"\[[A-Z]+\]", "", text))] == []


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]
