"""Views of the results, which tables, plots and findings read: the measurements of some systems in one layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from crfdeid.documents import CONCEPT, PHI
from crfdeid.label_schemes import in_order
from experiments.results.measurements import COLUMNS, point_name
from experiments.results.schema import CONCEPT_ANNOTATED_TEXT, Results, is_plain

View = Mapping[str, Any]
"""The return value of `view`."""


def frame_of(results: Results) -> pd.DataFrame:
    """All measurements of an experiment, in the columns of `experiments.results.measurements`."""
    return pd.DataFrame(results["measurements"], columns=list(COLUMNS)).astype({"value": float})


def view(
    results: Results, *, layer: str = PHI, systems: Iterable[str] | None = None, comparison: str | None = None
) -> View:
    """The systems scored in one annotation layer, each on the dataset that it was trained on.

    Args:
        results: the content of results.json.
        layer: the annotation layer of the scores.
        systems: names of systems; None for all. Those without scores in the layer are left out.
        comparison: name of the comparison of these systems; None for that of the layer's name.

    Returns:
        "dataset", the facts of the first system's dataset, with the layer's counts; "systems", name -> its entry with
        its "seeds"; "measurements" of these systems and of their trainings, as a data frame; likewise "fractions", on
        each share of the training documents, and "sweep", at points of a sweep; "points", name -> settings of each
        point; "runs" of the systems; "comparison", or None; "embeddings", "environment", "command", "repair".
    """
    chosen = {name: results["systems"][name] for name in (results["systems"] if systems is None else systems)}
    frame = frame_of(results)
    frame = frame[frame["system"].isin(list(chosen))]
    own = (frame["dataset"] == frame["system"].map({name: about["trained_on"] for name, about in chosen.items()})) & (
        frame["layer"] == layer
    )
    is_whole = (frame["fraction"] == 1.0) & (frame["point"] == "")
    scored = [name for name in chosen if name in set(frame["system"][own & is_whole])]
    frame = frame[own | (frame["dataset"] == "")]
    frame = frame.sort_values(
        "system", key=lambda names: names.map({name: at for at, name in enumerate(chosen)}), kind="stable"
    )
    is_whole = (frame["fraction"] == 1.0) & (frame["point"] == "")
    whole = frame[is_whole & frame["system"].isin(scored)]
    runs = [run for name in scored for run in results["runs"] if run["system"] == name and is_plain(run)]
    trained_on = next((chosen[name]["trained_on"] for name in scored), next(iter(results["datasets"])))
    dataset = dataset_of_layer(results["datasets"][trained_on], layer)
    return {
        **{name: results[name] for name in ("embeddings", "environment", "command", "repair")},
        "dataset": dataset,
        "systems": {
            name: {**chosen[name], "seeds": [run["seed"] for run in runs if run["system"] == name]} for name in scored
        },
        "measurements": whole,
        "runs": runs,
        "points": {point_name(run["point"]): run["point"] for run in results["runs"] if run["point"]},
        "fractions": frame[frame["point"] == ""] if "fractions" in dataset else frame[:0],
        "sweep": frame[frame["point"] != ""],
        "comparison": results["comparisons"].get(comparison or layer),
    }


def dataset_of_layer(dataset: Mapping[str, Any], layer: str) -> dict[str, Any]:
    """Facts of a dataset with the counts of one of its annotation layers; unchanged for a dataset of PHI alone."""
    if not any("layers" in split for split in dataset["splits"].values()):
        return dict(dataset)
    layer = CONCEPT if layer == CONCEPT_ANNOTATED_TEXT else layer
    name = f"{dataset['name']}, {layer}"
    if layer == PHI:
        return {**dataset, "name": name}
    splits = {name: {**split, **split["layers"][layer]} for name, split in dataset["splits"].items()}
    types = in_order({label for split in splits.values() for label in split["spans_by_type"]})
    return {**dataset, "name": name, "splits": splits, "types": types, "type_map": "all"}
