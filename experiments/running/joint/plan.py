"""A cell of the experiment on PHI and concepts: trained, and scored in each of its layers."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from crfdeid.corpora.layers import Regions, exclude_regions, select_layer
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import CONCEPT, PHI, Document, LabelledSentence, Span
from crfdeid.ensembles.cascade import CascadeTagger, as_concept_sentence, with_layer
from crfdeid.evaluation import find_errors, score_entities, summarise_errors
from crfdeid.evaluation.evaluate import decode_split, score_all
from crfdeid.evaluation.tokens import memorised_phi_rate
from crfdeid.registry import create
from crfdeid.tagger import LayeredTagger, Tagger, VocabularyProbe
from crfdeid.utils.folders import write_folder
from experiments.running.joint.settings import concept_annotated_text
from experiments.running.joint.systems import layers_of, reads_gold
from experiments.running.runs import Found, OnProgress, Run, Trained, fit_cells
from experiments.running.systems import Cell, System, Vectors, profile_of

Spans = dict[str, list[Span]]


@dataclass(frozen=True)
class JointPlan:
    """How every cell is trained.

    Args:
        profile: the settings that each model starts from, where it has them.
        vectors: the word vectors there are.
        models_folder: where fitted models of both layers are saved, as ``<system>/<seed>/``; None to save none.
        unsourced: the stretches of the scored documents whose concepts nobody annotated; None where that is not known.
        parts_folder: where the models that pipelines are made of are kept until all of a seed's are done, as
            ``<seed>/...``; None to keep none.
    """

    profile: str = "default"
    vectors: Vectors = field(default_factory=dict)
    models_folder: Path | None = None
    unsourced: Regions | None = None
    parts_folder: Path | None = None

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train cells of one model together, then tag and score with each."""
        taggers = [self.new_tagger(cell) for cell in cells]
        train, dev = (to_learn(taggers[0], split.sentences) for split in (corpus.train, corpus.dev))
        trained = fit_cells(cells, taggers, train, dev, on_progress, fit=self._fit_of(cells[0], taggers[0]))
        return [self._evaluated(one, corpus) for one in trained]

    def _fit_of(self, cell: Cell, tagger: Tagger) -> Callable[..., None]:
        """What trains taggers together; of pipelines with a folder for their parts."""
        if not isinstance(tagger, CascadeTagger):
            return type(tagger).fit_many
        return partial(
            CascadeTagger.fit_many, checkpoint_dir=None if self.parts_folder is None else self.parts_folder / cell.name
        )

    def forget_parts(self) -> None:
        """Remove what was kept of pipelines, once all that is made of it is kept."""
        if self.parts_folder is not None:
            shutil.rmtree(self.parts_folder, ignore_errors=True)

    def new_tagger(self, cell: Cell) -> Tagger:
        """A cell's tagger, untrained."""
        system = cell.system
        given = self.vectors.get((system.embedding, cell.fraction)) if system.embedding else None
        profile = profile_of(system, self.profile)
        return create(system.model, profile=profile, seed=cell.seed, overrides=system.overrides(), vectors=given)

    def _evaluated(self, trained: Trained, corpus: Corpus) -> Run:
        """Tag the scored documents and score each layer of what was found."""
        cell, tagger = trained.cell, trained.tagger
        started = time.perf_counter()
        spans = spans_of(tagger, corpus.scored, cell.system)
        seconds = time.perf_counter() - started
        if self.models_folder is not None and PHI in spans:
            write_folder(self.models_folder / cell.system.name / cell.name, tagger.save)
        gold = {layer: gold_of(corpus.scored, layer) for layer in spans}
        found = {
            layer: Found(spans[layer], tuple(find_errors(gold[layer], spans[layer], known_words=trained.known_words)))
            for layer in spans
        }
        scores = self._scores(gold, spans)
        record = {
            **trained.described(seconds, corpus.scored),
            "dev_f1": _dev_f1(tagger, corpus.dev, cell.system)
            if corpus.test is not None
            else _strict_f1(scores, spans),
            "scores": scores,
            "errors": {layer: summarise_errors(one.errors) for layer, one in found.items()},
            "phi_held": _held(tagger, corpus.train),
            "learning_curve": trained.curve(),
        }
        return Run(cell, record, found)

    def _scores(self, gold: Mapping[str, list[Document]], spans: Mapping[str, Spans]) -> dict[str, Any]:
        """Every kind of score of each layer; of concepts again without the stretches that nobody annotated."""
        scores = {layer: score_all(gold[layer], spans[layer]) for layer in spans}
        if self.unsourced is not None:
            scores[concept_annotated_text] = score_all(*exclude_regions(gold[CONCEPT], spans[CONCEPT], self.unsourced))
        return scores


def to_learn(tagger: Tagger, sentences: Sequence[LabelledSentence]) -> list[LabelledSentence]:
    """What a model learns from: a model of one layer, the concepts alone, in the text as it is."""
    if isinstance(tagger, LayeredTagger):
        return list(sentences)
    return [as_concept_sentence(item, item.sentence) for item in with_layer(sentences, CONCEPT)]


def spans_of(tagger: Tagger, split: Split, system: System) -> dict[str, Spans]:
    """What a tagger finds in each layer of its system, in the documents that are annotated in it, by their ids."""
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
    """The documents that are annotated in a layer, with its spans alone."""
    return [select_layer(document, layer) for document in split.annotated(layer).documents]


def _strict_f1(scores: Mapping[str, Any], layers: Iterable[str]) -> dict[str, float]:
    return {layer: scores[layer]["entity_strict"]["micro"]["f1"] for layer in layers}


def _dev_f1(tagger: Tagger, dev: Split, system: System) -> dict[str, float]:
    """Strict F of each layer on the development documents."""
    spans = spans_of(tagger, dev, system)
    return {layer: score_entities(gold_of(dev, layer), found).micro.f1 for layer, found in spans.items()}


def _held(tagger: Tagger, train: Split) -> Mapping[str, int] | None:
    """How many words that are nothing but PHI in the training documents the model of concepts has stored."""
    if not isinstance(tagger, VocabularyProbe):
        return None
    share = memorised_phi_rate(tagger, train.sentences)
    return {"held": share.count, "words": share.total}
