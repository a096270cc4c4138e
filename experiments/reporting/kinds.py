"""The kinds of experiments as the report sees them: one `Kind` each, and no distinction between them elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crfdeid.documents import PHI
from crfdeid.registry import import_string
from experiments.reporting.findings import sentences
from experiments.reporting.joint import joint_cautions, joint_sentences
from experiments.reporting.private import private_cautions, private_sentences
from experiments.reporting.transfer import transfer_cautions, transfer_sentences
from experiments.results.checks import kind_of
from experiments.results.folder import Folder
from experiments.results.schema import COMPARE, JOINT, PRIVATE, TRANSFER
from experiments.tables import Table, comparison_tables, corpus_table, example_table, settings_table
from experiments.tables.frames import Results
from experiments.tables.joint import concept_corpus_table, joint_tables
from experiments.tables.layers import of_layer
from experiments.tables.private import private_tables
from experiments.tables.transfer import corpora_table, transfer_tables

NAMES_IN_TITLE = 3

Tables = dict[str, Table]


def _corpus(results: Results) -> Tables:
    return {"corpus": corpus_table(results["corpus"])}


def _phi_alone(results: Results) -> dict[str, Results]:
    return {PHI: results}


def _no_text(results: Results, texts: Mapping[str, str], folder: Folder) -> Tables:
    return {}


def _models(results: Results) -> str:
    return _heading(list(results["models"]), results)


def _heading(systems: Sequence[str], results: Results) -> str:
    compared = ", ".join(systems) if len(systems) <= NAMES_IN_TITLE else f"{len(systems)} systems"
    return f"{compared} on {results['corpus']['name']}"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Content of the report of one kind of experiment. All functions take the content of results.json.

    Args:
        tables: tables of trained models that there are data for, with ``published`` next to scores of papers.
        plots: "module:function" of the plots, imported on use because it imports matplotlib.
        sentences: the findings.
        cautions: limits of the findings, beyond those of any comparison.
        corpora: tables of the corpus, which need no trained model.
        text_tables: tables that quote the scored texts.
        heading: the report's title.
        views: results of each annotation layer in the form of a comparison's.
        ranks: rank the systems by the F of their first layer.
    """

    tables: Callable[..., Tables]
    plots: str
    sentences: Callable[[Results], list[str]]
    cautions: Callable[[Results], list[str]] = field(default=lambda results: [])
    corpora: Callable[[Results], Tables] = _corpus
    text_tables: Callable[[Results, Mapping[str, str], Folder], Tables] = _no_text
    heading: Callable[[Results], str] = _models
    views: Callable[[Results], dict[str, Results]] = _phi_alone
    ranks: bool = True


def _private_tables(results: Results, *, published: bool) -> Tables:
    return private_tables(results, published=published) | comparison_tables(results, published=False)


def _joint_corpora(results: Results) -> Tables:
    return _corpus(results) | {"concepts": concept_corpus_table(results["corpus"])}


def _joint_heading(results: Results) -> str:
    return _heading(results["tables"]["compared"], results)


def _layers(results: Results) -> dict[str, Results]:
    return {layer: of_layer(results, layer) for layer in results["layers"]}


def _transfer_corpora(results: Results) -> Tables:
    return {"corpora": corpora_table(results["corpora"], results["corpus"]["notices"])}


def _transfer_heading(results: Results) -> str:
    return f"{', '.join(results['matrix'])} between {results['corpus']['name']}"


def _transfer_examples(results: Results, texts: Mapping[str, str], folder: Folder) -> Tables:
    return {"table-6": example_table(results, texts, folder.gold(), folder.predictions)}


REPORT_KINDS = {
    COMPARE: Kind(tables=comparison_tables, plots="experiments.plots:comparison_plots", sentences=sentences),
    JOINT: Kind(
        tables=joint_tables,
        plots="experiments.plots:layer_plots",
        sentences=joint_sentences,
        cautions=joint_cautions,
        corpora=_joint_corpora,
        heading=_joint_heading,
        views=_layers,
    ),
    PRIVATE: Kind(
        tables=_private_tables,
        plots="experiments.plots:all_private_plots",
        sentences=private_sentences,
        cautions=private_cautions,
    ),
    TRANSFER: Kind(
        tables=transfer_tables,
        plots="experiments.plots.scores:transfer_plots",
        sentences=transfer_sentences,
        cautions=transfer_cautions,
        corpora=_transfer_corpora,
        text_tables=_transfer_examples,
        heading=_transfer_heading,
        ranks=False,
    ),
}
"""Value of ``experiment`` in results.json -> its kind."""


def report_kind(results: Results) -> Kind:
    """The kind of experiment that results are of."""
    return REPORT_KINDS[kind_of(results)]


def setup_tables(results: Results) -> Tables:
    """Tables that need no trained model: corpus and settings, by name, in order."""
    return report_kind(results).corpora(results) | {"settings": settings_table(results["settings"])}


def result_tables(results: Results, *, published: bool = False) -> Tables:
    """Tables of trained models that the results have data for, by name, in order.

    Args:
        results: the content of results.json.
        published: add the scores that papers print of these models.
    """
    return report_kind(results).tables(results, published=published)


def plots(results: Results) -> dict[str, Any]:
    """Every plot (a matplotlib figure) that the results have data for, by the name of its files, in order.

    A figure's label (``figure.get_label()``) describes it in words.
    """
    from experiments.plots.style import house_style  # noqa: PLC0415  Imports matplotlib.

    with house_style():
        found: dict[str, Any] = import_string(report_kind(results).plots)(results)
        return found
