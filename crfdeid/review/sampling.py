"""Sampling of notes to annotate: by expected misses per minute of reading, by coverage, or at random.

Reading takes time by the word, so that notes are rated by minute: by what is expected in them alone, the longest would
be taken (Settles et al. 2008 find that plain uncertainty picks what is slow to annotate). A part of a sample is always
drawn at random: it alone is an honest picture of the notes.
"""

from __future__ import annotations

import csv
import io
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from itertools import chain, islice, zip_longest
from pathlib import Path

from crfdeid.corpora import CORPUS_FORMATS, formats_where, label_studio, write_corpus
from crfdeid.documents import Document
from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError
from crfdeid.evaluation.probabilities import phi_by_sentence
from crfdeid.tagger import Tagger
from crfdeid.utils.files import write_files
from crfdeid.utils.folders import whole_folder
from features.tokens import Sentence

STRATEGIES = ("uncertainty", "coverage", "random", "mixed")
_RANDOM_SHARE = 0.2
# How long a reader takes, as a plain assumption: to open a note, and by the word, marking included.
_MINUTES_A_NOTE, _WORDS_A_MINUTE = 0.25, 150
_BATCH = 64


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that can be drawn.

    Args:
        document: the note.
        words: counts of its words, in lower case.
        missed: expected number of PHI tokens that a model misses in it; None without a model.
    """

    document: Document
    words: Mapping[str, int]
    missed: float | None = None

    @property
    def minutes(self) -> float:
        """Estimated reading time in minutes."""
        return _MINUTES_A_NOTE + sum(self.words.values()) / _WORDS_A_MINUTE

    @property
    def p_no_miss(self) -> float | None:
        """The probability that nothing is missed, if misses come by chance alone (Poisson); None without a model."""
        return None if self.missed is None else math.exp(-self.missed)


@dataclass(frozen=True, slots=True)
class Sample:
    """A note of a sample, and the way in which it was drawn: "uncertainty", "coverage" or "random"."""

    candidate: Candidate
    by: str


def candidates(
    documents: Sequence[Document], tagger: Tagger | None = None, *, threshold: float | None = None
) -> Iterator[Candidate]:
    """Notes as candidates, with the expected number of misses of a model in each.

    A token is missed that is PHI and that the model takes for none: the expected number of misses is the sum of the
    probabilities 1 - P(O) below one half, or below a threshold, if the model's probabilities are right.

    Args:
        documents: the notes.
        tagger: the model; None for none.
        threshold: the probability from which a token is taken for PHI; None for a half.
    """
    cut = 0.5 if threshold is None else threshold
    for start in range(0, len(documents), _BATCH):
        batch = documents[start : start + _BATCH]
        if tagger is None:
            yield from (Candidate(document, _words(document.sentences())) for document in batch)
            continue
        for document, sentences in zip(batch, phi_by_sentence(tagger, batch), strict=True):
            missed = sum(float(probable[probable < cut].sum()) for _, probable in sentences)
            yield Candidate(document, _words(sentence for sentence, _ in sentences), missed)


def _words(sentences: Iterable[Sentence]) -> Counter[str]:
    return Counter(word.lower() for sentence in sentences for word in sentence.words)


def draw_sample(
    notes: Sequence[Candidate],
    count: int,
    *,
    by: str,
    seed: int,
    random_share: float = _RANDOM_SHARE,
    annotated: Sequence[Candidate] = (),
) -> list[Sample]:
    """Draw notes to annotate.

    Args:
        notes: those to draw from.
        count: number of notes to draw.
        by: "uncertainty" (most expected misses per minute), "coverage" (most text per minute whose words no annotated
            or drawn note has yet), "mixed" (the two in turn), or "random".
        seed: of the random part.
        random_share: of the sample that is drawn at random, whatever ``by`` is.
        annotated: notes that are annotated already; their words count as covered.

    Returns:
        The drawn notes, those drawn at random first.

    Raises:
        UsageError: there are too few notes, an unknown way, or one that needs a model where none was asked.

    Reference:
        Settles, Craven and Friedland 2008 (NIPS workshop), Active learning with real annotation costs; Lewis and Gale
        1994 (SIGIR), for uncertainty; Nemhauser, Wolsey and Fisher 1978, for the greedy choice of what covers most.
    """
    if by not in STRATEGIES:
        raise UnknownNameError(f"unknown way '{by}': choose from {', '.join(STRATEGIES)}")
    if not 0 < count <= len(notes):
        raise SettingError(f"{count} notes to draw of {len(notes)}: give a number from 1 to all of them")
    if by in ("uncertainty", "mixed") and any(note.missed is None for note in notes):
        raise OptionConflictError(f"by {by} needs a model to say what it is unsure of: give one, or draw by coverage")
    at_random = count if by == "random" else min(count, max(1, round(random_share * count)))
    ordered = sorted(notes, key=lambda note: note.document.id)  # the draw is of the ids, and not of their order
    drawn = [Sample(note, "random") for note in random.Random(seed).sample(ordered, at_random)]
    taken = {one.candidate.document.id for one in drawn}
    rest = [note for note in ordered if note.document.id not in taken]
    known = [*annotated, *(one.candidate for one in drawn)]
    return [*drawn, *islice(_chosen(rest, by, known), count - at_random)]


def _chosen(notes: Sequence[Candidate], by: str, known: Sequence[Candidate]) -> Iterator[Sample]:
    """The notes in the order in which a way would take them; each once."""
    ways: dict[str, Callable[[], Iterator[Candidate]]] = {
        "uncertainty": lambda: iter(sorted(notes, key=lambda note: -(note.missed or 0.0) / note.minutes)),
        "coverage": lambda: _covering(notes, {word for note in known for word in note.words}),
    }
    named = [by] if by in ways else list(ways) if by == "mixed" else []
    turns = zip_longest(*([Sample(note, name) for note in ways[name]()] for name in named))
    seen: set[str] = set()
    for one in chain.from_iterable(turns):
        if one.candidate.document.id not in seen:
            seen.add(one.candidate.document.id)
            yield one


def _covering(notes: Sequence[Candidate], covered: Collection[str]) -> Iterator[Candidate]:
    """Greedily, what adds most words of running text per minute that are in no note taken before.

    A word's gain is its frequency in all notes, so that what is common there is covered first. Gains only shrink,
    so that a note whose gain was computed anew and is still the largest needs no comparison with the others.
    """
    frequency: Counter[str] = Counter()
    for note in notes:
        frequency.update(note.words)
    done = set(covered)

    def gain(note: Candidate) -> float:
        return sum(frequency[word] for word in note.words if word not in done) / note.minutes

    heap = [(-gain(note), index) for index, note in enumerate(notes)]
    heapify(heap)
    while heap:
        before, index = heap[0]
        now = -gain(notes[index])
        if now > before:
            heapreplace(heap, (now, index))
            continue
        heappop(heap)
        done.update(notes[index].words)
        yield notes[index]


SAMPLE_LIST = "drawn.csv"
SAMPLE_FORMATS = (*formats_where(lambda format: format.annotators), "jsonl")
_NO_FILE_NAME = re.compile(r'[<>:"|?*]')  # on Windows and on many shared drives


def write_sample(
    drawn: Sequence[Sample], folder: Path, *, format: str, model: str = "", for_test: bool = False
) -> None:
    """Write a sample; the folder appears whole or not at all.

    Args:
        drawn: the notes, with a model's predictions for annotators to correct.
        folder: for the sample.
        format: one of `SAMPLE_FORMATS`.
        model: name of the model; "" for none.
        for_test: leave out the predictions and the ratings of notes.

    Raises:
        UsageError: the folder cannot be exchanged for another.
        DataError: it cannot be written, or the format cannot hold a note.
    """
    guided = bool(model) and not for_test
    documents = [one.candidate.document for one in drawn]
    if for_test:
        documents = [replace(document, spans=()) for document in documents]
    written = CORPUS_FORMATS[format]
    if written.by_note:
        documents = _named_for_files(documents)
    with whole_folder(folder) as partial:
        target = partial if written.by_note else partial / f"notes{written.endings[0]}"
        if format == "label-studio":
            tasks = (
                label_studio.to_task(
                    replace(document, phi_annotated=guided and document.phi_annotated),
                    annotated=False,
                    model=model,
                    score=one.candidate.p_no_miss,
                )
                for document, one in zip(documents, drawn, strict=True)
            )
            write_files({target: "[\n" + ",\n".join(tasks) + "\n]\n"})
        else:
            write_corpus(documents, target, format=format)
        write_files({partial / SAMPLE_LIST: _table(drawn, rated=not for_test)})


def _named_for_files(documents: Sequence[Document]) -> list[Document]:
    """Documents whose ids are names of files on every system: "notes.csv-1" for the first row of a table."""
    taken = {document.id for document in documents}
    renamed = []
    for document in documents:
        name = document.id
        if _NO_FILE_NAME.search(name):
            name = _NO_FILE_NAME.sub("-", name)
            while name in taken:
                name += "-"
            taken.add(name)
        renamed.append(replace(document, id=name))
    return renamed


def _table(drawn: Sequence[Sample], *, rated: bool) -> str:
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(["note", "drawn", "minutes", "expected_misses"])
    for one in drawn:
        note = one.candidate
        missed = "" if note.missed is None or not rated else f"{note.missed:.3f}"
        rows.writerow([note.document.id, one.by, f"{note.minutes:.2f}", missed])
    return stream.getvalue()
