"""Tells of a lesson's exercise whether it is answered, and whether the answer is right."""

from collections.abc import Callable
from typing import Any


def exercise(check: Callable[[Any], None], answer: Any) -> None:
    """Check an answer, and say what was found.

    Args:
        check: takes the answer, and fails an assert where it is wrong. Its name ends in the exercise's number.
        answer: the value, function or class that was asked for. Three dots, and a function that raises
            NotImplementedError, mean "not answered yet".

    Raises:
        AssertionError: the answer is wrong; the message says in what.

    Example:
        >>> def check_1(answer):
        ...     assert answer == 4, "count once more"
        >>> exercise(check_1, ...)
        Exercise 1: not answered yet.
        >>> exercise(check_1, 4)
        Exercise 1: right.
    """
    title = f"Exercise {check.__name__.rpartition('_')[2]}"
    try:
        if answer is ...:
            raise NotImplementedError
        check(answer)
    except NotImplementedError:
        print(f"{title}: not answered yet.")
    else:
        print(f"{title}: right.")
