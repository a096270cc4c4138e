"""Tables of scored systems: data frames first, then cells of text, then a format.

All functions read a view of the results (`experiments.results.schema`), so tables can be made again from results.json.
Scores are fractions in frames and CSV, and per cent in cells.

- `comparison_tables`: every table of a comparison. The tables of one paper are in the folder of its experiment.
- `to_text`, `to_markdown`, `to_latex`, `to_csv`: a `Table` as text.
- frames: one fact a row. table: `Table`, its cells, notes and text formats. setting, scores, published: the tables.
"""

from __future__ import annotations

from experiments.papers import papers_on
from experiments.results.measurements import OVERALL, TAB
from experiments.results.view import View
from experiments.tables.published import published_tables
from experiments.tables.scores import (
    ERROR_NAMES,
    confusion_table,
    embedding_table,
    error_table,
    example_table,
    fraction_table,
    identifier_table,
    interval_table,
    overview_table,
    pair_table,
    replicate_table,
    score_table,
)
from experiments.tables.setting import corpus_table, settings_table, sweep_table, time_table, vocabulary_table
from experiments.tables.table import Table, score_notes, to_csv, to_latex, to_markdown, to_text

__all__ = [
    "ERROR_NAMES",
    "OVERALL",
    "Table",
    "comparison_tables",
    "confusion_table",
    "corpus_table",
    "embedding_table",
    "error_table",
    "example_table",
    "fraction_table",
    "identifier_table",
    "interval_table",
    "overview_table",
    "pair_table",
    "published_tables",
    "replicate_table",
    "score_notes",
    "score_table",
    "settings_table",
    "sweep_table",
    "time_table",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_text",
    "vocabulary_table",
]


def comparison_tables(view: View, *, published: bool) -> dict[str, Table]:
    """Tables of trained models that a view has data for, by name, in order.

    Args:
        view: the scored systems.
        published: add the scores that papers print of these models.
    """
    comparison, systems = view["comparison"], view["systems"]
    makers = {
        "scores": (score_table, True),
        "matches": (overview_table, True),
        "identifiers": (identifier_table, (view["measurements"]["kind"] == TAB).any()),
        "replicates": (replicate_table, any(len(found["seeds"]) > 1 for found in systems.values())),
        "intervals": (interval_table, bool(comparison and comparison["intervals"])),
        "significance": (pair_table, bool(comparison and comparison["pairs"])),
        "embeddings": (embedding_table, bool(view["embeddings"])),
        "vocabulary": (vocabulary_table, bool(view["embeddings"])),
        "fractions": (fraction_table, not view["fractions"].empty),
        "sweep": (sweep_table, not view["sweep"].empty),
        "errors": (error_table, True),
        "time": (time_table, True),
    }
    tables = {name: make(view) for name, (make, asked) in makers.items() if asked}
    if published:
        tables |= published_tables(view, papers_on({found["model"] for found in systems.values()}))
    return tables | {f"confusions-{system}": confusion_table(view, system) for system in systems}
