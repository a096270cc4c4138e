"""A comparison of models on one corpus, from its settings to its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crfdeid.augmentation import NO_COPIES, augment_corpus
from crfdeid.corpora.splits import Corpus
from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import OptionConflictError
from crfdeid.tagger import Traits
from experiments.compare.options import (
    DESCRIPTION,
    EXAMPLES,
    CompareArguments,
    ModelSettings,
    options,
    read_settings,
)
from experiments.core.devices import choose_device
from experiments.core.embeddings import RANDOM, Embeddings, OnStep, embedding_name, prepare_embeddings
from experiments.core.experiment import (
    Evaluated,
    Prepared,
    Report,
    Train,
    compare_runs,
    corpus_tables,
    heading,
    models_folder,
    plain_settings,
    read_corpus,
)
from experiments.core.systems import (
    Cell,
    System,
    Variant,
    Vectors,
    choose,
    each_alone,
    make_ensemble,
    make_tagger,
    make_variants,
    plain_cells,
    require_phi_alone,
    settle,
    sweep_cells,
    traits_of,
)
from experiments.core.training import OnProgress, Run, fit_cells
from experiments.core.training import evaluate as evaluate_tagger
from experiments.results.schema import Extras, Results

if TYPE_CHECKING:  # These take JAX and pandas, and an experiment on the CRF alone needs no JAX.
    from rnn.privacy.neighbours import Neighbours

__all__ = ["DESCRIPTION", "EXAMPLES", "EXTRAS", "corpus_tables", "evaluate", "fit", "options", "read_settings"]
__all__ += ["report", "systems"]

EXTRAS = Extras(
    command={
        "sweep": Any,
        "augment": str,
        "pseudonymise": (int, None),
        "neighbours_from": (str, None),
        "vary_all?": bool,
    },
    system={"chosen?": {str: Any}},  # the point of a sweep that is best on dev
)


@dataclass(frozen=True)
class ComparePlan:
    """Training and scoring of the cells of a comparison.

    Args:
        profile: of each model's settings.
        vectors: the word vectors of the experiment.
        models_folder: for fitted models, as ``<system>/<seed>/``; None to save none.
        augment: kinds of rewritten copies of training documents, as for `crfdeid.augmentation.parse_copy_kinds`.
        neighbours: share of the training documents -> possible replacements of each word of PHI in them; empty to train
            on unchanged documents.
        draws: seed of copies and pseudonyms, the same for every model.
        of_seeds: seed -> plan and corpus of its cells, where each seed draws its own; empty if all cells share these.
    """

    profile: str = "default"
    vectors: Vectors = field(default_factory=dict)
    models_folder: Path | None = None
    augment: str = NO_COPIES
    neighbours: Mapping[float, Neighbours] = field(default_factory=dict)
    draws: int = 0
    of_seeds: Mapping[int, tuple[ComparePlan, Corpus]] = field(default_factory=dict)

    def fit(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train one cell, or several replicates of one network together, then tag and score with each."""
        if cells[0].seed in self.of_seeds:
            plan, corpus = self.of_seeds[cells[0].seed]
            return plan.fit(cells, corpus, on_progress)
        taggers = [make_tagger(cell, self.profile, self.vectors) for cell in cells]
        if self.draws:
            from rnn.tagger import NetworkTagger  # noqa: PLC0415  Imports JAX.

            for tagger in taggers:
                if isinstance(tagger, NetworkTagger):
                    tagger.order = self.draws
        train = self.sentences(corpus, cells[0].fraction)
        trained = fit_cells(cells, taggers, train, corpus.dev.sentences, on_progress)
        return [evaluate_tagger(one, corpus, models_folder=self.models_folder) for one in trained]

    def sentences(self, corpus: Corpus, fraction: float) -> list[LabelledSentence]:
        """Training sentences: of a share of the training documents, with copies or pseudonyms if the plan has them.

        These are the same for every model of the plan.
        """
        train = augment_corpus(corpus.part(fraction), self.augment, seed=self.draws).sentences
        if fraction not in self.neighbours:
            return train
        from rnn.privacy.substitution import replace_and_shuffle  # noqa: PLC0415

        return replace_and_shuffle(train, self.neighbours[fraction], np.random.default_rng(self.draws))


def systems(settings: CompareArguments, *, on_step: OnStep) -> Prepared[CompareArguments, ComparePlan]:
    """Choose a device, read the corpus, make the word vectors, and list the systems, before a sweep."""
    models = settings.models
    device = choose_device(settings.device, possible_traits(models))
    compared = _systems(models, list(settings.vectors.sources))
    require_phi_alone(compared)
    full_settings(compared, ComparePlan(settings.profile))  # refuses invalid values at once
    folder = models_folder(settings.output.folder)
    read = read_corpus(settings.corpus)
    plan, embeddings = _plan(settings, compared, read.corpus, folder, 0, on_step)
    if settings.vary_all:
        corpora = {seed: read.corpus.divided_anew(seed) for seed in settings.seeds if seed}
        plans = {seed: _plan(settings, compared, own, folder, seed, on_step)[0] for seed, own in corpora.items()}
        plan = replace(plan, of_seeds={seed: (plans[seed], corpora[seed]) for seed in corpora})
    cells = plain_cells(compared, settings.seeds, models.fractions, data_vary=settings.vary_all)
    return Prepared(
        settings=settings,
        corpus=read.corpus,
        datasets={read.corpus.name: {**read.datasets[read.corpus.name], **_fractions(read.corpus, cells)}},
        corpus_seconds=read.corpus_seconds,
        systems=compared,
        cells=cells,
        embeddings=embeddings,
        plan=plan,
        device=device,
        full_settings=full_settings(compared, plan),
        group=each_alone if settings.vary_all else None,
    )


def _plan(
    settings: CompareArguments,
    compared: Iterable[System],
    corpus: Corpus,
    folder: Path | None,
    seed: int,
    on_step: OnStep,
) -> tuple[ComparePlan, Embeddings]:
    """Plan of the cells of a corpus, and the word vectors, with a seed of all that its models share."""
    vectors, count = settings.vectors, settings.corpus.pseudonymise
    near = embedding_name(vectors.neighbours_from) if count else None
    embeddings = prepare_embeddings(
        (*(system.embedding for system in compared), near),
        corpus,
        replace(vectors, sources={**vectors.sources, **({near: vectors.neighbours_from} if near else {})}),
        seed=settings.corpus.seed,
        training_seed=seed,
        fractions=settings.models.fractions,
        on_step=on_step,
    )
    plan = ComparePlan(settings.profile, embeddings.vectors, folder, settings.corpus.augment, draws=seed)
    if near is not None and count is not None:
        plan = replace(plan, neighbours=_neighbours(plan, corpus, near, count))
    return plan, embeddings


def _fractions(corpus: Corpus, cells: Iterable[Cell]) -> dict[str, Any]:
    """Sizes of the shares of the training documents; empty where there is only the whole."""
    shares = sorted({cell.fraction for cell in cells})
    if shares == [1.0]:
        return {}
    sizes = {share: corpus.part(share).statistics() for share in shares}
    counts = ("documents", "sentences", "tokens")
    return {"fractions": [{"fraction": s, **{name: size[name] for name in counts}} for s, size in sizes.items()]}


def _neighbours(plan: ComparePlan, corpus: Corpus, embedding: str, count: int) -> dict[float, Neighbours]:
    """Possible replacements of the words of PHI in each share of the training documents, by that share's vectors."""
    from rnn.privacy.neighbours import Neighbours  # noqa: PLC0415
    from rnn.privacy.substitution import phi_words  # noqa: PLC0415

    return {
        share: Neighbours.of(phi_words(plan.sentences(corpus, share)), vectors, count)
        for (name, share), vectors in plan.vectors.items()
        if name == embedding
    }


def possible_traits(models: ModelSettings) -> Iterator[Traits]:
    """Traits of every system, and of all that a sweep can make of it."""
    systems = _systems(models, [RANDOM])
    yield from map(traits_of, systems)
    for cell in sweep_cells(systems, [0], dict(models.sweep)):
        yield traits_of(cell.system, cell.point)


def _systems(models: ModelSettings, embeddings: Sequence[str]) -> tuple[System, ...]:
    changes = dict(models.changes)
    variants = [*(Variant(model, model) for model in models.models), *models.variants]
    systems = make_variants(variants, embeddings, changes)
    if models.combine is not None:
        systems.append(make_ensemble(models.models, models.combine, changes))
    for name, count in Counter(system.name for system in systems).items():
        if count > 1:
            raise OptionConflictError(f"--variants: two systems would be named '{name}': rename a variant")
    return tuple(systems)


def full_settings(systems: Iterable[System], plan: ComparePlan) -> dict[str, dict[str, Any]]:
    """All settings of each system, as plain data, with the name of its word vectors if it has any.

    Raises:
        UsageError: a value that the model refuses.
    """
    found = {}
    for system in systems:
        settings = plain_settings(make_tagger(Cell(system, 0), plan.profile, plan.vectors).settings)
        found[system.name] = settings if system.embedding is None else {"embedding": system.embedding, **settings}
    return found


def fit(
    prepared: Prepared[CompareArguments, ComparePlan], train: Train
) -> tuple[Prepared[CompareArguments, ComparePlan], list[Run]]:
    """Run the sweep, give each system the settings that are best on the development set, and train it with them."""
    settings = prepared.settings
    if not settings.models.sweep:
        return prepared, train(prepared.cells)
    tried = train(sweep_cells(prepared.systems, settings.seeds, dict(settings.models.sweep)))
    chosen = choose(
        {run.cell: row["value"] for run in tried for row in run.record["measurements"] if row["kind"] == "dev"}
    )
    settled = tuple(settle(prepared.systems, chosen))
    prepared = replace(
        prepared,
        systems=settled,
        cells=plain_cells(settled, settings.seeds, settings.models.fractions, data_vary=settings.vary_all),
        full_settings=full_settings(settled, prepared.plan),
        about={system.name: {"chosen": dict(point)} for system, point in chosen.items()},
    )
    return prepared, [*tried, *train(prepared.cells)]


def evaluate(prepared: Prepared[CompareArguments, ComparePlan], runs: Sequence[Run]) -> Evaluated:
    """Test the differences between the systems."""
    return Evaluated({PHI: compare_runs(prepared, prepared.systems, runs)})


def report(results: Results, *, published: bool) -> Report:
    """Tables, plots and findings of the systems."""
    from experiments.plots import comparison_plots  # noqa: PLC0415  Imports matplotlib.
    from experiments.reporting.findings import sentences  # noqa: PLC0415
    from experiments.results.view import view  # noqa: PLC0415
    from experiments.tables import comparison_tables  # noqa: PLC0415

    seen = view(results)
    return Report(
        heading=heading(list(results["systems"]), results["datasets"]),
        tables=comparison_tables(seen, published=published),
        plots=lambda: comparison_plots(seen),
        findings=sentences(seen),
        views={PHI: seen},
    )
