"""Tables of scores: by category, match, embedding, seed and amount of training data; intervals and paired tests."""

from __future__ import annotations

import pandas as pd

from crfdeid.evaluation import TAB_MEASURES
from experiments.results.schema import View
from experiments.tables.cells import (
    MARK,
    NO_VALUE,
    Table,
    hipaa_notes,
    holding,
    interval_name,
    mean_and_deviation,
    name_of_test,
    overall_f,
    percent,
    run_notes,
    score_notes,
    side_by_side,
)
from experiments.tables.frames import (
    MACRO,
    OVERALL,
    SCORES,
    fraction_frame,
    identifier_frame,
    interval_frame,
    pair_frame,
    rows_of,
    score_frame,
    summary_frame,
)

_SCORE_KEYS = ("system", "category", "measure")
_COUNTS_NOTE = "A document's counts are averaged over a system's seeds before F: not quite the mean of the seeds' F."


def score_table(view: View) -> Table:
    """Recall, precision and F of every system side by side, by type.

    An F is marked where it differs from the first system's by the paired test.
    """
    frame = score_frame(view)
    types = [label for label in view["dataset"]["types"] if label in set(frame["category"])]
    first = next(iter(view["systems"]))
    held = frozenset((system, category) for other, system, category in holding(view) if other == first)
    notes = [f"Match: {SCORES['entity_strict']}. {OVERALL}: all types together (micro average)."]
    if (view["comparison"] or {}).get("pairs"):
        notes.append(f"F marked with {MARK} differs from that of {first}: {name_of_test(view)}.")
    return Table(
        "Scores by category (recall, precision, F in %)",
        side_by_side(frame, [*types, OVERALL, MACRO], marked=held),
        (*notes, *run_notes(view), *score_notes(view)),
        summary_frame(frame, *_SCORE_KEYS),
        group=3,
    )


def overview_table(view: View) -> Table:
    """Overall recall, precision and F by every kind of match."""
    frames = []
    for match, name in SCORES.items():
        frame = score_frame(view, match)
        frames.append(frame[frame["category"] == OVERALL].assign(category=name))
    frame = pd.concat(frames)
    return Table(
        "Overall scores by kind of match (micro average, %)",
        side_by_side(frame, list(SCORES.values())),
        (*hipaa_notes(view), *run_notes(view), *score_notes(view)),
        summary_frame(frame, *_SCORE_KEYS),
        group=3,
    )


def identifier_table(view: View) -> Table:
    """Recall of direct and quasi-identifiers, and precision, as the Text Anonymization Benchmark counts them."""
    frame = identifier_frame(view)
    summary = summary_frame(frame, "system", "score")
    texts = summary.set_index(["system", "score"]).apply(mean_and_deviation, axis=1)
    cells = texts.unstack()[list(TAB_MEASURES)].reindex(frame["system"].unique())
    cells.columns = [f"{name}, {measure}" for name, measure in TAB_MEASURES.values()]
    cells.index.name = None
    notes = (
        "In %, with document consistency. An entity is masked if all letters and digits of all its mentions are.",
        *run_notes(view),
    )
    return Table("Direct and quasi-identifiers", cells, notes, frame)


def embedding_table(view: View) -> Table:
    """One row for each embedding and network: size, out-of-vocabulary shares and overall scores."""
    frame = score_frame(view)
    summary = summary_frame(frame[frame["category"] == OVERALL], *_SCORE_KEYS)
    texts = summary.set_index(["system", "measure"]).apply(mean_and_deviation, axis=1)
    held, split = holding(view), view["dataset"]["test"]
    first: dict[str, str] = {}
    rows, data = {}, []
    for system, found in view["systems"].items():
        if found["embedding"] is None:
            continue
        model, embedding = found["model"], view["embeddings"][found["embedding"]]
        unknown = embedding["out_of_vocabulary"][split]
        mark = MARK if (first.setdefault(model, system), system, OVERALL) in held else ""
        rows[f"{model}: {found['embedding']}"] = {
            "Dimension": f"{embedding['dim']}",
            "Unknown tokens (%)": percent(unknown["tokens"]),
            "Unknown words (%)": percent(unknown["types"]),
            "Precision": texts[system, "precision"],
            "Recall": texts[system, "recall"],
            "F": texts[system, "f1"] + mark,
        }
        means = summary[summary["system"] == system].set_index("measure")["mean"]
        sizes = {"words": embedding["words"], "dim": embedding["dim"]}
        data.append({"model": model, "embedding": found["embedding"], **sizes, **unknown, **means.to_dict()})
    notes = [
        "Strict entity scores of all types together, in %.",
        f"Unknown: the tokens of the {split} split, and its different words, that the embedding has no word for.",
    ]
    if held:
        notes.append(f"F marked with {MARK} differs from that of the network's first row: {name_of_test(view)}.")
    cells = pd.DataFrame.from_dict(rows, orient="index")
    return Table("Embeddings", cells, (*notes, *run_notes(view)), pd.DataFrame(data))


def replicate_table(view: View) -> Table:
    """Variation of F over seeds: mean, standard deviation, best and worst of each system."""
    rows = {
        system: {
            "Runs": f"{row['runs']}",
            "Mean": percent(row["mean"]),
            "SD": percent(row["sd"]),
            "Best": percent(row["best"]),
            "Worst": percent(row["worst"]),
        }
        for system, row in overall_f(view).items()
    }
    notes = (
        "Strict entity F of all types together, in %, on the scored split. SD: standard deviation of a sample.",
        *run_notes(view, "Each system ran with"),
    )
    data = summary_frame(score_frame(view), *_SCORE_KEYS)
    return Table("Replicates: overall F by seed", pd.DataFrame.from_dict(rows, orient="index"), notes, data)


def fraction_table(view: View) -> Table:
    """Overall F against the amount of training data."""
    frame = fraction_frame(view)
    overall = frame[(frame["category"] == OVERALL) & (frame["measure"] == "f1")]
    summary = summary_frame(overall, "system", "fraction").set_index(["fraction", "system"])
    texts = summary.apply(mean_and_deviation, axis=1).to_dict()
    sizes = overall.drop_duplicates("fraction").set_index("fraction").sort_index()
    rows = {
        f"{percent(fraction, 0)} %": {
            "Documents": f"{sizes.loc[fraction, 'documents']:,}",
            "Sentences": f"{sizes.loc[fraction, 'sentences']:,}",
            **{system: texts.get((fraction, system), NO_VALUE) for system in view["systems"]},
        }
        for fraction in sizes.index
    }
    notes = ("Strict entity F of all types together, in %, on the whole scored split.", *run_notes(view))
    keys = ("system", "fraction", "documents", "sentences", "tokens", "category", "measure")
    cells = pd.DataFrame.from_dict(rows, orient="index")
    return Table("F by amount of training data", cells, notes, summary_frame(frame, *keys))


def interval_table(view: View) -> Table:
    """The bootstrap interval of every system's overall F."""
    frame = interval_frame(view)
    overall = frame[frame["category"] == OVERALL].set_index("system")
    cells = pd.DataFrame({"F": overall["f1"], "Low": overall["low"], "High": overall["high"]}).map(percent)
    cells.index.name = None
    notes = (
        f"Each F ({view['comparison']['measure']}) in %, with its {interval_name(view)} on documents, "
        f"{view['comparison']['samples']:,} samples.",
        _COUNTS_NOTE,
    )
    return Table("Confidence intervals of overall F", cells, notes, frame)


def pair_table(view: View) -> Table:
    """Overall F of any two systems: the difference, its interval, and its significance."""
    frame = pair_frame(view)
    overall = frame[frame["category"] == OVERALL]
    rows = [
        {
            "": pair["a"],
            "Against": pair["b"],
            "F": percent(pair["f1_a"]),
            "F against": percent(pair["f1_b"]),
            "Difference": f"{100 * pair['difference']:+.2f}",
            "Interval": f"{100 * pair['low']:+.2f} to {100 * pair['high']:+.2f}",
            "p": _probability(pair["p"]),
            "p (Holm)": _probability(pair["p_holm"]),
            "Holds": "yes" if pair["holds"] else "no",
        }
        for pair in rows_of(overall)
    ]
    notes = (
        "Difference: the second system's F less the first's, in percentage points.",
        f"Test: {name_of_test(view)}; {interval_name(view)} on documents, paired, "
        f"{view['comparison']['samples']:,} samples.",
        _COUNTS_NOTE,
    )
    return Table("Significance of differences in overall F", pd.DataFrame(rows).set_index(""), notes, frame)


def _probability(p: float) -> str:
    return "<0.0001" if p < 0.00005 else f"{p:.4f}"
