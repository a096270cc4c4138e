"""Training and scoring of the experiment on PHI and concepts: each cell in each of its layers, then the tests."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from crfdeid.corpora.layers import Regions, exclude_regions, read_excluded_regions, select_layer
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import CONCEPT, PHI, Document, LabelledSentence, Span
from crfdeid.ensembles.cascade import CascadeTagger, as_concept_sentence, with_layer
from crfdeid.evaluation import find_errors, score_entities, summarise_errors
from crfdeid.evaluation.evaluate import decode_split, score_all
from crfdeid.evaluation.tokens import memorised_phi_rate
from crfdeid.tagger import LayeredTagger, Tagger, VocabularyProbe, require_layers
from experiments.running.device import choose_device, choose_jobs
from experiments.running.embeddings import OnStep, prepare_embeddings
from experiments.running.joint.systems import (
    ALONE,
    CONCATENATED,
    CONCEPT_ANNOTATED_TEXT,
    PIPELINE,
    JointExperiment,
    family_groups,
    layers_of,
    reads_gold,
    systems_of,
)
from experiments.running.prepared import Prepared, models_folder, read_corpus, settings_by_system
from experiments.running.runs import Found, OnProgress, Run, Trained, fit_cells
from experiments.running.settings import RANDOM
from experiments.running.significance import compare_systems
from experiments.running.systems import Cell, System, Vectors, make_tagger, plain_cells, profile_of, traits_of

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

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
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

    def forget_parts(self) -> None:
        """Remove the parts of pipelines, once all pipelines are saved."""
        if self.parts_folder is not None:
            shutil.rmtree(self.parts_folder, ignore_errors=True)

    def _evaluated(self, trained: Trained, corpus: Corpus) -> Run:
        """Tag the scored documents and score each layer."""
        cell, tagger = trained.cell, trained.tagger
        record, spans = trained.tagged(partial(spans_of, system=cell.system), corpus.scored)
        if PHI in spans:
            trained.save(self.models_folder)
        gold = {layer: gold_of(corpus.scored, layer) for layer in spans}
        found = {
            layer: Found(spans[layer], tuple(find_errors(gold[layer], spans[layer], known_words=trained.known_words)))
            for layer in spans
        }
        scores = self._scores(gold, spans)
        record |= {
            "dev_f1": _dev_f1(tagger, corpus.dev, cell.system)
            if corpus.test is not None
            else _strict_f1(scores, spans),
            "scores": scores,
            "errors": {layer: summarise_errors(one.errors) for layer, one in found.items()},
            "phi_held": _held(tagger, corpus.train),
            "learning_curve": trained.curve(),
        }
        return Run(cell, record, found)

    def _scores(self, gold: Mapping[str, list[Document]], spans: Mapping[str, PredictedSpans]) -> dict[str, Any]:
        """Every kind of score of each layer; concepts again without the regions that have no annotation."""
        scores = {layer: score_all(gold[layer], spans[layer]) for layer in spans}
        if self.unsourced is not None:
            scores[CONCEPT_ANNOTATED_TEXT] = score_all(*exclude_regions(gold[CONCEPT], spans[CONCEPT], self.unsourced))
        return scores


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


def _strict_f1(scores: Mapping[str, Any], layers: Iterable[str]) -> dict[str, float]:
    return {layer: scores[layer]["entity_strict"]["micro"]["f1"] for layer in layers}


def _dev_f1(tagger: Tagger, dev: Split, system: System) -> dict[str, float]:
    """Strict F of each layer on the development documents."""
    spans = spans_of(tagger, dev, system)
    return {layer: score_entities(gold_of(dev, layer), found).micro.f1 for layer, found in spans.items()}


def _held(tagger: Tagger, train: Split) -> Mapping[str, int] | None:
    """Number of words that occur in training only as PHI and that the model of concepts has stored."""
    if not isinstance(tagger, VocabularyProbe):
        return None
    share = memorised_phi_rate(tagger, train.sentences)
    return {"held": share.count, "words": share.total}


JointPrepared: TypeAlias = Prepared[JointExperiment, JointPlan]
"""This experiment, ready to be trained."""

ROWS = "table_5"
"""Key of the significance of differences between the rows of Table 5."""


def prepare(experiment: JointExperiment, *, on_step: OnStep) -> JointPrepared:
    """Choose a device, check the settings, read the corpus and make the word vectors.

    Args:
        experiment: the settings.
        on_step: called for each epoch of word vectors that are trained.

    Raises:
        DataError: data cannot be read, or notes without PHI or without concepts.
        UsageError: a setting is invalid.
    """
    started = time.perf_counter()
    systems = systems_of(experiment)
    device = choose_device(experiment.device, map(traits_of, systems.every))
    settings = settings_by_system(systems.every, experiment.profile)  # refuses invalid values at once
    folder = models_folder(experiment.output.folder)
    read = read_corpus(experiment.corpus, notices=experiment.notices)
    for system in systems.compared:
        require_layers(system.name, {*layers_of(system), CONCEPT}, read.corpus.train.sentences)
    unsourced = _unsourced(experiment, read.corpus)
    used = [system.embedding for system in systems.table_4.values()]
    # The row with characters has random vectors, whatever others are compared.
    vectors = replace(experiment.vectors, sources={**experiment.vectors.sources, RANDOM: RANDOM})
    embeddings = prepare_embeddings(
        used, read.corpus, vectors, seed=experiment.corpus.seed, on_step=on_step, joined=CONCATENATED
    )
    parts = None if folder is None else folder.with_name("parts")
    plan = JointPlan(experiment.profile, embeddings.vectors, folder, unsourced, parts)
    groups = family_groups(plain_cells(systems.every, experiment.seeds))
    jobs = choose_jobs(experiment.jobs, len(groups), device)
    return Prepared(experiment, *read, systems.every, embeddings, plan, device, jobs, settings, started)


def _unsourced(experiment: JointExperiment, corpus: Corpus) -> Regions | None:
    if experiment.unsourced is None:
        return None
    return read_excluded_regions(experiment.unsourced, gold_of(corpus.scored, CONCEPT))


def significance(prepared: JointPrepared, runs: Sequence[Run]) -> dict[str, Any]:
    """For each layer, every system against the pipeline, or else the first; for Table 5, each row against the first."""
    systems = systems_of(prepared.experiment)
    found = {}
    for layer in (PHI, CONCEPT, *([CONCEPT_ANNOTATED_TEXT] if prepared.plan.unsourced is not None else [])):
        names = [system.name for system in systems.compared if layer != PHI or PHI in layers_of(system)]
        found[layer] = _against(prepared, runs, names, PIPELINE, layer)
    if systems.table_5:
        found[ROWS] = _against(prepared, runs, [row.name for row in systems.table_5], ALONE, CONCEPT)
    return found


def _against(
    prepared: JointPrepared, runs: Sequence[Run], names: Sequence[str], reference: str, scored: str
) -> dict[str, Any]:
    """Systems against one of them, by the spans that their runs predict in a layer."""
    layer = CONCEPT if scored == CONCEPT_ANNOTATED_TEXT else scored
    gold = gold_of(prepared.corpus.scored, layer)
    by_name = {name: [run.layers[layer].predictions for run in runs if run.cell.system.name == name] for name in names}
    if scored == CONCEPT_ANNOTATED_TEXT and prepared.plan.unsourced is not None:
        stretches = prepared.plan.unsourced
        by_name = {
            name: [exclude_regions(gold, found, stretches).predicted for found in all_found]
            for name, all_found in by_name.items()
        }
        gold = exclude_regions(gold, {}, stretches).gold
    first = reference if reference in names else next(iter(names), "")
    pairs = [(first, name) for name in names if name != first]
    permutations = prepared.experiment.permutations
    return compare_systems(gold, by_name, permutations=permutations, pairs=pairs, by_type=False)
