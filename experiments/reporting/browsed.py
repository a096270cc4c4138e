"""What the error browser is given of a results folder: the runs whose errors it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from crfdeid.documents import PHI, Span
from crfdeid.errors import MismatchError
from experiments.reporting.error_browser import SystemRun, browser_data
from experiments.results.checks import is_joint
from experiments.results.folder import Folder
from experiments.tables.frames import Results
from experiments.tables.layers import of_layer


def browsed(
    folder: Folder, results: Results, texts: Mapping[str, str] | None, explained: Collection[str] = ()
) -> dict[str, Any]:
    """The error browser's data (`experiments.reporting.error_browser.browser_data`).

    With several annotation layers they are of the systems that have all of them, whose spans stand in one text.

    Raises:
        DataError: a file is missing or damaged, or the files do not belong together.
    """
    layers = results.get("layers", [PHI])
    runs = []
    for system, counted in _counted(results, layers):
        for seed, by_layer in counted.items():
            errors = [error for layer in layers for error in folder.errors(system, seed, layer)]
            counts = Counter(error.category for error in errors)
            expected = sum((Counter(one["categories"]) for one in by_layer), Counter())
            if +counts != +expected:
                problem = "not the errors that results.json counts: run the experiment again"
                raise MismatchError(problem, path=folder.errors_file(system, str(seed)))
            found = _together([folder.predictions(system, seed, layer) for layer in layers])
            runs.append(SystemRun(system, seed, found, errors))
    types = [label for layer in layers for label in _types(results, layer)]
    return browser_data(
        _together([folder.gold(layer) for layer in layers]), runs, types=types, texts=texts, explained=explained
    )


def _counted(results: Results, layers: Sequence[str]) -> Iterator[tuple[str, dict[int, list[Mapping[str, Any]]]]]:
    """Each system with the error counts of its runs, by seed, one for each layer."""
    if not is_joint(results):
        for name, system in results["models"].items():
            yield name, {run["seed"]: [run["errors"]] for run in system["runs"]}
        return
    for name in results["tables"]["compared"]:
        runs = results["systems"][name]["runs"]
        if all(layer in run["errors"] for run in runs for layer in layers):
            yield name, {run["seed"]: [run["errors"][layer] for layer in layers] for run in runs}


def _types(results: Results, layer: str) -> Sequence[str]:
    found: Sequence[str] = (of_layer(results, layer) if is_joint(results) else results)["corpus"]["types"]
    return found


def _together(layers: Sequence[Mapping[str, Sequence[Span]]]) -> dict[str, list[Span]]:
    """The spans of all layers, by document."""
    names = dict.fromkeys(name for found in layers for name in found)
    return {name: [span for found in layers for span in found.get(name, ())] for name in names}
