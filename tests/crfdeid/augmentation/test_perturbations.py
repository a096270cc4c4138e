"""Perturbations of annotated notes: what they change, and that annotations stay with their text."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.augmentation import with_edits
from crfdeid.augmentation.perturbations import PERTURBATIONS, parse_perturbations, perturb
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document, Span
from crfdeid.errors import UnknownNameError
from crfdeid.label_schemes import surrogate_kind

NOTES = list(generate_notes(12, seed=4))
EVERY = {name: rewrite for kind in PERTURBATIONS.values() for name, rewrite in kind.items()}
NOTE = Document("1", "Pt: Jane Quill-Marsh, seen 03/14/2031.", (Span(4, 20, "PATIENT"), Span(27, 37, "DATE")))


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("small letters", "pt: jane quill-marsh, seen 03/14/2031.", ["jane quill-marsh", "03/14/2031"]),
        ("other dashes", "Pt: Jane Quill\u2011Marsh, seen 03/14/2031.", ["Jane Quill\u2011Marsh", "03/14/2031"]),
        ("glued values", "Pt:Jane Quill-Marsh, seen03/14/2031.", ["Jane Quill-Marsh", "03/14/2031"]),
        ("underscores", "Pt:_Jane_Quill-Marsh, seen_03/14/2031.", ["Jane_Quill-Marsh", "03/14/2031"]),
    ],
)
def test_a_note_is_rewritten_with_its_spans(name: str, text: str, values: list[str]) -> None:
    (copy,) = perturb(name, EVERY[name], [NOTE])
    assert copy.text == text
    assert [copy.text[span.start : span.end] for span in copy.spans] == values
    assert [span.label for span in copy.spans] == ["PATIENT", "DATE"]


@pytest.mark.parametrize("name", EVERY)
def test_copies_are_other_texts_with_spans_inside_them_and_always_the_same(name: str) -> None:
    copies = perturb(name, EVERY[name], NOTES)
    originals = {note.id: note for note in NOTES}
    for copy in copies:
        assert copy.text != originals[copy.id].text
        assert copy.spans
        assert all(copy.text[span.start : span.end].strip() for span in copy.spans)
    assert copies == perturb(name, EVERY[name], NOTES)
    assert name in ("no accents", "other dashes") or len(copies) > len(NOTES) / 2


def test_dates_are_the_same_days_in_another_form() -> None:
    copies = [perturb(name, EVERY["dates in another form"], [NOTE])[0] for name in map(str, range(20))]
    forms = {copy.text[copy.spans[1].start : copy.spans[1].end] for copy in copies}
    assert forms <= {"2031-03-14", "14.03.2031", "20310314", "2031/03/14", "14-MAR-31"}
    assert len(forms) > 2


def test_names_of_another_origin_replace_the_words_of_names_alone() -> None:
    for note, copy in zip(NOTES, perturb("names, polish", EVERY["names, polish"], NOTES), strict=True):
        for before, after in zip(note.spans, copy.spans, strict=True):
            same = note.text[before.start : before.end] == copy.text[after.start : after.end]
            assert same == (surrogate_kind(before.label) != "person")


@given(st.text(alphabet="ab cd", min_size=1, max_size=30), st.integers(0, 1000))
def test_edits_move_spans_as_characters_move(text: str, seed: int) -> None:
    rng = Random(seed)
    bounds = sorted(rng.sample(range(len(text) + 1), min(len(text) + 1, 6)))
    edits = [(a, b, rng.choice(["", "x", "xyz"])) for a, b in zip(bounds[::2], bounds[1::2], strict=False)]
    edited = {i for a, b, _ in edits for i in range(a, b)}
    start, end = sorted(rng.sample(range(len(text) + 1), 2))
    if edited & {start, end - 1, start - 1, end}:
        return  # an end of the span is in a range
    expected, place = "", 0
    for a, b, new in [*edits, (len(text), len(text), "")]:
        for i in range(place, a):
            expected += {start: "[", end: "]"}.get(i, "") + text[i]
        expected, place = expected + new, b
    expected += "]" if end == len(text) else ""
    (span,) = (copy := with_edits(Document("1", text, (Span(start, end, "ID"),)), edits)).spans
    assert f"{copy.text[: span.start]}[{copy.text[span.start : span.end]}]{copy.text[span.end :]}" == expected


def test_kinds_are_parsed() -> None:
    assert parse_perturbations("all") == tuple(PERTURBATIONS)
    assert parse_perturbations("names,case") == ("case", "names")
    with pytest.raises(UnknownNameError):
        parse_perturbations("case,typos")
