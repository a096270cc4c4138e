"""Tests of the error classes."""

import pickle

import pytest

from crfdeid import errors
from crfdeid.errors import DataError, MissingExtraError, UsageError

CLASSES = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, UsageError | DataError)]


def test_every_class_has_its_own_code() -> None:
    codes = [one.code for one in CLASSES]
    assert len(set(codes)) == len(codes) == 20


@pytest.mark.parametrize("kind", [one for one in CLASSES if issubclass(one, DataError)])
def test_a_data_error_survives_a_process(kind: type[DataError]) -> None:
    error = pickle.loads(pickle.dumps(kind("overlaps", path="a.ann", line=3, offset=7)))
    assert type(error) is kind
    assert (str(error), error.exit_status) == ("a.ann, line 3, offset 7: overlaps", 1)
    assert (error.problem, error.path, error.line, error.offset) == ("overlaps", "a.ann", 3, 7)


@pytest.mark.parametrize("kind", [one for one in CLASSES if issubclass(one, UsageError)])
def test_a_usage_error_survives_a_process(kind: type[UsageError]) -> None:
    error = MissingExtraError("crfdeid train --model elman", "rnn") if kind is MissingExtraError else kind("--jobs: 0")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.exit_status) == (kind, str(error), 2)


def test_a_missing_extra_names_its_installation() -> None:
    error = MissingExtraError("this", "spark")
    assert "pip install 'crfdeid[spark]'" in str(error)
    assert error.extra == "spark"
