"""Batches of several annotation layers in turn, for tasks that alternate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np


def in_turns(
    runs: Iterable[tuple[int, np.ndarray, int]], layers: Iterable[str], layer_of: Callable[[int], str]
) -> Iterator[tuple[int, np.ndarray, int]]:
    """Take the runs of layers in turn, until one layer has no more; those that remain are left out.

    Args:
        runs: of `shuffled_runs`.
        layers: the layers, in the order of a turn.
        layer_of: index of a bucket -> the layer of its targets.
    """
    by_layer: dict[str, list[tuple[int, np.ndarray, int]]] = {layer: [] for layer in layers}
    for run in runs:
        by_layer[layer_of(run[0])].append(run)
    for turn in zip(*by_layer.values(), strict=False):
        yield from turn
