"""Sampling plans: what is drawn, kept, and held against what was read."""

import json
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.documents import text_digest
from crfdeid.errors import FormatError, MismatchError, OutputExistsError, SettingError
from crfdeid.io.records import Columns
from crfdeid.review.plan import (
    SampledNote,
    draw_plan,
    list_notes,
    notes_digest,
    read_plan,
    require_planned,
    require_unchanged,
    write_plan,
)


def listed(kinds: list[int]) -> list[SampledNote]:
    return [
        SampledNote(f"{k}/{n}", f"kind {k}", text_digest(f"{n}")) for k, size in enumerate(kinds) for n in range(size)
    ]


@settings(max_examples=20)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.data())
def test_kinds_are_drawn_in_proportion(sizes, data):
    count = data.draw(st.integers(len(sizes), sum(sizes)))
    plan = draw_plan(listed(sizes), count, seed=1)
    drawn = Counter(note.kind for note in plan.selected)
    assert len(plan.selected) == len(set(plan.selected)) == count
    assert plan.notes == sum(sizes)
    for kind, size in enumerate(sizes):
        assert 1 <= drawn[f"kind {kind}"] <= size
        assert abs(drawn[f"kind {kind}"] - count * size / sum(sizes)) < len(sizes) + 1


def test_the_draw_depends_on_the_seed_and_not_on_the_order():
    notes = listed([50])
    assert draw_plan(notes, 5, seed=1) == draw_plan(notes[::-1], 5, seed=1)
    assert draw_plan(notes, 5, seed=1) != draw_plan(notes, 5, seed=2)


def test_every_note_is_drawn_equally_often():
    times = Counter(note.id for seed in range(600) for note in draw_plan(listed([12]), 3, seed=seed).selected)
    assert len(times) == 12
    assert all(abs(count - 150) < 45 for count in times.values())  # four standard deviations


def test_too_many_or_too_few_to_draw_are_refused():
    for count in (1, 8):
        with pytest.raises(SettingError):
            draw_plan(listed([3, 4]), count, seed=0)


def test_a_plan_is_read_back_and_never_overwritten(tmp_path):
    plan = draw_plan(listed([5, 6]), 4, seed=9)
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan
    with pytest.raises(OutputExistsError):
        write_plan(plan, tmp_path / "plan.json")


@pytest.mark.parametrize("content", ["", "[]", '{"plan": 1}', json.dumps({"plan": 2, "seed": 1})])
def test_what_is_no_plan_is_refused(tmp_path, content):
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(FormatError) as refused:
        read_plan(tmp_path / "plan.json")
    assert refused.value.path == tmp_path / "plan.json"


def test_notes_that_are_missing_or_altered_are_refused(tmp_path):
    notes = listed([9])
    plan = draw_plan(notes, 3, seed=0)
    require_planned(plan, plan.selected, path=tmp_path)
    with pytest.raises(MismatchError):
        require_planned(plan, plan.selected[1:], path=tmp_path)
    with pytest.raises(MismatchError):
        require_planned(plan, [plan.selected[0]._replace(sha256="0"), *plan.selected[1:]], path=tmp_path)
    with pytest.raises(MismatchError):
        require_planned(plan, notes, path=tmp_path)


CHANGES = {
    "added": lambda notes, n: [*notes, SampledNote("new", "", text_digest("raw"))],
    "removed": lambda notes, n: notes[:n] + notes[n + 1 :],
    "swapped": lambda notes, n: [*notes[:n], notes[n]._replace(sha256=text_digest("raw")), *notes[n + 1 :]],
    "renamed": lambda notes, n: [*notes[:n], notes[n]._replace(id="new"), *notes[n + 1 :]],
    "exchanged": lambda notes, n: [
        *notes[:n],
        notes[n]._replace(sha256=notes[n - 1].sha256),
        *notes[n + 1 :],
    ],
}


@pytest.mark.parametrize("change", CHANGES)
@given(st.integers(2, 12), st.data())
def test_every_change_of_any_note_is_refused_drawn_or_not(change, size, data):
    notes = listed([size])
    plan = draw_plan(notes, 1, seed=0)
    changed = CHANGES[change](notes, data.draw(st.integers(0, size - 1)))
    with pytest.raises(MismatchError) as caught:
        require_unchanged(plan, changed, path="clean")
    assert len(str(caught.value).splitlines()) == 1


@given(st.permutations(listed([3, 4])))
def test_neither_the_order_nor_the_kinds_of_notes_matter_to_their_digest(notes):
    plan = draw_plan(listed([3, 4]), 2, seed=0)
    require_unchanged(plan, [note._replace(kind="") for note in notes], path="clean")
    assert notes_digest(notes) == plan.digest


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (lambda notes, plan: [*notes, SampledNote("new", "", "")], ["10", "9"]),
        (lambda notes, plan: [one for one in notes if one not in plan.selected], ["6", "9", "3", "3"]),
        (lambda notes, plan: [one._replace(sha256="0") for one in notes], ["3", "3"]),
        (
            lambda notes, plan: [one if one in plan.selected else one._replace(sha256="0") for one in notes],
            [],
        ),
    ],
)
def test_the_message_counts_what_changed(change, counts):
    notes = listed([9])
    plan = draw_plan(notes, 3, seed=0)
    with pytest.raises(MismatchError) as refused:
        require_unchanged(plan, change(notes, plan), path="clean")
    assert refused.value.path == "clean"
    assert re.findall(r"\d+", refused.value.problem) == counts


def test_notes_are_listed_by_the_columns_of_their_table(tmp_path):
    table = tmp_path / "notes.csv"
    table.write_text("key,ward,body\n7,a,Seen by [DOCTOR].\n8,b,Well.\n")
    found = list_notes(table, Columns("body", "key", "ward"), kinds=True)
    assert found == [
        SampledNote("7", "a", text_digest("Seen by [DOCTOR].")),
        SampledNote("8", "b", text_digest("Well.")),
    ]
