"""What a review page lets reviewers download: annotated notes, and a record of what was read."""

import json

import pytest

from crfdeid.corpora import read_corpus
from crfdeid.errors import EmptyInputError, FormatError, MismatchError
from crfdeid.review.bounds import NoteCount
from crfdeid.review.certificate import read_marks, require_current, strata_of
from crfdeid.review.plan import SampledNote, draw_plan

TEXT = "Dr. Roe saw Ann Doe on 3/14."


def span(word: str, label: str = "PHI") -> dict:
    return {"start": TEXT.index(word), "end": TEXT.index(word) + len(word), "label": label}


def write(folder, *records):
    path = folder / "marks.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def record(name="1", *, read=True, missed=(), **more):
    spans = [span("Roe", "DOCTOR"), *missed]
    made = {"id": name, "text": TEXT, "spans": spans, "read": read, "false_negatives": [*missed], "false_positives": []}
    return {**made, "sha256": f"digest {name}", "marks": 2, "replaced": "recorded", **more}


def test_marks_are_annotated_notes_and_counts(tmp_path):
    path = write(tmp_path, record(missed=[span("Ann Doe", "PATIENT")]), record("2"), record("3", read=False))
    assert [document.id for document in read_corpus(path)] == ["1", "2"]
    first, second = read_marks([path])
    assert [one.label for one in first.document.spans] == ["DOCTOR", "PATIENT"]
    assert (first.count, second.count) == (NoteCount(2, 3), NoteCount(0, 1))


def test_two_reviewers_share_the_notes(tmp_path):
    (tmp_path / "b").mkdir()
    paths = [write(tmp_path, record("1")), write(tmp_path / "b", record("2"))]
    assert [one.document.id for one in read_marks(paths)] == ["1", "2"]
    with pytest.raises(FormatError) as refused:
        read_marks([paths[0], paths[0]])
    assert (refused.value.path, refused.value.line) == (paths[0], 1)


@pytest.mark.parametrize(
    ("records", "refused", "line"),
    [
        ([record(read=False)], EmptyInputError, None),
        ([{"id": "1", "text": TEXT, "spans": []}], FormatError, 1),
        ([record(), record("2", sha256="")], FormatError, 2),
        ([record(sha256=None)], FormatError, 1),
        ([{key: value for key, value in record().items() if key != "sha256"}], FormatError, 1),
        (
            [record(missed=[span("Ann")]) | {"false_negatives": [{"start": 3, "end": 99, "label": "X"}]}],
            FormatError,
            1,
        ),
    ],
)
def test_what_a_page_cannot_have_given_is_refused(tmp_path, records, refused, line):
    with pytest.raises(refused) as caught:
        read_marks([write(tmp_path, *records)])
    assert (caught.value.path.parent, caught.value.line) == (tmp_path, line)
    assert "Roe" not in str(caught.value)


def test_marks_are_held_against_the_plan(tmp_path):
    listed = [SampledNote(f"{n}", "a" if n < 6 else "b", f"digest {n}") for n in range(9)]
    plan = draw_plan(listed, 3, seed=1)
    lines = [record(note.id, sha256=note.sha256) for note in plan.selected]
    lines[0] = record(plan.selected[0].id, missed=[span("3/14")], sha256=plan.selected[0].sha256)
    strata = strata_of(read_marks([write(tmp_path, *lines)]), plan, path=tmp_path)
    assert [(one.name, one.notes, one.reviewed, one.leaking) for one in strata] == [("a", 6, 2, 1), ("b", 3, 1, 0)]
    with pytest.raises(MismatchError):
        strata_of(read_marks([write(tmp_path, *lines[1:])]), plan, path=tmp_path)
    with pytest.raises(MismatchError):
        strata_of(read_marks([write(tmp_path, *lines[1:], lines[0] | {"sha256": "x"})]), plan, path=tmp_path)
    with pytest.raises(MismatchError):
        strata_of(read_marks([write(tmp_path, *lines, record("99"))]), plan, path=tmp_path)


def test_marks_of_another_redaction_are_refused_line_by_line(tmp_path):
    reviewed = read_marks([write(tmp_path, *(record(f"{n}") for n in range(8)))])
    notes = [SampledNote(f"{n}", "", f"digest {n}") for n in range(8)]
    require_current(reviewed, notes)
    for note in (1, 3):
        notes[note] = notes[note]._replace(sha256="another")
    with pytest.raises(MismatchError, match=r", line 2; .*, line 4\b") as found:
        require_current(reviewed, notes)
    assert "Roe" not in str(found.value)
    with pytest.raises(MismatchError, match=r", line 7; .*, line 8\b"):
        require_current(reviewed, [SampledNote(f"{n}", "", f"digest {n}") for n in range(6)])
    with pytest.raises(MismatchError, match="line 5 and 3 more"):
        require_current(reviewed, [note._replace(sha256="another") for note in notes])
