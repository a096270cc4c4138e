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
from experiments.results.measurements import MACRO, MEASURES, OVERALL, TAB
from experiments.results.schema import Results
from experiments.results.view import View
from experiments.tables.frames import (
    BOUNDARY,
    MISSED,
    SCORES,
    SPURIOUS,
    confusion_frame,
    interval_frame,
    long_form,
    means,
    percent,
    pivot,
    score_frame,
    select,
    summary_frame,
    wide,
)
from experiments.tables.table import (
    MARK,
    Table,
    count,
    hipaa_notes,
    holding,
    interval_name,
    name_of_test,
    run_counts,
    run_notes,
    score_notes,
)

_COUNTS_NOTE = "A document's counts are averaged over a system's seeds before F: not quite the mean of the seeds' F."
ERROR_NAMES = {
    "missed": "Missed entity",
    "wrong": "Wrong entity",
    "boundary": "Boundary",
    "spurious": "Spurious",
    "all": "All errors",
}
_TOP_CONFUSIONS = 5
_PER_SYSTEM = 4  # missed tokens that are shown
_AROUND = 2  # tokens before and after a missed one

Spans = Mapping[str, Sequence[Span]]


def score_table(view: View) -> Table:
    """Recall, precision and F of every system side by side, by type.

    An F is marked where it differs from the first system's by the paired test.
    """
    rows = score_frame(view)
    types = [label for label in view["dataset"]["types"] if label in set(rows["category"])]
    first = next(iter(view["systems"]))
    texts = means(rows, "category", "system", "measure")
    for other, system, category in holding(view):
        if other == first and (category, system, "f1") in texts:
            texts[category, system, "f1"] += MARK
    notes = [f"Match: {SCORES['entity_strict']}. {OVERALL}: all types together (micro average)."]
    if (view["comparison"] or {}).get("pairs"):
        notes.append(f"F marked with {MARK} differs from that of {first}: {name_of_test(view)}.")
    cells = pivot(texts, [*types, OVERALL, MACRO], _side_by_side(view))
    gold = view["dataset"]["splits"][view["dataset"]["test"]]["spans_by_type"]
    if without := [label for label in types if not gold.get(label)]:
        notes.append(f"Without gold here, so that any prediction is a false alarm and F is 0: {', '.join(without)}.")
    notes += (*run_notes(view), *score_notes(view))
    return Table("Scores by category (recall, precision, F in %)", cells, tuple(notes), rows, group=3)


def _side_by_side(view: View) -> dict[tuple[str, str], str]:
    """Columns of a table with three scores of each system."""
    return {(s, measure): f"{s} {letter}" for s in view["systems"] for measure, letter in MEASURES.items()}


def overview_table(view: View) -> Table:
    """Overall recall, precision and F by every kind of match."""
    rows = pd.concat([score_frame(view, match) for match in SCORES])
    rows = rows[rows["category"] == OVERALL]
    cells = pivot(means(rows, "kind", "system", "measure"), SCORES, _side_by_side(view))
    notes = (*hipaa_notes(view), *run_notes(view), *score_notes(view))
    return Table("Overall scores by kind of match (micro average, %)", cells, notes, rows, group=3)


def identifier_table(view: View) -> Table:
    """Recall of direct and quasi-identifiers, and precision, as the Text Anonymization Benchmark counts them."""
    counts = wide(select(view["measurements"], TAB), "system", "seed", "category")[["count", "total"]].astype(int)
    rows = counts.assign(value=counts["count"] / counts["total"].clip(lower=1)).reset_index()
    columns = {score: f"{name}, {measure}" for score, (name, measure) in TAB_MEASURES.items()}
    notes = (
        "In %, with document consistency. An entity is masked if all letters and digits of all its mentions are.",
        *run_notes(view),
    )
    cells = pivot(means(rows, "system", "category"), rows["system"].unique(), columns)
    return Table("Direct and quasi-identifiers", cells, notes, rows)


def embedding_table(view: View) -> Table:
    """One row for each embedding and network: size, out-of-vocabulary shares and overall scores."""
    rows = select(score_frame(view), "entity_strict", category=OVERALL)
    held, split = holding(view), view["dataset"]["test"]
    systems = {name: found for name, found in view["systems"].items() if found["embedding"] is not None}
    columns = {"precision": "Precision", "recall": "Recall", "f1": "F"}
    cells = pivot(
        means(rows, "system", "measure"), {s: f"{a['model']}: {a['embedding']}" for s, a in systems.items()}, columns
    )
    first: dict[str, str] = {}
    sizes, marks = [], [""] * len(systems)
    for place, (system, found) in enumerate(systems.items()):
        facts = view["embeddings"][found["embedding"]]
        sizes.append((f"{facts['dim']}", *(percent(facts["out_of_vocabulary"][split][n]) for n in ("tokens", "types"))))
        if (first.setdefault(found["model"], system), system, OVERALL) in held:
            marks[place] = MARK
    names = ["Dimension", "Unknown tokens (%)", "Unknown words (%)"]
    cells = pd.concat([pd.DataFrame(sizes, cells.index, names), cells.assign(F=cells["F"] + marks)], axis=1)
    notes = [
        "Strict entity scores of all types together, in %.",
        f"Unknown: the tokens of the {split} split, and its different words, that the embedding has no word for.",
    ]
    read = {name: facts["text_words"] for name, facts in view["embeddings"].items() if "text_words" in facts}
    if read:
        each = ", ".join(f"{name} on {count:,}" for name, count in read.items())
        notes.append(f"Words of text that vectors were trained on here: {each}; random ones on none.")
    if held:
        notes.append(f"F marked with {MARK} differs from that of the network's first row: {name_of_test(view)}.")
    return Table("Embeddings", cells, (*notes, *run_notes(view)), rows[rows["system"].isin(list(systems))])


def replicate_table(view: View) -> Table:
    """Variation of F over seeds: mean, standard deviation, best and worst of each system."""
    rows = select(score_frame(view), "entity_strict", measure="f1", category=OVERALL)
    summary = summary_frame(rows, "system").rename_axis(None)
    cells = summary[["mean", "sd", "best", "worst"]].map(percent)
    cells.columns = ["Mean", "SD", "Best", "Worst"]
    cells.insert(0, "Runs", summary["runs"].astype(str))
    notes = (
        "Strict entity F of all types together, in %, on the scored split. SD: standard deviation of a sample.",
        *run_notes(view, "Each system ran with"),
    )
    return Table("Replicates: overall F by seed", cells, notes, rows)


def fraction_table(view: View) -> Table:
    """Overall F against the amount of training data."""
    rows = select(view["fractions"], "entity_strict", measure="f1", category=OVERALL)
    sizes = {
        size["fraction"]: size for size in view["dataset"]["fractions"] if size["fraction"] in set(rows["fraction"])
    }
    texts = means(rows, "fraction", "system")
    cells = pivot(texts, {f: f"{percent(f, 0)} %" for f in sizes}, {system: system for system in view["systems"]})
    for place, name in enumerate(("Documents", "Sentences")):
        cells.insert(place, name, [f"{size[name.lower()]:,}" for size in sizes.values()])
    notes = ("Strict entity F of all types together, in %, on the whole scored split.", *run_notes(view))
    return Table("F by amount of training data", cells, notes, rows)


def interval_table(view: View) -> Table:
    """The bootstrap interval of every system's overall F."""
    frame = interval_frame(view)
    overall = frame[frame["category"] == OVERALL].set_index("system").rename_axis(None)
    cells = pd.DataFrame({"F": overall["f1"], "Low": overall["low"], "High": overall["high"]}).map(percent)
    notes = (
        f"Each F ({view['comparison']['measure']}) in %, with its {interval_name(view)}, "
        f"{view['comparison']['samples']:,} samples.",
        _COUNTS_NOTE,
    )
    return Table("Confidence intervals of overall F", cells, notes, frame)


def pair_table(view: View) -> Table:
    """Overall F of any two systems: the difference, its interval, and its significance."""
    frame = pd.DataFrame(view["comparison"]["pairs"])
    frame = frame.assign(holds=frame["p_holm"] <= view["comparison"]["level"])
    overall = frame[frame["category"] == OVERALL].set_index("a")
    points = (100 * overall[["difference", "low", "high"]]).map("{:+.2f}".format)
    cells = pd.DataFrame(
        {
            "Against": overall["b"],
            "F": overall["f1_a"].map(percent),
            "F against": overall["f1_b"].map(percent),
            "Difference": points["difference"],
            "Interval": points["low"] + " to " + points["high"],
            "p": overall["p"].map(_probability),
            "p (Holm)": overall["p_holm"].map(_probability),
            "Holds": overall["holds"].map({True: "yes", False: "no"}),
        }
    )
    notes = (
        "Difference: the second system's F less the first's, in percentage points.",
        f"Test: {name_of_test(view)}; {interval_name(view)}, paired, {view['comparison']['samples']:,} samples.",
        *_seeds_note(view),
        _COUNTS_NOTE,
    )
    return Table("Significance of differences in overall F", cells.rename_axis(""), notes, frame)


def _seeds_note(view: View) -> tuple[str, ...]:
    several = max(run_counts(view).values(), default=1) > 1
    return ("p covers the choice of documents alone; the interval covers seeds too.",) if several else ()


def _probability(p: float) -> str:
    return "<0.0001" if p < 0.00005 else f"{p:.4f}"


def error_table(view: View) -> Table:
    """Errors by system and category, with their causes and the most frequent confusions of types."""
    runs, rows = run_counts(view), view["measurements"]
    rows = rows[
        rows["kind"].isin(["causes", "confusions"]) | ((rows["kind"] == "errors") & (rows["category"] == OVERALL))
    ]
    is_pair = rows["kind"] == "confusions"
    cause = rows["category"].mask(is_pair, rows["category"] + " taken for " + rows["measure"]).replace(OVERALL, "")
    named = rows.assign(error=rows["measure"].mask(is_pair, "wrong"), cause=cause)
    sums = named.groupby(["error", "cause", "system"])["value"].sum()
    shown: dict[tuple[str, str], str] = {}
    for error, name in ERROR_NAMES.items():
        counts = sums[error].groupby("cause").sum()
        causes = [cause for cause in ERROR_CAUSES if cause in counts]
        pairs = counts.drop(["", *causes]).nlargest(_TOP_CONFUSIONS)
        shown |= {(error, ""): name, **{(error, cause): f"{name}: {cause}" for cause in (*causes, *pairs.index)}}
    cells = pd.DataFrame(
        {s: [count(sums.get((*key, s), 0) / runs[s], mean=runs[s] > 1) for key in shown] for s in runs},
        list(shown.values()),
    )
    notes = ("One error can have several causes, or none.", *run_notes(view, "Means of"), *score_notes(view))
    return Table("Errors: entities by category and cause", cells, notes, rows)


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
        *run_notes({**view, "systems": {system: view["systems"][system]}}, "Means of"),
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
