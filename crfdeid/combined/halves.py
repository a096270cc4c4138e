"""The training of a pipeline's halves, which several pipelines can share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import count

from crfdeid.combined.hiding import PREDICTED, annotated, cut_folds, to_read
from crfdeid.combined.kept import Kept
from crfdeid.combined.members import create_members
from crfdeid.documents import PHI, LabelledSentence
from crfdeid.tagger import CombinedSettings, FitProgress, OnProgress, Tagger


class Halves:
    """The halves of pipelines that differ only in the texts which their concepts are learned from and read in.

    There is one model of PHI for all of them, one set of models that hide PHI in the folds, and one model of concepts
    for each text that is learned from; each is trained when it is first asked for.

    Args:
        settings: of one of these pipelines.
        train: the training sentences, none of them empty.
        dev: the development sentences.
        folds: parts of the training notes, each hidden by a model trained on the others.
        seed: of all models.
        kept: has and gets the models that are done.
    """

    def __init__(
        self,
        settings: CombinedSettings,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        folds: int,
        seed: int,
        kept: Kept,
    ) -> None:
        self._settings, self._train, self._dev, self._seed, self._kept = settings, train, dev, seed, kept
        self._folds = cut_folds(train, folds)
        self._crossed: dict[int, list[str]] = {}
        self._concepts: dict[str, Tagger] = {}

    def trained(self, learns_from: str, on_progress: OnProgress | None) -> list[Tagger]:
        """The model of PHI, and that of concepts for the text that is learned from; progress is told of each model."""
        folds = self._folds if learns_from == PREDICTED else []
        done = _counter(2 + len(folds), on_progress)
        deid = self._deid
        done()
        for number, fold in enumerate(folds):
            if not self._crossed.keys() >= set(fold):
                self._cross(number, fold)
            done()
        if learns_from not in self._concepts:
            self._concepts[learns_from] = self._kept.part(f"concepts-{learns_from}", lambda: self._learned(learns_from))
        done()
        return [deid, self._concepts[learns_from]]

    @cached_property
    def _deid(self) -> Tagger:
        return self._kept.part("phi", lambda: self._finding_phi(self._train))

    def _finding_phi(self, train: Sequence[LabelledSentence]) -> Tagger:
        deid = create_members(self._settings, seed=self._seed)[0]
        deid.fit(annotated(train, PHI), annotated(self._dev, PHI))
        return deid

    def _cross(self, number: int, fold: Sequence[int]) -> None:
        """Keep the PHI tags of the sentences of a fold, by their places, from a model that has not seen it."""
        inside = set(fold)
        others = [item for i, item in enumerate(self._train) if i not in inside]
        model = self._kept.part(f"phi-without-{number}", lambda: self._finding_phi(others))
        self._crossed |= zip(fold, model.predict([self._train[i].sentence for i in fold]), strict=True)

    def _learned(self, way: str) -> Tagger:
        """A model of concepts; its best epoch is chosen on text that is hidden as what it learns from is."""
        concepts = create_members(self._settings, seed=self._seed)[1]
        found = self._crossed if way == PREDICTED else {}
        concepts.fit(to_read(self._train, way, self._deid, found), to_read(self._dev, way, self._deid))
        return concepts


def _counter(total: int, on_progress: OnProgress | None) -> Callable[[], None]:
    """Tells of each step that is done."""
    steps = count(1)

    def done() -> None:
        if on_progress is not None:
            on_progress(FitProgress(next(steps), total))

    return done
