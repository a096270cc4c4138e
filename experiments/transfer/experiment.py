"""The experiment on transfer: each model trained on each corpus, and tested on all of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid import label_schemes
from crfdeid.corpora.splits import Corpus
from crfdeid.documents import PHI, Document, Span, tokens_of
from crfdeid.errors import OptionConflictError, SettingError
from crfdeid.evaluation import (
    Counts,
    OperatingPoint,
    Predictions,
    bootstrap_f1,
    count_token_pairs,
    operating_points,
    percentile_interval,
    score_tokens,
    summarise_errors,
    token_probabilities,
    token_scores,
)
from crfdeid.evaluation.evaluate import predict_spans, score_all
from crfdeid.evaluation.tokens import missed_tokens, token_types
from crfdeid.tagger import Tagger
from experiments.core.devices import choose_device
from experiments.core.embeddings import RANDOM, OnStep
from experiments.core.experiment import Evaluated, Prepared, Report, fit, models_folder, settings_by_system
from experiments.core.systems import (
    Cell,
    System,
    make_systems,
    make_tagger,
    plain_cells,
    profile_of,
    require_phi_alone,
    require_profile,
    traits_of,
)
from experiments.core.training import (
    Found,
    OnProgress,
    Run,
    Trained,
    fit_cells,
    strict_f1,
    with_measurements,
)
from experiments.results.measurements import Row, error_rows, measure_rows, rows_in, score_rows
from experiments.results.schema import Extras, Results
from experiments.transfer.options import (
    BINARY,
    DEFAULT,
    DESCRIPTION,
    EXAMPLES,
    LEVEL,
    NAME,
    TransferArguments,
    joined,
    options,
    read,
    read_settings,
)

if TYPE_CHECKING:  # It takes pandas.
    from experiments.tables import Table

__all__ = ["DESCRIPTION", "EXAMPLES", "EXTRAS", "corpus_tables", "evaluate", "fit", "options", "read_settings"]
__all__ += ["report", "systems"]

_ENDS = ("precision", "recall", "f1", "low", "high", "precision_low", "precision_high", "recall_low", "recall_high")


def _untested(results: Results) -> Iterable[str]:
    counted = {
        (row["system"], row["seed"], row["dataset"])
        for row in results["measurements"]
        if row["measure"] == "adjacent_found"
    }
    for name, system in results["systems"].items():
        seeds = [run["seed"] for run in results["runs"] if run["system"] == name]
        if {*results["datasets"]} - system["tested"].keys() or any(
            (name, seed, dataset) not in counted for seed in seeds for dataset in results["datasets"]
        ):
            yield f"systems.{name} was not tested on every dataset"


EXTRAS = Extras(
    command={"types": str, "samples": int},
    system={
        "label": str,  # the model, with its encoder where there are several
        "encoder?": str,  # name and size
        "tested": {str: dict.fromkeys(_ENDS, float)},  # by dataset, with ends of intervals
    },
    check=_untested,
)
REQUIRED = (1.0, 0.999, 0.997, 0.99)
"""The sensitivities of section 3.4 and Table 5."""

_ENCODED = "bert"

Pairs = Counter[tuple[str, str]]


@dataclass(frozen=True)
class TransferPlan:
    """Training and scoring of cells.

    Args:
        profile: of each model's settings, where it has that profile.
        corpora: each corpus by its name.
        trained_on: name of a system -> name of its training corpus.
        models_folder: for fitted models, as ``<system>/<seed>/``; None to save none.
    """

    profile: str
    corpora: Mapping[str, Corpus]
    trained_on: Mapping[str, str]
    models_folder: Path | None = None

    def fit(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train cells of one system together, then tag the scored documents of all corpora."""
        own = self.corpora[self.trained_on[cells[0].system.name]]
        taggers = [make_tagger(cell, profile_of(cell.system, self.profile), {}) for cell in cells]
        trained = fit_cells(cells, taggers, own.train.sentences, own.dev.sentences, on_progress)
        return [self._evaluated(one, own, corpus) for one in trained]

    def _evaluated(self, trained: Trained, own: Corpus, corpus: Corpus) -> Run:
        record, predictions = trained.tagged(predict_spans, corpus.scored)
        trained.save(self.models_folder)
        errors = trained.errors(corpus.scored.documents, predictions)
        rows = []
        for tested in self.corpora.values():
            gold = tested.scored.documents
            found = {document.id: predictions[document.id] for document in gold}
            scores = [*score_rows(score_all(gold, found)), *error_rows(summarise_errors(trained.errors(gold, found)))]
            rows += rows_in([*scores, *measure_rows("missed", missed_in(gold, found))], dataset=tested.name, layer=PHI)
        on_own = [
            *measure_rows("dev", {"f1": strict_f1(trained.tagger, own.dev)}),
            *points(trained.tagger, own.scored.documents, predictions),
        ]
        rows += rows_in(on_own, dataset=own.name, layer=PHI)
        return Run(trained.cell, with_measurements(record, rows), {PHI: Found(predictions, errors)})


def points(tagger: Tagger, documents: Sequence[Document], predictions: Mapping[str, Sequence[Span]]) -> Iterator[Row]:
    """Table 5: thresholds for the paper's sensitivities, and the most probable tags.

    Thresholds are chosen on the documents that are scored, as the caption says.

    Args:
        tagger: a trained model.
        documents: the test documents of its training corpus.
        predictions: its predicted spans in them, by id.
    """
    probabilities, is_phi = token_probabilities(tagger, documents)
    found = operating_points(probabilities, is_phi, required=REQUIRED)
    own = {document.id: predictions[document.id] for document in documents}
    default = OperatingPoint(None, None, score_tokens(documents, own, binary=True).micro, len(is_phi))
    for point in (*found, default):
        values = point.to_dict()
        required = values.pop("required")
        yield from measure_rows("operating_points", values, DEFAULT if required is None else str(required))


class Entry(NamedTuple):
    """A model on a corpus.

    Attributes:
        model: its name in tables, with that of its encoder if there are several.
        trained_on: the training corpus.
        system: the system.
    """

    model: str
    trained_on: str
    system: System


def entries_of(settings: TransferArguments) -> tuple[Entry, ...]:
    """Every model on every corpus.

    Raises:
        UsageError: a setting or a profile that no model has; a model that tags more than PHI; encoders without the
            model that reads with them, or two of one name.
    """
    require_profile(settings.profile, settings.models)
    made = make_systems(settings.models, [RANDOM], dict(settings.changes))
    require_phi_alone(made)
    systems = list(_with_encoders(made, settings))
    return tuple(
        Entry(system.name, source.name, replace(system, name=f"{system.name}@{source.name}", embedding=None))
        for system in systems
        for source in settings.sources
    )


def _with_encoders(systems: Iterable[System], settings: TransferArguments) -> Iterable[System]:
    """The systems, with one for each encoder instead of bert."""
    names = [folder.resolve().name for folder in settings.encoders]
    if names and _ENCODED not in settings.models:
        raise OptionConflictError(f"--encoders: no model here reads with an encoder: give --models {_ENCODED}")
    if len(set(names)) < len(names):
        raise SettingError("--encoders: two folders have one name: rename one, tables tell them apart by it")
    for system in systems:
        if system.model != _ENCODED or not names:
            yield system
            continue
        for name, folder in zip(names, settings.encoders, strict=True):
            own = {**dict(system.settings), "encoder": str(folder)}
            yield replace(system, name=f"{_ENCODED}-{name}", settings=tuple(own.items()))


def systems(settings: TransferArguments, *, on_step: OnStep) -> Prepared[TransferArguments, TransferPlan]:
    """Choose a device, check the settings, and read the corpora."""
    entries = entries_of(settings)
    found = tuple(entry.system for entry in entries)
    device = choose_device(settings.device, map(traits_of, found))
    full_settings = settings_by_system(found, settings.profile)  # refuses invalid values at once
    folder = models_folder(settings.output.folder)
    began = time.perf_counter()
    keep_unknown = settings.types == BINARY
    corpora = [read(one, keep_unknown=keep_unknown, share=settings.share) for one in settings.sources]
    datasets = {one.name: one.statistics() for one in corpora}
    seconds = time.perf_counter() - began
    trained_on = {entry.system.name: entry.trained_on for entry in entries}
    cells = plain_cells(found, settings.seeds)
    return Prepared(
        settings=settings,
        corpus=joined(corpora, types=settings.types),
        datasets=datasets,
        corpus_seconds=seconds,
        systems=found,
        cells=cells,
        plan=TransferPlan(settings.profile, {one.name: one for one in corpora}, trained_on, folder),
        device=device,
        full_settings=full_settings,
        about={entry.system.name: _about(entry, settings) for entry in entries},
    )


def _about(entry: Entry, settings: TransferArguments) -> dict[str, str]:
    """Entry of a system in results.json."""
    found = {"label": entry.model, "trained_on": entry.trained_on}
    if entry.system.model != _ENCODED:
        return found
    tagger: Any = make_tagger(Cell(entry.system, settings.seeds[0]), profile_of(entry.system, settings.profile), {})
    return {**found, "encoder": tagger.describe_encoder()}


def evaluate(prepared: Prepared[TransferArguments, TransferPlan], runs: Sequence[Run]) -> Evaluated:
    """Table 4: scores of each system in the test documents of each corpus, over its runs, with intervals."""
    settings = prepared.settings
    documents: dict[str, list[Document]] = {name: [] for name in prepared.datasets}
    for document in prepared.corpus.scored.documents:
        documents[document.id.partition("/")[0]].append(document)
    tested: dict[str, dict[str, Any]] = {}
    for system in prepared.systems:
        found = [run.predictions for run in runs if run.cell.system == system]
        cells = {
            name: measured(pairs_by_document(gold, found), settings.types, samples=settings.samples)
            for name, gold in documents.items()
        }
        tested[system.name] = {"tested": cells}
    return Evaluated({}, tested)


def corpus_tables(results: Results) -> dict[str, Table]:
    """Counts of each corpus."""
    from experiments.transfer.report import corpora_table  # noqa: PLC0415  Imports pandas.

    return {"corpora": corpora_table(results)}


def report(results: Results, *, published: bool) -> Report:
    """Tables 2 to 6, matrices, and findings."""
    from experiments.transfer.report import transfer_report  # noqa: PLC0415  Imports pandas and matplotlib.

    return transfer_report(results, published=published)


def pairs_by_document(gold: Sequence[Document], runs: Sequence[Predictions]) -> list[Pairs]:
    """For each document, the number of tokens of each pair of gold and predicted type, over all runs."""
    return [
        sum((count_token_pairs([document], {document.id: run[document.id]}) for run in runs), Pairs())
        for document in gold
    ]


def missed_in(gold: Sequence[Document], found: Predictions) -> dict[str, int]:
    """Section 4.2: unmarked tokens of PHI, and those of them directly before or after a marked token of PHI."""
    missed = []
    for document in gold:
        tokens = tokens_of(document)
        missed += missed_tokens(token_types(tokens, document.spans), token_types(tokens, found[document.id]))
    return {"tokens": len(missed), "adjacent_found": sum(token.adjacent_found for token in missed)}


def counts_of(pairs: Mapping[tuple[str, str], int], types: str) -> Counts:
    """True positives, false positives and false negatives among tokens.

    Args:
        pairs: gold and predicted type -> tokens.
        types: the compared types, one of `experiments.transfer.options.COMPARED_TYPES`.
    """
    if types == BINARY:
        return token_scores(pairs, binary=True).micro
    scores = token_scores(pairs)
    return scores.by_type.get(label_schemes.NAME, Counts()) if types == NAME else scores.micro


def measured(tested: Sequence[Pairs], types: str, *, samples: int) -> dict[str, float]:
    """A cell of Table 4: precision (PPV), recall (sensitivity) and F, with intervals by drawing documents.

    Args:
        tested: from `pairs_by_document`.
        types: the compared types.
        samples: corpora drawn.

    Returns:
        "precision", "recall", "f1"; "low" and "high", the ends of F's interval; "precision_low" and so on.
    """
    counts = [counts_of(pairs, types) for pairs in tested]
    whole = sum(counts, Counts())
    found = {"precision": whole.precision, "recall": whole.recall, "f1": whole.f1}
    lows, highs = percentile_interval(bootstrap_f1(_as_f1(counts), samples=samples), level=LEVEL)
    for column, name in enumerate(("", "precision_", "recall_")):
        found |= {f"{name}low": lows[column].item(), f"{name}high": highs[column].item()}
    return found


def _as_f1(counts: Sequence[Counts]) -> NDArray[np.int64]:
    """Counts whose F is the F, the precision and the recall of each document: [N, 3, 3].

    F is 2 tp / (2 tp + fp + fn): precision where as many are missed as are wrong, recall the other way round.
    """
    rows = [((c.tp, c.fp, c.fn), (c.tp, c.fp, c.fp), (c.tp, c.fn, c.fn)) for c in counts]
    return np.array(rows, np.int64)
