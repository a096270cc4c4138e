"""De-identification: `Deidentifier` marks PHI with a trained model, patient identifiers and custom lists."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from pathlib import Path

from crfdeid.bio import decode, phi_spans
from crfdeid.concepts import find_concepts
from crfdeid.consistency import TokenTable, make_consistent
from crfdeid.documents import CONCEPT, PHI, Document, Span, lone_surrogate, merge
from crfdeid.errors import DataError, UsageError
from crfdeid.known_phi.folding import decoded_forms
from crfdeid.known_phi.identifiers import PatientIdentifiers, labels_for
from crfdeid.known_phi.lists import CustomLists
from crfdeid.model_card.card import read_card, read_saved_site, threshold_in
from crfdeid.model_card.pretrained import find_model
from crfdeid.registry import load_tagger
from crfdeid.tagger import LayeredTagger, Tagger
from features.normal import NormalText, normal_form
from features.tokens import Sentence

# Sentences are tagged together up to so many tokens: more than those of a batch of ordinary notes.
_BATCH_TOKENS = 1 << 15


@dataclass(eq=False, slots=True)
class _DocState:
    """A note at work.

    Attributes:
        document: the note, in the end with its PHI.
        known: what the record says of its patient.
        found: the PHI that the model has found so far.
        concepts: the concepts that it has found so far.
        tokens: all that were read so far, for consistency.
    """

    document: Document
    known: PatientIdentifiers | None
    found: list[Span] = field(default_factory=list)
    concepts: list[Span] = field(default_factory=list)
    tokens: TokenTable = field(default_factory=TokenTable)


_SentenceBatch = Sequence[tuple[_DocState, Sequence[Sentence]]]


def _batch_sentences(notes: Iterable[_DocState]) -> Iterator[_SentenceBatch]:
    """Sentences that are tagged together, note by note: of a long note, no more are in memory at once."""
    stretch: list[tuple[_DocState, list[Sentence]]] = []
    count = 0
    for note in notes:
        group: list[Sentence] = []
        stretch.append((note, group))
        for sentence in note.document.each_sentence():
            if count >= _BATCH_TOKENS:
                yield stretch
                group, count = [], 0
                stretch = [(note, group)]
            group.append(sentence)
            count += len(sentence.tokens)
    yield stretch


def _spans_within(sentences: Sequence[Sentence], spans: Iterable[Span]) -> list[Span]:
    """The spans that share a character with some neighbouring sentences."""
    tokens = [token for sentence in sentences for token in (*sentence.tokens[:1], *sentence.tokens[-1:])]
    if not tokens:
        return []
    return [span for span in spans if tokens[0].start < span.end and span.start < tokens[-1].end]


def known_spans(raw: str, known: PatientIdentifiers | None, site: CustomLists, labels: Mapping[str, str]) -> list[Span]:
    """Spans to hide in a text whatever a model finds, the record's before the site's; they may overlap.

    A text with HTML entities or percent-encoded words is searched twice: raw and decoded.

    Args:
        raw: a note.
        known: what the record says of its patient; None where nothing is known.
        site: the site's lists.
        labels: what each kind of identifier is called, from `crfdeid.known_phi.identifiers.labels_for`.

    Raises:
        DataError: a site's pattern takes too long, or the text is encoded too many times over.
    """
    if known is None and not site:
        return []
    found = list(_known_spans(normal_form(raw), known, site, labels))
    for form in decoded_forms(raw):
        found += _known_spans(_normal_decoded(form), known, site, labels)
    return found


def _known_spans(
    form: NormalText, known: PatientIdentifiers | None, site: CustomLists, labels: Mapping[str, str]
) -> Iterator[Span]:
    text, offsets = form
    for start, end, label in chain(known.find(text, labels) if known else (), site.find(text)):
        if offsets is None:
            yield Span(start, end, label)
        else:
            while offsets[end] == offsets[end - 1]:  # within characters that share their place
                end += 1  # noqa: PLW2901
            yield Span(offsets[start], offsets[end], label)


def _normal_decoded(form: NormalText) -> NormalText:
    """The normal form of a decoded text, with offsets into the raw text."""
    text, inner = normal_form(form.text)
    if inner is None or form.offsets is None:
        return NormalText(text, form.offsets)
    return NormalText(text, array("q", map(form.offsets.__getitem__, inner)))


def _add_known(found: Sequence[Span], given: Iterable[Span]) -> list[Span]:
    """The spans of a model and those that have to be hidden whatever it says.

    Those that share a character become one, with the type of the longest. Of two in the same place what was given
    counts, and of several that were given the first: put those of the record before those of a site.

    Example:
        >>> add_given([Span(0, 5, "DOCTOR"), Span(9, 20, "ID")], [Span(0, 5, "PATIENT"), Span(12, 14, "DATE")])
        [Span(start=0, end=5, label='PATIENT'), Span(start=9, end=20, label='ID')]
    """
    first: dict[tuple[int, int], Span] = {}
    for span in given:
        first.setdefault((span.start, span.end), span)
    return merge([*first.values(), *(span for span in found if (span.start, span.end) not in first)])


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
        site: what is hidden, or left, whatever the model finds (`crfdeid.known_phi.lists`).
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
        site: CustomLists | None = None,
        concepts: bool = True,
    ) -> None:
        if threshold is not None and not 0 <= threshold <= 1:  # nothing would be found, without a word
            raise UsageError(f"a threshold of {threshold}: give a probability, from 0 to 1")
        self.tagger = tagger
        self.threshold = threshold
        self.consistent = consistent
        self.site = CustomLists() if site is None else site
        self._of_concepts = tagger if concepts and isinstance(tagger, LayeredTagger) else None
        # Concepts that are read in the text as it is can be had with the PHI, before anything is added to that.
        hides = type(tagger).traits(tagger.settings).hides_phi if self._of_concepts is not None else False
        self._layers_at_once = self._of_concepts if threshold is None and not hides else None

    def annotate(self, text: str, *, id: str = "", known: PatientIdentifiers | None = None) -> Document:
        """The document of a text, with its PHI as spans, and its concepts in the layer "concept" where they are marked.

        Args:
            text: a note.
            id: its name.
            known: what the record says of its patient; it is hidden wherever it stands
            (`crfdeid.known_phi.identifiers`).

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
        self, documents: Iterable[Document], *, known: Iterable[PatientIdentifiers | None] | None = None
    ) -> Iterator[Document]:
        """The same documents, in order, with what the model finds; what was marked of that before is dropped.

        Args:
            documents: the notes.
            known: for each of them, what the record says of its patient; None where nothing is known of any.

        Raises:
            DataError: a text holds a lone surrogate, or a site's pattern takes too long.
        """
        waiting: list[tuple[Document, PatientIdentifiers | None]] = []
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

    def _annotate(self, pairs: Iterable[tuple[Document, PatientIdentifiers | None]]) -> Iterator[Document]:
        notes = [_DocState(document, known) for document, known in pairs]
        for stretch in _batch_sentences(notes):
            self._read(stretch)
        for note in notes:
            self._mark(note)
            if self._of_concepts is None:
                yield note.document
        if self._of_concepts is not None:
            yield from self._with_concepts(notes, self._of_concepts)

    def _read(self, stretch: _SentenceBatch) -> None:
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

    def _mark(self, note: _DocState) -> None:
        """Give the document of a note that was read to its end its PHI."""
        labels = labels_for({tag[2:] for tag in self.tagger.tags} - {""})
        fresh = replace(note.document, spans=tuple(note.found), phi_annotated=True)
        given = known_spans(fresh.text, note.known, self.site, labels)
        note.document = self._joined(fresh, note.tokens, given)
        note.found, note.tokens = [], TokenTable()  # nobody needs them any more

    def _with_concepts(self, notes: Sequence[_DocState], tagger: LayeredTagger) -> Iterator[Document]:
        """The documents of notes whose PHI is found, with concepts; those that are read in what is left of them too."""
        if self._layers_at_once is None:
            for stretch in _batch_sentences(notes):
                groups = [group for _, group in stretch]
                found = find_concepts(
                    tagger, groups, [_spans_within(group, note.document.spans) for note, group in stretch]
                )
                for (note, _), spans in zip(stretch, found, strict=True):
                    note.concepts += spans
        for note in notes:
            yield replace(note.document, layers={**note.document.layers, CONCEPT: tuple(note.concepts)})

    def _joined(self, document: Document, tokens: TokenTable, given: Sequence[Span]) -> Document:
        """A document with what the model found, what was given, and what consistency makes of both."""
        marked = replace(document, spans=tuple(_add_known(self._without_allowed(document), given)))
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
    site: CustomLists | None = None,
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
    lists = read_saved_site(folder).joined(site or CustomLists())
    tagger = load_tagger(folder, key=key)
    return Deidentifier(tagger, threshold=threshold, consistent=consistent, site=lists, concepts=concepts)


def _require_unicode(document: Document, number: int) -> None:
    offset = lone_surrogate(document.text)
    if offset is not None:
        problem = "a lone surrogate, so this is no Unicode text: read the file with its right encoding"
        raise DataError(problem, path=document.place or f"document {number}", offset=offset)
