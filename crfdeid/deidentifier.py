"""A trained model at work on text: `Deidentifier` marks the PHI of a note, whatever the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

from crfdeid.bio import decode
from crfdeid.concepts import find_concepts
from crfdeid.consistency import make_consistent
from crfdeid.documents import CONCEPT, PHI, Document, Span, lone_surrogate
from crfdeid.errors import DataError, UsageError
from crfdeid.given.joined import add_given, given_in
from crfdeid.given.known import Known, labels_for
from crfdeid.given.site import Site
from crfdeid.model_card.builtin import find_model
from crfdeid.model_card.card import read_card, threshold_in
from crfdeid.model_card.site import read_saved_site
from crfdeid.models import load_tagger
from crfdeid.notes_at_work import NoteAtWork, Stretch, stretches, within
from crfdeid.tagger import LayeredTagger, Tagger
from crfdeid.thresholds import phi_spans
from crfdeid.token_table import TokenTable
from features.tokens import Sentence

# Notes are tagged together until so many characters have come in: enough to keep a network busy, little enough that
# the first results are there soon and that memory does not grow with the number of notes.
_BATCH_CHARACTERS = 1 << 16


class Deidentifier:
    """Finds the PHI of notes with a trained tagger.

    It holds no state but the model: several threads may use one at once.

    Args:
        tagger: a trained model.
        threshold: tokens with at least this probability of being PHI are marked, whatever the most probable tags are;
            None for the most probable tags.
        consistent: whether a name found once in a note is marked everywhere in it (`crfdeid.consistency`).
        site: what is hidden, or left, whatever the model finds (`crfdeid.given.site`).
        concepts: whether a model that finds concepts too marks them, in a layer of their own. Where it hides PHI from
            what it reads them in, all that is marked is hidden, whether the model found it or not.

    Raises:
        UsageError: the threshold is no probability.

    Example:
        >>> model = crfdeid.load("model/")  # doctest: +SKIP
        >>> model.annotate("Seen by Dr. Quill.").spans  # doctest: +SKIP
        (Span(start=12, end=17, label='DOCTOR'),)
    """

    def __init__(
        self,
        tagger: Tagger,
        *,
        threshold: float | None = None,
        consistent: bool = True,
        site: Site | None = None,
        concepts: bool = True,
    ) -> None:
        if threshold is not None and not 0 <= threshold <= 1:  # nothing would be found, without a word
            raise UsageError(f"a threshold of {threshold}: give a probability, from 0 to 1")
        self.tagger = tagger
        self.threshold = threshold
        self.consistent = consistent
        self.site = Site() if site is None else site
        self._of_concepts = tagger if concepts and isinstance(tagger, LayeredTagger) else None
        # Concepts that are read in the text as it is can be had with the PHI, before anything is added to that.
        hides = type(tagger).traits(tagger.settings).hides_phi if self._of_concepts is not None else False
        self._layers_at_once = self._of_concepts if threshold is None and not hides else None

    def annotate(self, text: str, *, id: str = "", known: Known | None = None) -> Document:
        """The document of a text, with its PHI as spans, and its concepts in the layer "concept" where they are marked.

        Args:
            text: a note.
            id: its name.
            known: what the record says of its patient; it is hidden wherever it stands (`crfdeid.given.known`).

        Raises:
            DataError: the text holds a lone surrogate, so it is no Unicode text, or a site's pattern takes too long.
        """
        (document,) = self.annotate_documents([Document(id, text)], known=[known])
        return document

    def annotate_all(self, texts: Iterable[str]) -> Iterator[Document]:
        """A document for each text, in order, as soon as it is done; ids are the texts' numbers, from 0.

        Texts are read as they are needed, some 65,000 characters ahead, so memory does not grow with their number.

        Raises:
            DataError: a text holds a lone surrogate, or a site's pattern takes too long.
        """
        return self.annotate_documents(Document(str(number), text) for number, text in enumerate(texts))

    def annotate_documents(
        self, documents: Iterable[Document], *, known: Iterable[Known | None] | None = None
    ) -> Iterator[Document]:
        """The same documents, in order, with what the model finds; what was marked of that before is dropped.

        Args:
            documents: the notes.
            known: for each of them, what the record says of its patient; None where nothing is known of any.

        Raises:
            DataError: a text holds a lone surrogate, or a site's pattern takes too long.
        """
        waiting: list[tuple[Document, Known | None]] = []
        characters = 0
        pairs = zip(documents, known, strict=True) if known is not None else zip(documents, repeat(None))
        for number, (document, own) in enumerate(pairs, start=1):
            _require_unicode(document, number)
            waiting.append((document, own))
            characters += len(document.text)
            if characters >= _BATCH_CHARACTERS:
                yield from self._annotate(waiting)
                waiting, characters = [], 0
        yield from self._annotate(waiting)

    def _annotate(self, pairs: Iterable[tuple[Document, Known | None]]) -> Iterator[Document]:
        notes = [NoteAtWork(document, known) for document, known in pairs]
        for stretch in stretches(notes):
            self._read(stretch)
        for note in notes:
            self._mark(note)
            if self._of_concepts is None:
                yield note.document
        if self._of_concepts is not None:
            yield from self._with_concepts(notes, self._of_concepts)

    def _read(self, stretch: Stretch) -> None:
        """Find what the model finds in some sentences."""
        sentences = [sentence for _, group in stretch for sentence in group]
        tags = {} if self._layers_at_once is None else self._layers_at_once.predict_layers(sentences)
        found, concepts = self._find(sentences, tags.get(PHI)), iter(tags.get(CONCEPT, ()))
        for note, group in stretch:
            for sentence in group:
                note.found += next(found)
                if tags:
                    note.concepts += decode(sentence, next(concepts))
            if self.consistent:
                note.tokens.add(chain.from_iterable([sentence.tokens for sentence in group]))

    def _mark(self, note: NoteAtWork) -> None:
        """Give the document of a note that was read to its end its PHI."""
        labels = labels_for({tag[2:] for tag in self.tagger.tags} - {""})
        fresh = replace(note.document, spans=tuple(note.found), phi_annotated=True)
        given = given_in(fresh.text, note.known, self.site, labels)
        note.document = self._joined(fresh, note.tokens, given)
        note.found, note.tokens = [], TokenTable()  # nobody needs them any more

    def _with_concepts(self, notes: Sequence[NoteAtWork], tagger: LayeredTagger) -> Iterator[Document]:
        """The documents of notes whose PHI is found, with concepts; those that are read in what is left of them too."""
        if self._layers_at_once is None:
            for stretch in stretches(notes):
                groups = [group for _, group in stretch]
                found = find_concepts(tagger, groups, [within(group, note.document.spans) for note, group in stretch])
                for (note, _), spans in zip(stretch, found, strict=True):
                    note.concepts += spans
        for note in notes:
            yield replace(note.document, layers={**note.document.layers, CONCEPT: tuple(note.concepts)})

    def _joined(self, document: Document, tokens: TokenTable, given: Sequence[Span]) -> Document:
        """A document with what the model found, what was given, and what consistency makes of both."""
        marked = replace(document, spans=tuple(add_given(self._without_allowed(document), given)))
        if not self.consistent:
            return marked
        consistent = make_consistent(marked, tokens)
        added = set(consistent.spans).difference(marked.spans)
        kept = added.intersection(self._without_allowed(consistent))
        return replace(marked, spans=(*marked.spans, *kept)) if kept else marked

    def _without_allowed(self, document: Document) -> list[Span]:
        return [span for span in document.spans if not self.site.allows(document.text[span.start : span.end])]

    def _find(self, sentences: list[Sentence], predicted: Sequence[Sequence[str]] | None) -> Iterator[list[Span]]:
        """The spans of each sentence, of the tags that were predicted, where they were."""
        if self.threshold is None:
            rows = self.tagger.predict(sentences) if predicted is None else predicted
            for sentence, tags in zip(sentences, rows, strict=True):
                yield decode(sentence, tags)
        else:
            for sentence, table in zip(sentences, self.tagger.marginals(sentences), strict=True):
                yield phi_spans(sentence, table, self.tagger.tags, self.threshold)


def load(
    model: Path | str,
    *,
    key: bytes | None = None,
    sensitivity: float | None = None,
    consistent: bool = True,
    site: Site | None = None,
    concepts: bool = True,
) -> Deidentifier:
    """A trained model, ready to annotate text.

    Args:
        model: the folder that `crfdeid train` or `Tagger.save` wrote; or "synthetic", the model that is trained on the
            built-in corpus the first time and kept in the cache. It was never validated on real notes. The text
            "synthetic" is always that one: a folder of this name is "./synthetic", or a `Path`.
        key: what a private vocabulary was hashed with, from `vocabulary_key`; not needed where it can be read.
        sensitivity: the share of PHI tokens that must be found, in per cent, such as 99.7: the threshold is the one
            chosen on the development notes for it when the model was trained. None for the most probable tags.
        consistent: whether a name found once in a note is marked everywhere in it.
        site: what is hidden, or left, whatever the model finds; beside the lists that the model was saved with, if it
            was: what either denies is hidden.
        concepts: whether a model that finds concepts too marks them.

    Raises:
        DataError: the folder holds no model, or a damaged one.
        UsageError: no threshold was chosen for this sensitivity, or the key is missing or another one.
    """
    folder = find_model(model)
    card = read_card(folder)  # a folder of which any part is damaged is refused, also where that part is not needed
    threshold = None if sensitivity is None else threshold_in(card, sensitivity)
    lists = read_saved_site(folder).joined(site or Site())
    tagger = load_tagger(folder, key=key)
    return Deidentifier(tagger, threshold=threshold, consistent=consistent, site=lists, concepts=concepts)


def _require_unicode(document: Document, number: int) -> None:
    offset = lone_surrogate(document.text)
    if offset is not None:
        problem = "a lone surrogate, so this is no Unicode text: read the file with its right encoding"
        raise DataError(problem, path=document.place or f"document {number}", offset=offset)
