"""Tests of the error classes."""

import pickle
import sys

import pytest

from crfdeid import errors
from crfdeid.errors import DataError, MissingExtraError, UsageError, missing_extra
from crfdeid.registry import MODELS, create

CLASSES = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, UsageError | DataError)]


def test_every_class_has_its_own_code() -> None:
    codes = [one.code for one in CLASSES]
    assert len(set(codes)) == len(codes) == 21


@pytest.mark.parametrize("kind", [one for one in CLASSES if issubclass(one, DataError)])
def test_a_data_error_survives_a_process(kind: type[DataError]) -> None:
    error = pickle.loads(pickle.dumps(kind("overlaps", path="a.ann", line=3, offset=7)))
    assert type(error) is kind
    assert (str(error), error.exit_status) == ("a.ann, line 3, offset 7: overlaps", 1)
    assert (error.problem, error.path, error.line, error.offset) == ("overlaps", "a.ann", 3, 7)


@pytest.mark.parametrize("kind", [one for one in CLASSES if issubclass(one, UsageError)])
def test_a_usage_error_survives_a_process(kind: type[UsageError]) -> None:
    again = pickle.loads(pickle.dumps(kind("--jobs: 0")))
    assert (type(again), str(again), again.exit_status) == (kind, "--jobs: 0", 2)


@pytest.mark.parametrize(
    ("library", "extra"),
    [("jax.numpy", "rnn"), ("pyarrow", "parquet"), ("tokenizers", "encoders"), ("pyspark.sql", "spark")],
)
def test_a_missing_library_names_the_extra_that_installs_it(library: str, extra: str) -> None:
    error = missing_extra(ModuleNotFoundError(name=library))
    assert isinstance(error, MissingExtraError)
    assert f"pip install 'crfdeid[{extra}]'" in str(error)


def test_other_failed_imports_are_not_changed() -> None:
    error = ModuleNotFoundError(name="crfdeid.nothing")
    assert missing_extra(error) is error


def test_a_model_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.setitem(MODELS, "invented", "jax.absent:array")
    with pytest.raises(MissingExtraError, match="rnn"):
        create("invented")
