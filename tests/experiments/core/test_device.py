"""Devices and cores: what is set before JAX is imported, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import jax
import pytest

from crfdeid.errors import MissingExtraError, OptionConflictError
from crfdeid.utils.process import cores
from experiments.compare.experiment import possible_traits
from experiments.core import devices
from experiments.core.command import parse
from experiments.core.devices import CPU, Placed, choose_device, choose_jobs, place
from experiments.core.systems import Cell, System, cell_traits, plain_cells, traits_of

CRF, ELMAN, JORDAN, BILSTM, BERT = (System(name, name) for name in ("crf", "elman", "jordan", "bilstm-crf", "bert"))


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


def on_cpu(count: int) -> Placed:
    return Placed([[Cell(CRF, seed)] for seed in range(count)], [])


def test_jobs_follow_the_cores_and_the_cells_on_a_cpu() -> None:
    assert choose_jobs(None, on_cpu(1)) == 1
    assert choose_jobs(None, on_cpu(1000)) == cores()
    assert choose_jobs(7, on_cpu(3)) == 3
    assert choose_jobs(1, on_cpu(3)) == 1


def test_a_gpu_trains_one_group_at_a_time_and_the_cpu_others_meanwhile() -> None:
    gpu_alone = Placed([], [[Cell(BERT, seed)] for seed in range(6)])
    assert choose_jobs(None, gpu_alone) == choose_jobs(1, gpu_alone) == 1
    with pytest.raises(OptionConflictError):
        choose_jobs(2, gpu_alone)
    assert choose_jobs(2, Placed(on_cpu(3).on_cpu, gpu_alone.on_gpu)) == 2


def measured(
    monkeypatch: pytest.MonkeyPatch, rows: Sequence[tuple[str, int, tuple[float, float], tuple[float, float]]]
) -> None:
    """Put other times into the table, and two cores into the machine."""
    table = [
        {
            "updates": updates,
            "replicates": replicates,
            "core": dict(zip(("compile_seconds", "sentence_milliseconds"), core, strict=True)),
            "gpu": dict(zip(("compile_seconds", "sentence_milliseconds"), gpu, strict=True)),
        }
        for updates, replicates, core, gpu in rows
    ]
    monkeypatch.setattr(devices, "measured", lambda: table)
    monkeypatch.setattr(devices, "cores", lambda: 2)


def placed(systems: Sequence[System], seeds: int, **how: Any) -> tuple[list[list[str]], list[list[str]]]:
    """Names of the systems of each group, on the CPU and on the GPU."""
    found = place(plain_cells(systems, range(seeds)), cell_traits, **{"gpu": "GPU", **how})
    return tuple([[cell.system.name for cell in group] for group in groups] for groups in found)  # type: ignore[return-value]


def test_each_system_is_on_the_device_that_trains_it_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    measured(
        monkeypatch,
        [
            ("sentence", 1, (1.0, 1.0), (10.0, 0.9)),
            ("sentence", 8, (1.0, 8.0), (10.0, 1.0)),
            ("minibatch", 1, (5.0, 3.0), (50.0, 0.1)),
        ],
    )
    both = [CRF, ELMAN, BILSTM]
    # 20 s of sentences: one Elman takes 21 s on a core and 28 s on the GPU; a BiLSTM-CRF 65 s and 52 s.
    assert placed(both, 1, sentences=lambda cell: 20_000) == ([["crf"], ["elman"]], [["bilstm-crf"]])
    assert placed(both, 1, sentences=lambda cell: 1_000) == ([["crf"], ["elman"], ["bilstm-crf"]], [])
    # Eight on two cores are four turns of 20 s.
    assert placed([ELMAN], 8, sentences=lambda cell: 20_000) == ([], [["elman"] * 8])
    assert placed([ELMAN], 8, sentences=lambda cell: 2_000) == ([["elman"]] * 8, [])
    assert placed([ELMAN], 1, sentences=lambda cell: 20_000_000) == ([], [["elman"]])


def test_a_gpu_that_is_asked_for_trains_every_network_and_without_one_none_is_there() -> None:
    assert placed([CRF, ELMAN, JORDAN], 2, forced=True) == ([["crf"]], [["elman"] * 2, ["jordan"] * 2])
    assert placed([CRF, ELMAN], 2, gpu=CPU) == ([["crf"], ["elman"], ["elman"]], [])


def test_by_the_times_measured_so_far_one_elman_or_jordan_is_left_to_the_cpu() -> None:
    hybrid = System("hybrid", "hybrid", None, (("member", "elman"),))
    found = placed([ELMAN, JORDAN, hybrid, BILSTM, BERT], 1, sentences=lambda cell: 7_000 * 25)
    assert found == ([["elman"], ["jordan"], ["hybrid"]], [["bilstm-crf"], ["bert"]])


def test_cells_that_share_models_stay_together_on_every_device() -> None:
    pairs = {"group": lambda cells: [list(cells)]}
    assert placed([ELMAN, BILSTM], 1, **pairs) == ([], [["elman", "bilstm-crf"]])
    assert placed([ELMAN, BILSTM], 1, gpu=CPU, **pairs) == ([["elman", "bilstm-crf"]], [])
