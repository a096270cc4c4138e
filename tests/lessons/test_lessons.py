"""The lessons of docs/lessons: they run as they are, and their checks tell right answers from wrong ones."""

import runpy
from importlib import import_module
from pathlib import Path
from unittest import mock

import matplotlib.pyplot as plt
import pytest
from exercise import exercise

from features import FEATURE_SETS

FOLDER = Path(__file__).parents[2] / "docs" / "lessons"
LESSONS = sorted(FOLDER.glob("[1-9]_*.py"))


def name_of(lesson: Path) -> str:
    return lesson.stem


@pytest.fixture
def pictures(monkeypatch):
    """The pictures that are shown are drawn, each by its title, and closed; the list grows."""
    shown: list[str] = []

    def draw():
        for number in plt.get_fignums():
            figure = plt.figure(number)
            figure.canvas.draw()
            shown.extend(axes.get_title() for axes in figure.axes if axes.has_data())
        plt.close("all")

    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", draw)
    return shown


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=name_of)
def test_a_lesson_runs_unanswered_and_its_checks_tell_right_from_wrong(lesson, pictures, capsys):
    with mock.patch.dict(FEATURE_SETS):  # lesson 1 adds one
        cells = runpy.run_path(str(lesson), run_name="lesson")
        printed = capsys.readouterr().out
        assert any(pictures), "no picture"

        answers = import_module(f"answers_{lesson.stem}")
        exercises = range(1, 1 + sum(name.startswith("check_") for name in cells))
        assert list(answers.RIGHT) == list(answers.WRONG) == list(exercises) and len(exercises) >= 3
        for number in exercises:
            assert f"Exercise {number}: not answered yet." in printed
            check = cells[f"check_{number}"]
            exercise(check, answers.RIGHT[number])
            assert capsys.readouterr().out == f"Exercise {number}: right.\n"
            assert answers.WRONG[number]
            for wrong in answers.WRONG[number]:
                with pytest.raises(AssertionError, match=r".{20}"):  # with a hint
                    exercise(check, wrong)


@pytest.mark.parametrize("lesson", LESSONS, ids=name_of)
def test_a_lesson_is_a_notebook_of_text_and_code_in_turn(lesson):
    """Jupytext's percent format: a cell begins at a line ``# %%``; a cell of text is of comments alone."""
    lines = lesson.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# %% [markdown]"
    assert lines[1].startswith(f"# # Lesson {lesson.stem[0]}: ")
    text = False
    for line in lines:
        if line.startswith("# %%"):
            assert line in ("# %%", "# %% [markdown]")
            text = line != "# %%"
        else:
            assert not text or not line or line.startswith("#")
    assert [line for line in lines if line.startswith("# ### Exercise")]


def test_the_lessons_are_numbered():
    assert [lesson.stem[0] for lesson in LESSONS] == list("12345678")[: len(LESSONS)]


def test_an_exercise_says_whether_it_is_answered(capsys):
    def check_7(answer):
        assert answer() == 4, "count once more"

    def unanswered():
        raise NotImplementedError

    exercise(check_7, ...)
    exercise(check_7, unanswered)
    exercise(check_7, lambda: 4)
    unseen, right = "Exercise 7: not answered yet.\n", "Exercise 7: right.\n"
    assert capsys.readouterr().out == unseen + unseen + right
    with pytest.raises(AssertionError, match="count once more"):
        exercise(check_7, lambda: 5)
