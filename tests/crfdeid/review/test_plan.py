"""Sampling plans: what is drawn, kept, and held against what was read."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.corpora.exchanged import text_digest
from crfdeid.errors import DataError, UsageError
from crfdeid.review.plan import Listed, draw, read_plan, require_planned, write_plan


def listed(kinds: list[int]) -> list[Listed]:
    return [Listed(f"{k}/{n}", f"kind {k}", text_digest(f"{n}")) for k, size in enumerate(kinds) for n in range(size)]


@settings(max_examples=20)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.data())
def test_kinds_are_drawn_in_proportion(sizes, data):
    count = data.draw(st.integers(len(sizes), sum(sizes)))
    plan = draw(listed(sizes), count, seed=1)
    drawn = Counter(note.kind for note in plan.read)
    assert len(plan.read) == len(set(plan.read)) == count
    assert plan.notes == sum(sizes)
    for kind, size in enumerate(sizes):
        assert 1 <= drawn[f"kind {kind}"] <= size
        assert abs(drawn[f"kind {kind}"] - count * size / sum(sizes)) < len(sizes) + 1


def test_the_draw_depends_on_the_seed_and_not_on_the_order():
    notes = listed([50])
    assert draw(notes, 5, seed=1) == draw(notes[::-1], 5, seed=1)
    assert draw(notes, 5, seed=1) != draw(notes, 5, seed=2)


def test_every_note_is_drawn_equally_often():
    times = Counter(note.id for seed in range(600) for note in draw(listed([12]), 3, seed=seed).read)
    assert len(times) == 12
    assert all(abs(count - 150) < 45 for count in times.values())  # four standard deviations


def test_too_many_or_too_few_to_draw_are_refused():
    for count in (1, 8):
        with pytest.raises(UsageError, match=f"{count} notes to draw of 7 of 2 kinds"):
            draw(listed([3, 4]), count, seed=0)


def test_a_plan_is_read_back_and_never_overwritten(tmp_path):
    plan = draw(listed([5, 6]), 4, seed=9)
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan
    with pytest.raises(UsageError, match="is there already"):
        write_plan(plan, tmp_path / "plan.json")


@pytest.mark.parametrize("content", ["", "[]", '{"plan": 2}', json.dumps({"plan": 1, "seed": 1})])
def test_what_is_no_plan_is_refused(tmp_path, content):
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(DataError, match="no sampling plan"):
        read_plan(tmp_path / "plan.json")


def test_notes_that_are_missing_or_altered_are_refused(tmp_path):
    notes = listed([9])
    plan = draw(notes, 3, seed=0)
    require_planned(plan, notes, path=tmp_path)
    with pytest.raises(DataError, match="1 of the 3 notes of the plan are missing"):
        require_planned(plan, plan.read[1:], path=tmp_path)
    with pytest.raises(DataError, match="1 notes of the plan have another text"):
        require_planned(plan, [plan.read[0]._replace(sha256="0"), *plan.read[1:]], path=tmp_path)
