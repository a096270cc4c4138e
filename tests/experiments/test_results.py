"""Results as data: plain settings, versions, and predictions without text."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from typing import Any

import pytest

from crfdeid.documents import Document, Span
from crfdeid.errors import UsageError
from crfdeid.scoring import EntityError
from experiments.examples import error_examples
from experiments.results import describe_environment, model_settings, predictions_jsonl, to_json
from experiments.runs import Cell, Plan, Run
from experiments.splits import Split


def test_predictions_are_one_line_a_document() -> None:
    found = {"n1": [Span(0, 4, "DATE")], "ñ": []}
    assert predictions_jsonl(found) == (
        '{"id": "n1", "spans": [{"start": 0, "end": 4, "label": "DATE"}]}\n{"id": "ñ", "spans": []}\n'
    )


def test_the_environment_names_what_is_installed() -> None:
    found = describe_environment(device="cpu", jobs=2, corpus_seconds=0.5)
    assert found["python"] == platform.python_version()
    assert found["packages"]["jax"] == version("jax")
    assert "torch" not in found["packages"]
    assert (found["device"], found["jobs"], found["corpus_seconds"]) == ("cpu", 2, 0.5)


def test_settings_are_the_profiles_with_what_was_overridden(memory_model: Any) -> None:
    plan = Plan("paper", {"loss": 2.0, "hidden": 5})
    assert model_settings(["memory"], plan) == {"memory": {"window": 2, "loss": 2.0}}
    with pytest.raises(UsageError, match="unknown profile"):
        model_settings(["memory"], Plan("best"))


def test_json_refuses_what_is_not_json() -> None:
    assert json.loads(to_json({"a": [1, None, "ä"]})) == {"a": [1, None, "ä"]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"loss": float("nan")})


def run_with(model: str, *errors: EntityError) -> Run:
    return Run(Cell(model, 0), (), {}, {}, errors, 1.0, 1.0, 1)


def test_examples_are_few_spread_and_of_every_model_and_category() -> None:
    documents = [Document(f"n{i}", f"Seen by Doe{i}.", (Span(8, 12, "DOCTOR"),)) for i in range(9)]
    missed = [EntityError(document.id, "missed", document.spans[0], None, ("unseen",)) for document in documents]
    spurious = EntityError("n2", "spurious", None, Span(0, 4, "ID"))
    runs = [run_with("crf", *missed), run_with("net", spurious)]
    assert list(error_examples(runs, Split.of(documents), per_category=3)) == [
        "crf, missed (unseen): Seen by [Doe0|DOCTOR].",
        "crf, missed (unseen): Seen by [Doe3|DOCTOR].",
        "crf, missed (unseen): Seen by [Doe6|DOCTOR].",
        "net, spurious: {Seen|ID} by Doe2.",
    ]
