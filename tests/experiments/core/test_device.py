"""Devices and cores: what is set before JAX is imported, and what is refused."""

from __future__ import annotations

import os
from typing import Any

import jax
import pytest

from crfdeid.errors import MissingExtraError, OptionConflictError
from crfdeid.utils.process import cores
from experiments.compare.experiment import possible_traits
from experiments.core.command import parse
from experiments.core.systems import System, traits_of
from experiments.core.training import CPU, choose_device, choose_jobs

CRF, ELMAN = System("crf", "crf"), System("elman", "elman")


@pytest.mark.parametrize(("device", "models"), [("auto", ["crf"]), ("cpu", ["crf", "elman"])])
def test_the_cpu_is_settled_on_through_the_environment(
    device: str, models: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    assert choose_device(device, (traits_of(System(model, model)) for model in models)) == CPU
    assert os.environ["JAX_PLATFORMS"] == "cpu"
    assert os.environ["PJRT_NPROC"] == os.environ["OMP_NUM_THREADS"] == "1"


class FakeGpu:
    device_kind = "Invented GPU 9000"


@pytest.mark.parametrize("device", ["auto", "gpu"])
def test_a_gpu_is_taken_where_there_is_one(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(jax, "devices", lambda: [FakeGpu()])
    assert choose_device(device, map(traits_of, [CRF, ELMAN])) == "Invented GPU 9000"


def test_without_a_gpu_auto_is_the_cpu_and_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    assert choose_device("auto", [traits_of(ELMAN)]) == CPU
    with pytest.raises(MissingExtraError):
        choose_device("gpu", [traits_of(ELMAN)])


@pytest.mark.parametrize(
    ("model", "settings", "accelerated"),
    [
        ("hybrid", [], False),
        ("hybrid", [("member", "elman")], True),
        ("ensemble", [("members", ("crf", "rules"))], False),
        ("ensemble", [("members", ("rules", "hybrid")), ("member", "jordan")], True),
    ],
)
def test_a_model_made_of_models_computes_where_its_members_do(
    model: str, settings: list[tuple[str, Any]], accelerated: bool
) -> None:
    assert traits_of(System("one", model, None, settings)).accelerated == accelerated


def test_a_sweep_to_a_network_takes_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(jax, "devices", lambda: [FakeGpu()])
    for members, expected in (("crf", CPU), ("crf,elman", "Invented GPU 9000")):
        options = parse("compare", ["--models", "hybrid", "--sweep", f"member={members}"])
        assert choose_device("auto", possible_traits(options.models)) == expected


def test_a_gpu_for_models_that_know_none_is_refused() -> None:
    with pytest.raises(OptionConflictError):
        choose_device("gpu", [traits_of(CRF)])


def test_jobs_follow_the_cores_and_the_cells_on_a_cpu() -> None:
    assert choose_jobs(None, 1, CPU) == 1
    assert choose_jobs(None, 1000, CPU) == cores()
    assert choose_jobs(7, 3, CPU) == 3
    assert choose_jobs(1, 3, CPU) == 1


def test_a_gpu_trains_one_group_at_a_time() -> None:
    assert choose_jobs(None, 6, "Invented GPU 9000") == choose_jobs(1, 6, "Invented GPU 9000") == 1
    with pytest.raises(OptionConflictError):
        choose_jobs(2, 6, "Invented GPU 9000")
