"""Random documents of every Unicode plane through tagging and redaction: nothing crashes, nothing else changes.

A few hundred in a normal run; ``CRFDEID_FUZZ=10000 python -m pytest tests/crfdeid/redaction/test_fuzz.py`` for more.
Document number n is always the same one: ``document(n)``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from notes_samples import tiny_model, written

from crfdeid.cli import main
from crfdeid.documents import Document, Span
from crfdeid.io import jsonl
from crfdeid.io.records import Columns, Failure, NoteFile
from crfdeid.pipeline import Deidentifier, load
from crfdeid.redaction.redact import redact
from crfdeid.redaction.surrogates.demographics import generalise_age

NUMBERS = range(int(os.environ.get("CRFDEID_FUZZ", "300")))
LABELS = ("PATIENT", "DOCTOR", "HOSPITAL", "LOCATION", "PHONE", "ID", "DATE", "AGE", "OTRO_NUMERO_IDENTIF")
SECRET = b"sixteen bytes or more"

# What text breaks on: line ends, NUL and other controls, what has no width, what joins to the character before, what
# turns the direction; and what PHI looks like, so that the model and the surrogates have something to do.
PIECES = (
    *("\r\n", "\n", "\r", "\t", "\0", "\x1c", "\x1f", "\x7f", "\x85", "\u2028", "\u2029", "\xa0", "\u3000"),
    *("\u200b", "\u200c", "\u200d", "\ufeff", "\u2060", "\xad", "\u0301", "\u0327", "\u20dd", "\ufe0f", "\u1ab0"),
    *("\u202e", "\u200f", "\u2066", "\u0660", "\u00b2", "\u0130", "\u00df", "\u1e9e", "\ufdfd", "\uffff", "\U0010ffff"),
    *("\U0001f469\u200d\u2695\ufe0f", "\U0001f1eb\U0001f1f7"),
    *("[PATIENT]", "[", "]", "{", "\\", '"', "<b>", "&#13;", "]]>", " ", " ", " ", ". ", ": "),
    *("Patient Quill", "Dr. Orla Marsh", "Abe Vole's", "Q.", "Mr", "12 Elm Street", "a@b.example", "aged 91"),
    *("3/14/2031", "March of last year", "03-14-31", "31 feb", "555-1037", "(555) 555-1037 x12", "000-00-0000", "0"),
)


def character(random: Random) -> str:
    """Any character of any plane, with those that are not assigned."""
    while True:
        code = random.randrange(17) << 16 | random.randrange(1 << 16)
        if not 0xD800 <= code <= 0xDFFF:
            return chr(code)


def random_text(random: Random) -> str:
    length = random.choice((1, 2, 3, 8, 40, 200))
    parts = [character(random) if random.random() < 0.3 else random.choice(PIECES) for _ in range(length)]
    return character(random) if length == 1 else "".join(parts)


def random_spans(random: Random, text: str) -> Iterable[Span]:
    """Spans of any length, many of them side by side, nested, overlapping or the same."""
    places = [random.randrange(len(text)) for _ in range(random.choice((0, 1, 2, 6)))]
    for place in places:
        end = min(len(text), place + random.choice((1, 2, 5, 30)))
        yield Span(place, end, random.choice(LABELS))
        if random.random() < 0.4 and end < len(text):
            yield Span(end, min(len(text), end + 3), random.choice(LABELS))
        if random.random() < 0.4:
            yield Span(random.randint(max(0, place - 4), place), end, random.choice(LABELS))
    if random.random() < 0.05:
        yield Span(0, len(text), random.choice(LABELS))


def document(number: int) -> Document:
    """Document number n."""
    random = Random(f"document {number}")
    text = random_text(random)
    return Document(f"d{number}", text, tuple(random_spans(random, text)))


def gaps(text: str, spans: Iterable[Span]) -> list[str]:
    """The stretches of text between the spans, the first and the last included; spans that touch are one."""
    found, start = [], 0
    for begin, end, _ in sorted(spans):
        if begin > start or not found:
            found.append(text[start:begin])
        start = max(start, end)
    return [*found, text[start:]]


def covered(text: str, spans: Iterable[Span]) -> list[str]:
    """The stretches of text that spans cover; spans that touch are one."""
    found: list[str] = []
    last = -1
    for begin, end, _ in sorted(spans):
        if begin > last:
            found.append(text[begin:end])
        else:
            found[-1] += text[last:end]
        last = max(last, end)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def model(folder: Path) -> Deidentifier:
    return load(folder)


def test_the_documents_are_as_wild_as_they_should_be() -> None:
    documents = [document(number) for number in range(300)]
    planes = {ord(character) >> 16 for one in documents for character in one.text}
    assert planes == set(range(17))
    assert {1} < {len(one.text) for one in documents}
    pairs = [(a, b) for one in documents for a, b in zip(one.spans, one.spans[1:], strict=False)]
    assert any(a.end == b.start for a, b in pairs)
    assert any(a.start < b.start < a.end < b.end for a, b in pairs)
    assert any(a == b or a[:2] == b[:2] for a, b in pairs)


def test_gaps_are_what_spans_leave() -> None:
    spans = [Span(1, 3, "A"), Span(2, 4, "B"), Span(4, 5, "C"), Span(7, 8, "D")]
    assert (gaps("abcdefgh", spans), covered("abcdefgh", spans)) == (["a", "fg", ""], ["bcde", "h"])
    assert (gaps("ab", [Span(0, 2, "A")]), gaps("ab", [])) == (["", ""], ["ab"])


@pytest.mark.parametrize("how", ["label", "numbered", "mask", "remove", "surrogate"])
def test_nothing_is_changed_outside_the_spans(how: str) -> None:
    for number in NUMBERS:
        given = document(number)
        options = {"secret": SECRET, "patient": f"p{number % 7}", "locale": "en_US"} if how == "surrogate" else {}
        result = redact(given, how, markup="plain", **options)
        assert redact(given, how, markup="plain", **options) == result, number
        result.text.encode("utf-8")
        left = gaps(given.text, given.spans)
        if how == "remove":
            assert (result.text, result.spans) == ("".join(left), ()), number
            continue
        assert gaps(result.text, result.spans) == left, number
        for before, after in zip(covered(given.text, given.spans), covered(result.text, result.spans), strict=True):
            if how == "mask":
                assert after == "".join(c if c.isspace() else "*" for c in before), number
            else:
                by_rule = how == "surrogate" and generalise_age(before) == before
                assert after != before or by_rule, number


def test_labels_hide_every_span() -> None:
    pattern = re.compile(r"(?:\[(?:" + "|".join(LABELS) + r")\])+")
    for number in NUMBERS:
        given = document(number)
        result = redact(given, "label", markup="plain")
        for span in result.spans:
            assert pattern.fullmatch(result.text[span.start : span.end]), number


def test_tagging_is_the_same_each_time_and_leaves_the_text_alone(model: Deidentifier) -> None:
    given = [Document(one.id, one.text) for one in map(document, NUMBERS)]
    together = list(model.annotate_documents(given))
    assert together == list(model.annotate_documents(given))
    for before, after in zip(given, together, strict=True):
        assert (before.id, before.text) == (after.id, after.text)
        assert model.annotate(before.text, id=before.id) == after, before.id


def test_the_command_gives_what_the_library_gives(folder: Path, model: Deidentifier, tmp_path: Path) -> None:
    given = [document(number) for number in NUMBERS]
    lines = [json.dumps({"id": one.id, "text": one.text}, ensure_ascii=n % 2 == 0) for n, one in enumerate(given)]
    (tmp_path / "in.jsonl").write_text("".join(line + "\n" for line in lines), "utf-8", newline="")
    options = [folder, tmp_path / "in.jsonl", "--output", tmp_path / "out", "--markup", "plain"]
    assert main(["redact", *map(str, options)]) == 0
    found = [json.loads(line) for line in written(tmp_path / "out")["in.jsonl"].decode().split("\n") if line]
    expected = [redact(model.annotate(one.text), markup="plain").text for one in given]
    assert found == [{"id": one.id, "text": text} for one, text in zip(given, expected, strict=True)]


def test_lone_surrogates_are_refused_where_they_are(tmp_path: Path) -> None:
    places = []
    with (tmp_path / "in.jsonl").open("w", encoding="utf-8") as stream:
        for number in NUMBERS:
            random = Random(f"surrogate {number}")
            text = random_text(random)
            places.append(random.randint(0, len(text)))
            half = chr(random.randrange(0xDC00, 0xE000))  # The second half: the first could make a pair with it.
            spelled = [json.dumps(part)[1:-1] for part in (text[: places[-1]], half, text[places[-1] :])]
            stream.write('{"text": "' + "".join(spelled) + '"}\n')
    rows = jsonl.read(NoteFile(tmp_path / "in.jsonl", "in.jsonl", 1, 0), Columns())
    found = [row.content for row in rows]
    assert [failure.offset for failure in found if isinstance(failure, Failure)] == places


def test_a_very_long_text_is_redacted_whole() -> None:
    random = Random("long")
    piece = "".join(random_text(random) for _ in range(1000))
    text = (piece * (5_000_000 // len(piece) + 1))[:5_000_000]
    starts = sorted(random.sample(range(len(text) - 40), 50_000))
    given = Document("long", text, tuple(Span(start, start + random.randint(1, 40), "ID") for start in starts))
    result = redact(given, "label", markup="plain")
    assert gaps(result.text, result.spans) == gaps(text, given.spans)


@pytest.mark.slow
def test_a_very_long_text_is_tagged_whole(model: Deidentifier) -> None:
    note = "Patient Quill was seen on 3/14/2031.\r\nAttending: Dr. Orla Marsh, call 555-1037.\n"
    times = 500_000 // len(note)
    spans = model.annotate(note).spans
    assert spans
    found = model.annotate(note * times).spans
    assert len(found) >= len(spans) * times * 0.99
    assert found[-1].start >= len(note) * (times - 1)
    assert redact(Document("long", note * times, found)).text.endswith(redact(model.annotate(note)).text)
