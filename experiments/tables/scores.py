"""Tables of scores and errors.

Scores are by category, match, embedding, seed and amount of training data, with intervals and paired tests; errors by
category and cause, by gold and predicted type, and as missed tokens in their text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from crfdeid.documents import Document, Span, tokens_of
from crfdeid.evaluation import ERROR_CAUSES, TAB_MEASURES
from crfdeid.evaluation.tokens import missed_tokens, token_types
from experiments.results.measurements import MACRO, MEASURES, OVERALL
from experiments.results.schema import Results
from experiments.results.view import View
from experiments.tables.frames import (
    ALL_ERRORS,
    BOUNDARY,
    MISSED,
    SCORES,
    SPURIOUS,
    confusion_frame,
    error_frame,
    fraction_frame,
    identifier_frame,
    interval_frame,
    pair_frame,
    rows_of,
    score_frame,
    summary_frame,
)
from experiments.tables.table import (
    MARK,
    NO_VALUE,
    Table,
    count,
    hipaa_notes,
    holding,
    interval_name,
    long_form,
    mean_and_deviation,
    name_of_test,
    percent,
    run_counts,
    run_notes,
    score_notes,
)

_SCORE_KEYS = ("system", "category", "measure")
_COUNTS_NOTE = "A document's counts are averaged over a system's seeds before F: not quite the mean of the seeds' F."
ERROR_NAMES = {
    "missed": "Missed entity",
    "wrong": "Wrong entity",
    "boundary": "Boundary",
    "spurious": "Spurious",
}
_TOP_CONFUSIONS = 5
_PER_SYSTEM = 4  # missed tokens that are shown
_AROUND = 2  # tokens before and after a missed one

Spans = Mapping[str, Sequence[Span]]


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
        _side_by_side(frame, [*types, OVERALL, MACRO], marked=held),
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
        _side_by_side(frame, list(SCORES.values())),
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
    frame = score_frame(view)
    overall = frame[(frame["category"] == OVERALL) & (frame["measure"] == "f1")]
    summary = summary_frame(overall, "system").set_index("system").rename_axis(None)
    cells = summary[["mean", "sd", "best", "worst"]].map(percent)
    cells.columns = ["Mean", "SD", "Best", "Worst"]
    cells.insert(0, "Runs", summary["runs"].astype(str))
    notes = (
        "Strict entity F of all types together, in %, on the scored split. SD: standard deviation of a sample.",
        *run_notes(view, "Each system ran with"),
    )
    return Table("Replicates: overall F by seed", cells, notes, summary_frame(frame, *_SCORE_KEYS))


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


def _side_by_side(
    frame: pd.DataFrame, categories: Sequence[str], *, marked: frozenset[tuple[str, str]] = frozenset()
) -> pd.DataFrame:
    """One row a category, three columns a system; mean and standard deviation where a system has several runs.

    Args:
        frame: from `score_frame`.
        categories: the rows, in order.
        marked: each (system, category) whose F gets a `MARK`.
    """
    summary = summary_frame(frame, "system", "category", "measure")
    texts = {(row["system"], row["category"], row["measure"]): mean_and_deviation(row) for row in rows_of(summary)}
    for system, category in marked & {key[:2] for key in texts}:
        texts[system, category, "f1"] += MARK
    systems = list(dict.fromkeys(frame["system"]))
    rows = {
        category: {
            f"{system} {letter}": texts.get((system, category, measure), NO_VALUE)
            for system in systems
            for measure, letter in MEASURES.items()
        }
        for category in categories
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def error_table(view: View) -> Table:
    """Error categories by system, with causes and the most frequent confusions of types."""
    frame, runs = error_frame(view), run_counts(view)
    totals = frame.groupby(["category", "cause", "system"])["count"].sum().to_dict()

    def row(category: str, cause: str) -> list[str]:
        return [count(totals.get((category, cause, s), 0) / runs[s], mean=runs[s] > 1) for s in runs]

    rows = {}
    for category, name in ERROR_NAMES.items():
        rows[name] = row(category, "")
        for cause in _shown_causes(frame, category):
            rows[f"{name}: {cause}"] = row(category, cause)
    rows[ALL_ERRORS] = row(ALL_ERRORS, "")
    cells = pd.DataFrame.from_dict(rows, orient="index", columns=list(runs))
    notes = ("One error can have several causes, or none.", *run_notes(view, "Means of"), *score_notes(view))
    return Table("Errors: entities by category and cause", cells, notes, frame)


def _shown_causes(frame: pd.DataFrame, category: str) -> list[str]:
    """Causes that occur; of confusions, the most frequent ones in all systems together."""
    counts = frame[(frame["category"] == category) & (frame["cause"] != "")].groupby("cause")["count"].sum()
    causes = [cause for cause in ERROR_CAUSES if cause in counts.index]
    return [*causes, *counts.drop(index=causes).nlargest(_TOP_CONFUSIONS).index]


def confusion_table(view: View, system: str) -> Table:
    """Gold types against predicted types of one system, with margins so that it adds up to the strict scores."""
    frame, mean = confusion_frame(view, system), len(view["systems"][system]["seeds"]) > 1
    with_sums = frame.assign(Gold=frame.sum(axis=1))
    types = [label for label in frame.index if label not in (BOUNDARY, SPURIOUS)]
    with_sums.loc["Predicted"] = with_sums.sum(axis=0)
    cells = with_sums.map(lambda value: count(value, mean=mean) if value else "0")
    # Rows without predictions and columns without gold have no meaningful sum.
    cells.loc["Predicted", [BOUNDARY, MISSED, "Gold"]] = ""
    cells.loc[[BOUNDARY, SPURIOUS], [BOUNDARY, MISSED, "Gold"]] = ""
    notes = (
        "Rows: gold types; columns: predicted types. On the diagonal: right in type and both boundaries; beside it: "
        "the right place with another type.",
        f"{BOUNDARY}: an overlap with other boundaries; {MISSED}: gold that no prediction touches; {SPURIOUS}: a "
        "prediction that touches no gold. A row adds up to its type's gold spans, a column to its predictions.",
        *run_notes({"systems": {system: view["systems"][system]}}, "Means of"),
    )
    data = long_form(frame, "gold", "predicted").rename(columns={"value": "count"})
    impossible = ~data["gold"].isin(types) & data["predicted"].isin([BOUNDARY, MISSED])
    return Table(f"Confusion of types: {system}", cells, notes, data[~impossible])


class _Example(NamedTuple):
    """A missed token in the middle, with its neighbours; one text for each token and row."""

    tokens: list[str]
    found: list[str]
    gold: list[str]


def example_table(
    results: Results, texts: Mapping[str, str], gold: Spans, predictions: Callable[[str, int], Spans]
) -> Table:
    """Some missed tokens of each model in its training corpus, evenly spread over the test documents.

    Args:
        results: the content of results.json.
        texts: by document id.
        gold: the gold spans, by document id.
        predictions: returns a system's predicted spans with a seed, by document id.
    """
    found = {}
    for system, about in results["systems"].items():
        every = predictions(system, next(run["seed"] for run in results["runs"] if run["system"] == system))
        found[system] = {name: spans for name, spans in every.items() if name.startswith(f"{about['trained_on']}/")}
    columns = [
        *(f"{n} before" for n in range(_AROUND, 0, -1)),
        "missed",
        *(f"{n} after" for n in range(1, _AROUND + 1)),
    ]
    rows = {}
    for system, own in found.items():
        examples = list(_examples(texts, gold, own))
        spread = examples[:: max(1, len(examples) // _PER_SYSTEM)][:_PER_SYSTEM]
        for number, example in enumerate(spread, start=1):
            for name, row in zip(("token", "prediction", "truth"), example, strict=True):
                rows[f"{system} {number}, {name}"] = row
    cells = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    notes = (
        "Each token in the middle is PHI that was not marked. System: a model @ the corpus that it was trained on, "
        "whose test documents these are; its first seed.",
        "This table quotes the notes: of real ones it is PHI.",
    )
    return Table("False negatives in their text (Table 6 of johnson2020)", cells, notes, cells)


def _examples(texts: Mapping[str, str], gold: Spans, found: Spans) -> Iterator[_Example]:
    for name, spans in found.items():
        tokens = tokens_of(Document(name, texts[name]))
        right, marked = (token_types(tokens, some) for some in (gold[name], spans))
        shown = [" ".join(token.text.split()) for token in tokens]
        for missed in missed_tokens(right, marked):
            yield _Example(*(_around(row, missed.number) for row in (shown, marked, right)))


def _around(row: Sequence[str], index: int) -> list[str]:
    padded = [*[""] * _AROUND, *row, *[""] * _AROUND]
    return padded[index : index + 2 * _AROUND + 1]
