"""The experiment on PHI and concepts: each cell trained and scored in each of its layers, then the tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.corpora.layers import Regions, exclude_regions, read_excluded_regions, select_layer
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import CONCEPT, PHI, Document, LabelledSentence, Span
from crfdeid.ensembles.cascade import CascadeTagger, as_concept_sentence, with_layer
from crfdeid.evaluation import score_entities, summarise_errors
from crfdeid.evaluation.evaluate import decode_split, score_all
from crfdeid.evaluation.significance import compare_systems
from crfdeid.evaluation.tokens import memorised_phi_rate
from crfdeid.tagger import LayeredTagger, Tagger, VocabularyProbe, require_layers
from experiments.core.devices import choose_device
from experiments.core.embeddings import RANDOM, OnStep, prepare_embeddings
from experiments.core.experiment import (
    Evaluated,
    Prepared,
    Report,
    Train,
    models_folder,
    read_corpus,
    settings_by_system,
)
from experiments.core.systems import Cell, System, Vectors, make_tagger, plain_cells, profile_of, traits_of
from experiments.core.training import (
    Found,
    OnProgress,
    Run,
    Trained,
    fit_cells,
    with_measurements,
)
from experiments.joint.options import (
    ALONE,
    CONCATENATED,
    DESCRIPTION,
    EXAMPLES,
    PAPERS_PIPELINE,
    PIPELINE,
    JointArguments,
    family_groups,
    layers_of,
    options,
    read_settings,
    reads_gold,
    systems_of,
)
from experiments.papers import LANGE2020
from experiments.results.measurements import error_rows, measure_rows, rows_in, score_rows
from experiments.results.schema import CONCEPT_ANNOTATED_TEXT, Extras, Results

if TYPE_CHECKING:  # It takes pandas.
    from experiments.tables import Table

__all__ = ["DESCRIPTION", "EXAMPLES", "EXTRAS", "corpus_tables", "evaluate", "fit", "options", "read_settings"]
__all__ += ["report", "systems"]

EXTRAS = Extras(
    system={
        "hides_phi": bool,
        "compared": bool,  # in Tables 2 and 3
        "table_4": (str, None),  # name of its row
        "table_5": ({"learns_from": str, "reads": str}, None),
    },
)
ROWS = "table_5"
"""Name of the comparison of the rows of Table 5."""

PredictedSpans = dict[str, list[Span]]


@dataclass(frozen=True)
class JointPlan:
    """Training and scoring of cells.

    Args:
        profile: of each model's settings, where it has that profile.
        vectors: the word vectors of the experiment.
        models_folder: for fitted models of both layers, as ``<system>/<seed>/``; None to save none.
        unsourced: regions of the scored documents without annotated concepts; None if unknown.
        parts_folder: for the models that pipelines are made of, as ``<seed>/...``, until all pipelines of a seed are
            done; None to save none.
    """

    profile: str = "default"
    vectors: Vectors = field(default_factory=dict)
    models_folder: Path | None = None
    unsourced: Regions | None = None
    parts_folder: Path | None = None

    def fit(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train cells of one model together, then tag and score with each."""
        taggers = [make_tagger(cell, profile_of(cell.system, self.profile), self.vectors) for cell in cells]
        train, dev = (to_learn(taggers[0], split.sentences) for split in (corpus.train, corpus.dev))
        trained = fit_cells(cells, taggers, train, dev, on_progress, fit=self._fit_of(cells[0], taggers[0]))
        return [self._evaluated(one, corpus) for one in trained]

    def _fit_of(self, cell: Cell, tagger: Tagger) -> Callable[..., None]:
        """Function that trains taggers together; for pipelines, with a folder for their parts."""
        if not isinstance(tagger, CascadeTagger):
            return type(tagger).fit_many
        return partial(
            CascadeTagger.fit_many, checkpoint_dir=None if self.parts_folder is None else self.parts_folder / cell.name
        )

    def _evaluated(self, trained: Trained, corpus: Corpus) -> Run:
        """Tag the scored documents and score each layer; concepts again without the regions that have no annotation.

        "phi_held" counts the words that occur in training only as PHI, and those that the model of concepts has stored.
        """
        cell, tagger = trained.cell, trained.tagger
        record, spans = trained.tagged(partial(spans_of, system=cell.system), corpus.scored)
        if PHI in spans:
            trained.save(self.models_folder)
        gold = {layer: gold_of(corpus.scored, layer) for layer in spans}
        found = {layer: Found(spans[layer], trained.errors(gold[layer], spans[layer])) for layer in spans}
        scores = {layer: score_all(gold[layer], spans[layer]) for layer in spans}
        dev_f1 = (
            {layer: scores[layer]["entity_strict"]["micro"]["f1"] for layer in spans}
            if corpus.test is None
            else _dev_f1(tagger, corpus.dev, cell.system)
        )
        rows = []
        for layer in spans:
            errors = error_rows(summarise_errors(found[layer].errors))
            own = [*measure_rows("dev", {"f1": dev_f1[layer]}), *score_rows(scores[layer]), *errors]
            rows += rows_in(own, dataset=corpus.name, layer=layer)
        if self.unsourced is not None:
            sourced = score_all(*exclude_regions(gold[CONCEPT], spans[CONCEPT], self.unsourced))
            rows += rows_in(score_rows(sourced), dataset=corpus.name, layer=CONCEPT_ANNOTATED_TEXT)
        if isinstance(tagger, VocabularyProbe):
            share = memorised_phi_rate(tagger, corpus.train.sentences)
            rows += rows_in(measure_rows("phi_held", {"held": share.count, "words": share.total}))
        return Run(cell, with_measurements(record, rows), found)


def to_learn(tagger: Tagger, sentences: Sequence[LabelledSentence]) -> list[LabelledSentence]:
    """Training sentences of a model: with all layers, or with concepts alone for a model of one layer."""
    if isinstance(tagger, LayeredTagger):
        return list(sentences)
    return [as_concept_sentence(item, item.sentence) for item in with_layer(sentences, CONCEPT)]


def spans_of(tagger: Tagger, split: Split, system: System) -> dict[str, PredictedSpans]:
    """Predicted spans in each layer of a system, by document id; only documents with gold annotation of the layer."""
    sentences = [item.sentence for item in split.sentences]
    if isinstance(tagger, LayeredTagger):
        gold = [item.layer(PHI) for item in split.sentences] if reads_gold(system) else None
        tags = tagger.predict_layers(sentences, phi=gold)
    else:
        tags = {CONCEPT: tagger.predict(sentences)}
    return {
        layer: {
            document.id: spans
            for document, spans in zip(split.documents, decode_split(tags[layer], split).values(), strict=True)
            if layer in document.annotated
        }
        for layer in layers_of(system)
    }


def gold_of(split: Split, layer: str) -> list[Document]:
    """Documents with gold annotation of a layer, with its spans alone."""
    return [select_layer(document, layer) for document in split.annotated(layer).documents]


def _dev_f1(tagger: Tagger, dev: Split, system: System) -> dict[str, float]:
    """Strict F of each layer on the development documents."""
    spans = spans_of(tagger, dev, system)
    return {layer: score_entities(gold_of(dev, layer), found).micro.f1 for layer, found in spans.items()}


def systems(settings: JointArguments, *, on_step: OnStep) -> Prepared[JointArguments, JointPlan]:
    """Choose a device, check the settings, read the corpus and make the word vectors."""
    found = systems_of(settings)
    device = choose_device(settings.device, map(traits_of, found.every))
    full_settings = settings_by_system(found.every, settings.profile)  # refuses invalid values at once
    folder = models_folder(settings.output.folder)
    read = read_corpus(settings.corpus, notices=settings.notices)
    for system in found.compared:
        require_layers(system.name, {*layers_of(system), CONCEPT}, read.corpus.train.sentences)
    unsourced = _unsourced(settings, read.corpus)
    used = [system.embedding for system in found.table_4.values()]
    # The row with characters has random vectors, whatever others are compared.
    vectors = replace(settings.vectors, sources={**settings.vectors.sources, RANDOM: RANDOM})
    embeddings = prepare_embeddings(
        used, read.corpus, vectors, seed=settings.corpus.seed, on_step=on_step, joined=CONCATENATED
    )
    parts = None if folder is None else folder.with_name("parts")
    cells = plain_cells(found.every, settings.seeds)
    return Prepared(
        settings=settings,
        **read._asdict(),
        systems=found.shown,
        cells=cells,
        embeddings=embeddings,
        plan=JointPlan(settings.profile, embeddings.vectors, folder, unsourced, parts),
        device=device,
        full_settings=full_settings,
        about=found.describe(),
        group=family_groups,
    )


def _unsourced(settings: JointArguments, corpus: Corpus) -> Regions | None:
    if settings.unsourced is None:
        return None
    return read_excluded_regions(settings.unsourced, gold_of(corpus.scored, CONCEPT))


def fit(
    prepared: Prepared[JointArguments, JointPlan], train: Train
) -> tuple[Prepared[JointArguments, JointPlan], list[Run]]:
    """Train and score every cell, and remove the parts of pipelines, once all pipelines are saved."""
    runs = train(prepared.cells)
    if prepared.plan.parts_folder is not None:
        shutil.rmtree(prepared.plan.parts_folder, ignore_errors=True)
    return prepared, runs


def evaluate(prepared: Prepared[JointArguments, JointPlan], runs: Sequence[Run]) -> Evaluated:
    """For each layer, every system against the pipeline, or else the first; for Table 5, each row against the first.

    With the paper's profile, concepts are compared with those of its own pipeline.
    """
    found = systems_of(prepared.settings)
    compared = [system.name for system in found.compared]
    tagging_phi = [system.name for system in found.compared if PHI in layers_of(system)]
    against = partial(_against, prepared, runs)
    pipeline = PAPERS_PIPELINE if prepared.settings.profile == LANGE2020.name else PIPELINE
    comparisons = {PHI: against(tagging_phi, PIPELINE, PHI), CONCEPT: against(compared, pipeline, CONCEPT)}
    if prepared.plan.unsourced is not None:
        comparisons[CONCEPT_ANNOTATED_TEXT] = against(compared, pipeline, CONCEPT, without=prepared.plan.unsourced)
    if found.table_5:
        comparisons[ROWS] = against([row.name for row in found.table_5], ALONE, CONCEPT)
    return Evaluated(comparisons)


def _against(
    prepared: Prepared[JointArguments, JointPlan],
    runs: Sequence[Run],
    names: Sequence[str],
    reference: str,
    layer: str,
    *,
    without: Regions | None = None,
) -> dict[str, Any]:
    """Systems against one of them, by the spans that their runs predict in a layer, but for some regions."""
    gold = gold_of(prepared.corpus.scored, layer)
    by_name = {name: [run.layers[layer].predictions for run in runs if run.cell.system.name == name] for name in names}
    if without is not None:
        by_name = {
            name: [exclude_regions(gold, found, without).predicted for found in all_found]
            for name, all_found in by_name.items()
        }
        gold = exclude_regions(gold, {}, without).gold
    first = reference if reference in names else next(iter(names), "")
    pairs = [(first, name) for name in names if name != first]
    permutations = prepared.settings.permutations
    return compare_systems(gold, by_name, permutations=permutations, pairs=pairs, by_type=False)


def corpus_tables(results: Results) -> dict[str, Table]:
    """Counts of PHI and of concepts."""
    from experiments.joint.report import concept_corpus_table  # noqa: PLC0415  Imports pandas.
    from experiments.tables import corpus_table  # noqa: PLC0415

    (dataset,) = results["datasets"].values()
    return {"corpus": corpus_table(dataset), "concepts": concept_corpus_table(dataset)}


def report(results: Results, *, published: bool) -> Report:
    """Tables 2 to 5, plots of each layer, and the cost of hiding PHI."""
    from experiments.joint.report import joint_report  # noqa: PLC0415  Imports pandas and matplotlib.

    return joint_report(results, published=published)
