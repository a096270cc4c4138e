"""The tables of an experiment: data frames first, then cells of text, then a format.

All functions read the dictionary of results.json, so tables can be made again from the file. Scores are fractions in
frames and CSV, and per cent in cells.

- `setup_tables` and `result_tables`: every table that the results have data for, by the name of its files.
- `to_text`, `to_markdown`, `to_latex`, `to_csv`: a `Table` as text.
- frames: one fact a row. cells: `Table`, texts of cells, shared notes. setting, scores, errors, published: the tables;
  private, joint, transfer: those of these experiments. layers: results of one annotation layer. formats: text formats.
"""

from __future__ import annotations

from experiments.papers import papers_on
from experiments.results.checks import is_joint, is_private, is_transfer
from experiments.tables.cells import Table, score_notes
from experiments.tables.errors import ERROR_NAMES, confusion_table, error_table, example_table
from experiments.tables.formats import to_csv, to_latex, to_markdown, to_text
from experiments.tables.frames import OVERALL, Results
from experiments.tables.joint import concept_corpus_table, joint_tables
from experiments.tables.private import private_tables
from experiments.tables.published import published_tables
from experiments.tables.scores import (
    embedding_table,
    fraction_table,
    interval_table,
    overview_table,
    pair_table,
    replicate_table,
    score_table,
)
from experiments.tables.setting import corpus_table, settings_table, sweep_table, time_table, vocabulary_table
from experiments.tables.transfer import corpora_table, transfer_tables

__all__ = [
    "ERROR_NAMES",
    "OVERALL",
    "Results",
    "Table",
    "concept_corpus_table",
    "confusion_table",
    "corpora_table",
    "corpus_table",
    "embedding_table",
    "error_table",
    "example_table",
    "fraction_table",
    "interval_table",
    "overview_table",
    "pair_table",
    "published_tables",
    "replicate_table",
    "result_tables",
    "score_notes",
    "score_table",
    "settings_table",
    "setup_tables",
    "sweep_table",
    "time_table",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_text",
    "vocabulary_table",
]


def setup_tables(results: Results) -> dict[str, Table]:
    """Tables that need no trained model: corpus and settings, by name, in order."""
    if is_transfer(results):
        corpus = {"corpora": corpora_table(results["corpora"], results["corpus"]["notices"])}
        return corpus | {"settings": settings_table(results["settings"])}
    corpus = {"corpus": corpus_table(results["corpus"])}
    if is_joint(results):
        corpus["concepts"] = concept_corpus_table(results["corpus"])
    return corpus | {"settings": settings_table(results["settings"])}


def result_tables(results: Results, *, published: bool = False) -> dict[str, Table]:
    """Tables of trained models that the results have data for, by name, in order.

    Args:
        results: the content of results.json.
        published: add the scores that papers print of these models.
    """
    if is_joint(results):
        return joint_tables(results, published=published)
    if is_transfer(results):
        return transfer_tables(results, published=published)
    embeddings, significance = results["embeddings"], results["significance"]
    systems = results["models"]
    makers = {
        "scores": (score_table, True),
        "matches": (overview_table, True),
        "replicates": (replicate_table, any(len(found["runs"]) > 1 for found in systems.values())),
        "intervals": (interval_table, bool(significance and significance["intervals"])),
        "significance": (pair_table, bool(significance and significance["pairs"])),
        "embeddings": (embedding_table, bool(embeddings)),
        "vocabulary": (vocabulary_table, bool(embeddings)),
        "fractions": (fraction_table, bool(results["fractions"])),
        "sweep": (sweep_table, bool(results["sweep"])),
        "errors": (error_table, True),
        "time": (time_table, True),
    }
    tables = {name: make(results) for name, (make, asked) in makers.items() if asked}
    if is_private(results):
        tables = private_tables(results, published=published) | tables
    elif published:
        tables |= published_tables(results, papers_on({found["model"] for found in systems.values()}))
    return tables | {f"confusions-{system}": confusion_table(results, system) for system in systems}
