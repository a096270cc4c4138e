"""De-identification: `Deidentifier` marks PHI with a trained model, patient identifiers and custom lists."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from pathlib import Path

from crfdeid.bio import decode, phi_probabilities
from crfdeid.consistency import TokenTable, make_consistent
from crfdeid.documents import (
    CONCEPT,
    LIST,
    MODEL,
    PHI,
    RECORD,
    RULE,
    Document,
    Evidence,
    Finding,
    Span,
    lone_surrogate,
    merge,
    merge_evidence,
    overlapping,
    positions_in,
)
from crfdeid.errors import EncodingError, SettingError
from crfdeid.known_phi.folding import decoded_forms
from crfdeid.known_phi.identifiers import PatientIdentifiers, identifier_labels
from crfdeid.known_phi.lists import CustomLists
from crfdeid.label_schemes import BINARY
from crfdeid.model_card.card import read_card, read_saved_lists
from crfdeid.model_card.pretrained import find_model
from crfdeid.registry import load_tagger
from crfdeid.serialization import ModelFolder
from crfdeid.tagger import LayeredTagger, MemberTagger, RuleMatch, RuleMatcher, Tagger, find_concepts
from crfdeid.thresholds import chosen_threshold, phi_spans
from crfdeid.validation import Sensitivity
from features.languages import DEFAULT_LANGUAGES, with_defaults
from features.tokenizer import NormalText, normal_form
from features.tokens import Sentence

BATCH_CHARACTERS = 1 << 16
"""Characters that are tagged together: enough to keep a network busy, few enough that the first results come soon and
that memory grows neither with the number of notes nor with the length of one."""
_LEAST_COUNTED = 16  # as which shorter sentences and notes count: they take as much time


class Deidentifier:
    """Finder of PHI in notes, by a trained tagger, identifiers of the patient and custom lists.

    Its components run in this order: tokens, model, patient record, lists, consistency. Each adds findings with its
    source; those of the first four are then merged, and consistency adds copies of the merged spans. It has no state
    but the model: several threads may use one at once.

    Args:
        tagger: a trained model.
        threshold: mark tokens whose probability of being PHI reaches this value; None for the most probable tags.
        consistent: mark a value that is found once wherever it recurs in its note (`crfdeid.consistency`).
        lists: lists of what to mark, and what not to mark, regardless of the model.
        concepts: also mark concepts, in a layer of their own, if the model tags them. A model that reads text in which
            PHI is masked gets all marked PHI masked, from whatever source.
        evidence: give each span its source and score (`Document.evidence`). The model then also computes the
            probabilities of the sentences in which it found something.
        members: list what each member of a combined model marked in these sentences (`Document.findings`), as the
            operator "keep" needs it. False spares a quarter of a hybrid's time; without ``evidence`` it has no effect.

    Raises:
        SettingError: the threshold is not a probability.

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
        lists: CustomLists | None = None,
        concepts: bool = True,
        evidence: bool = True,
        members: bool = True,
    ) -> None:
        if threshold is not None and not 0 <= threshold <= 1:  # it would silently find nothing
            raise SettingError(f"a threshold of {threshold}: give a probability, from 0 to 1")
        self.tagger = tagger
        self.threshold = threshold
        self.consistent = consistent
        self.evidence = evidence
        self._member_tagger = tagger if members and isinstance(tagger, MemberTagger) else None
        self.lists = CustomLists() if lists is None else lists
        self._concept_tagger = tagger if concepts and isinstance(tagger, LayeredTagger) else None
        # A model that masks no PHI tags concepts in the same pass, before further PHI is added.
        masks = self._concept_tagger is not None and type(tagger).traits(tagger.settings).hides_phi
        self._layers_at_once = self._concept_tagger if threshold is None and not masks else None

    @property
    def types(self) -> frozenset[str]:
        """Types that PHI can have: those of the model, of identifiers and of lists, and `BINARY`."""
        own = {tag[2:] for tag in self.tagger.tags} - {""}
        listed = {term.type for term in self.lists.deny} | {pattern.type for pattern in self.lists.patterns}
        return frozenset({BINARY, *own, *listed, *identifier_labels(own).values()})

    def annotate(self, text: str, *, id: str = "", known: PatientIdentifiers | None = None) -> Document:
        """Return a text as a document with its PHI as spans, and with concepts in the layer "concept".

        Args:
            text: a note.
            id: its name.
            known: identifiers of its patient, which are marked wherever they occur.

        Raises:
            EncodingError: the text has a lone surrogate, so it is not Unicode.
            LimitError: a pattern of the custom lists takes too long.
        """
        (document,) = self.annotate_documents([Document(id, text)], known=[known])
        return document

    def annotate_all(self, texts: Iterable[str]) -> Iterator[Document]:
        """Yield each text as `annotate` returns it, in order, with ids from "0".

        Some 65,000 characters are read ahead, so memory does not grow with the number of texts.
        """
        return self.annotate_documents(Document(str(number), text) for number, text in enumerate(texts))

    def annotate_documents(
        self, documents: Iterable[Document], *, known: Iterable[PatientIdentifiers | None] | None = None
    ) -> Iterator[Document]:
        """Yield documents as `annotate` returns them, in order, with the predicted spans in place of their own.

        Args:
            documents: the notes.
            known: identifiers of the patient of each; None if nothing is known of any.
        """
        pairs = zip(documents, known, strict=True) if known is not None else zip(documents, repeat(None))
        return (document for document in self._steps(pairs, BATCH_CHARACTERS) if document is not None)

    def annotate_in_steps(
        self, texts: Iterable[str], *, characters: int, known: Iterable[PatientIdentifiers | None] = repeat(None)
    ) -> Iterator[Document | None]:
        """Yield as `annotate_all` does, and None after some characters, so that other work can be done between.

        Args:
            texts: the texts.
            characters: number that is tagged in a step; a longer sentence is a step of its own.
            known: identifiers of the patient of each text; by default, nothing is known of any.
        """
        documents = (Document(str(number), text) for number, text in enumerate(texts))
        return self._steps(zip(documents, known, strict=False), characters)

    def _steps(
        self, pairs: Iterable[tuple[Document, PatientIdentifiers | None]], characters: int
    ) -> Iterator[Document | None]:
        """Yield documents, in order, and None after each batch of about so many characters."""
        waiting: list[tuple[Document, PatientIdentifiers | None]] = []
        read = 0
        for number, (document, own) in enumerate(pairs, start=1):
            if (offset := lone_surrogate(document.text)) is not None:
                problem = "a lone surrogate, so this is no Unicode text: read the file with its right encoding"
                raise EncodingError(problem, path=document.source or f"document {number}", offset=offset)
            waiting.append((document, own))
            read += max(len(document.text), _LEAST_COUNTED)
            if read >= BATCH_CHARACTERS:
                yield from self._annotate(waiting, characters)
                waiting, read = [], 0
        yield from self._annotate(waiting, characters)

    def _annotate(
        self, pairs: Iterable[tuple[Document, PatientIdentifiers | None]], characters: int
    ) -> Iterator[Document | None]:
        languages = self.tagger.languages
        notes = [_DocState(document.in_languages(languages), known) for document, known in pairs]
        for batch in _batch_sentences(notes, characters):
            self._predict(batch)
            yield None
        for note in notes:
            self._finish(note)
            if self._concept_tagger is None:
                yield note.document
        if self._concept_tagger is not None:
            yield from self._with_concepts(notes, self._concept_tagger, characters)

    def _predict(self, batch: _SentenceBatch) -> None:
        """Add the model's predictions for some sentences to the states of their documents."""
        sentences = [sentence for _, group in batch for sentence in group]
        tags = {} if self._layers_at_once is None else self._layers_at_once.predict_layers(sentences)
        found, concepts = self._find(sentences, tags.get(PHI)), iter(tags.get(CONCEPT, ()))
        marked: list[tuple[_DocState, Sentence, Sequence[Span]]] = []
        for note, group in batch:
            for sentence in group:
                spans = next(found)
                note.spans += spans
                if spans and self.evidence:
                    marked.append((note, sentence, spans))
                if tags:
                    note.concepts += decode(sentence, next(concepts))
            if self.consistent:
                note.tokens.add(chain.from_iterable([sentence.tokens for sentence in group]))
        if marked:
            self._add_evidence(marked)

    def _add_evidence(self, marked: Sequence[tuple[_DocState, Sentence, Sequence[Span]]]) -> None:
        """Add the evidence of predicted spans, a sentence each, and members' findings to the states of documents."""
        if isinstance(self.tagger, RuleMatcher):
            matches = self.tagger.rule_matches([sentence for _, sentence, _ in marked])
            for (note, sentence, spans), own in zip(marked, matches, strict=True):
                note.evidence.update(_rule_evidence(sentence, spans, own))
        if self._member_tagger is not None:
            members = self._member_tagger.member_spans([sentence for _, sentence, _ in marked])
            for (note, _, _), by_members in zip(marked, members, strict=True):
                note.findings += (Finding(span, MODEL) for span in by_members)
        others = [one for one in marked if not all(span in one[0].evidence for span in one[2])]
        tables = self.tagger.marginals([sentence for _, sentence, _ in others]) if others else []
        for (note, sentence, spans), table in zip(others, tables, strict=True):
            probable = phi_probabilities(table, self.tagger.tags)
            for span in spans:
                at = positions_in(sentence.tokens, span)
                note.evidence.setdefault(span, Evidence(MODEL, float(probable[at.start : at.stop].min())))

    def _finish(self, note: _DocState) -> None:
        """Set the PHI of a document whose sentences are all tagged."""
        predicted = replace(
            note.document,
            spans=tuple(note.spans),
            phi_annotated=True,
            evidence=note.evidence,
            findings=tuple(note.findings),
        )
        note.document = self.complete(predicted, note.known, tokens=note.tokens)
        note.spans, note.findings, note.evidence, note.tokens = [], [], {}, TokenTable()  # frees their memory

    def complete(
        self, document: Document, known: PatientIdentifiers | None = None, *, tokens: TokenTable | None = None
    ) -> Document:
        """Add the spans of the patient's record, the lists and consistency to those of a model.

        Spans that share a character become one, with the type and the evidence of the longest. Of spans with the same
        offsets, those of the record take precedence, then those of the lists.

        Args:
            document: a note with the model's spans.
            known: identifiers of its patient.
            tokens: its tokens; None to tokenise it again.

        Raises:
            LimitError: a pattern of the custom lists takes too long.
        """
        labels = identifier_labels({tag[2:] for tag in self.tagger.tags} - {""})
        marked = self._merge(
            document, find_known(document.text, known, self.lists, labels, with_defaults(self.tagger.languages))
        )
        return self._with_copies(marked, tokens) if self.consistent else marked

    def _merge(self, document: Document, known: Sequence[Finding]) -> Document:
        """Merge the spans of the model, unless the lists allow them, with findings of the record and the lists."""
        first: dict[tuple[int, int], Finding] = {}
        for finding in known:
            first.setdefault((finding.span.start, finding.span.end), finding)
        left = [span for span in self._without_allowed(document) if (span.start, span.end) not in first]
        spans = [*(span for span, _ in first.values()), *left]
        evidence = {}
        if self.evidence or document.evidence:
            of_known = {span: Evidence(source) for span, source in first.values()}
            evidence = merge_evidence(spans, {**document.evidence, **of_known})
        findings = (*document.findings, *known)
        return replace(document, spans=tuple(merge(spans)), evidence=evidence, findings=findings)

    def _with_copies(self, document: Document, tokens: TokenTable | None) -> Document:
        """Add document consistency: the spans whose values recur, wherever they do."""
        consistent = make_consistent(document, tokens)
        added = set(consistent.spans).difference(document.spans)
        if not added:
            return document
        allowed = added.intersection(self._without_allowed(consistent))
        # A misspelt identifier of the record must not stay either.
        known = [span for span, source in document.findings if source in (RECORD, LIST)]
        types = {span.label for span in (*known, *overlapping(document.spans, known))}
        copies = (Finding(span, RECORD) for span in allowed if span.label in types)
        findings = (*document.findings, *copies)
        return replace(consistent, spans=(*document.spans, *allowed), findings=findings)

    def _with_concepts(
        self, notes: Sequence[_DocState], tagger: LayeredTagger, characters: int
    ) -> Iterator[Document | None]:
        """Yield documents with concepts, which a masking model reads only now that all PHI is known."""
        if self._layers_at_once is None:
            for batch in _batch_sentences(notes, characters):
                groups = [group for _, group in batch]
                phi = [_spans_within(group, note.document.spans) for note, group in batch]
                found = find_concepts(tagger, groups, phi)
                for (note, _), spans in zip(batch, found, strict=True):
                    note.concepts += spans
                yield None
        for note in notes:
            layers = {**note.document.layers, CONCEPT: tuple(note.concepts)}
            evidence = dict.fromkeys(note.concepts, Evidence(MODEL)) if self.evidence else {}
            yield replace(note.document, layers=layers, evidence={**evidence, **note.document.evidence})

    def _without_allowed(self, document: Document) -> list[Span]:
        return [span for span in document.spans if not self.lists.allows(document.text[span.start : span.end])]

    def _find(self, sentences: list[Sentence], predicted: Sequence[Sequence[str]] | None) -> Iterator[list[Span]]:
        """Yield the spans of each sentence, from tags if they are predicted already."""
        if self.threshold is None:
            rows = self.tagger.predict(sentences) if predicted is None else predicted
            for sentence, tags in zip(sentences, rows, strict=True):
                yield decode(sentence, tags)
        else:
            for sentence, table in zip(sentences, self.tagger.marginals(sentences), strict=True):
                yield phi_spans(sentence, table, self.tagger.tags, self.threshold)


def load(
    model: Path | str | ModelFolder,
    *,
    key: bytes | None = None,
    sensitivity: Sensitivity = None,
    max_leak_rate: float | None = None,
    consistent: bool = True,
    lists: CustomLists | None = None,
    concepts: bool = True,
    evidence: bool = True,
    members: bool = True,
) -> Deidentifier:
    """Load a trained model for use on text.

    Args:
        model: the folder that `crfdeid train` or `Tagger.save` wrote; or the text "synthetic", a model of the synthetic
            corpus, which is trained on first use and cached, or "rules", the rules alone. Neither was validated on
            real notes. A folder of such a name is "./synthetic", or a `Path`. Files of a `ModelFolder` that were read
            are not read again.
        key: the key of a private vocabulary (`vocabulary_key`); not needed for a readable one.
        sensitivity: share of the PHI tokens to find, such as 0.997; takes the highest threshold that finds it in the
            development notes. "none" for the most probable tags, None for the model's default, which built-in
            models have, and those trained with one as a member.
        max_leak_rate: share of notes that leak at most, such as 0.05; takes the threshold that `crfdeid calibrate`
            found, in place of a sensitivity.
        consistent: as of `Deidentifier`, and so are ``concepts``, ``evidence`` and ``members``.
        lists: lists of what to mark, and what not to mark, in addition to those saved with the model. What either
            denies is marked.

    Raises:
        DataError: the folder has no model, or a damaged one.
        UsageError: the card does not support this sensitivity or leak rate, or the key is missing or wrong.
    """
    folder = find_model(model)
    card = read_card(folder)  # also where no threshold is needed, so that a damaged folder is always refused
    threshold = chosen_threshold(card, sensitivity, max_leak_rate)
    lists = read_saved_lists(folder).joined(lists or CustomLists())
    tagger = load_tagger(folder, key=key)
    return Deidentifier(
        tagger,
        threshold=threshold,
        consistent=consistent,
        lists=lists,
        concepts=concepts,
        evidence=evidence,
        members=members,
    )


@dataclass(eq=False, slots=True)
class _DocState:
    """State of a document while its sentences are tagged.

    Attributes:
        document: the document, at the end with its PHI.
        known: identifiers of its patient.
        spans: the predicted PHI so far; `findings` is that of each member of a combined model.
        evidence: sources and scores of the predicted PHI.
        concepts: the predicted concepts so far.
        tokens: the tokens so far, for consistency.
    """

    document: Document
    known: PatientIdentifiers | None
    spans: list[Span] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    evidence: dict[Span, Evidence] = field(default_factory=dict)
    concepts: list[Span] = field(default_factory=list)
    tokens: TokenTable = field(default_factory=TokenTable)


_SentenceBatch = Sequence[tuple[_DocState, Sequence[Sentence]]]


def _batch_sentences(notes: Iterable[_DocState], characters: int) -> Iterator[_SentenceBatch]:
    """Yield the sentences of documents in batches of about so many characters."""
    batch: list[tuple[_DocState, list[Sentence]]] = []
    count = 0
    for note in notes:
        group: list[Sentence] = []
        batch.append((note, group))
        for sentence in note.document.each_sentence():
            if count >= characters:
                yield batch
                group, count = [], 0
                batch = [(note, group)]
            group.append(sentence)
            extent = sentence.tokens[-1].end - sentence.tokens[0].start if sentence.tokens else 0
            count += max(extent, _LEAST_COUNTED)
    yield batch


def _rule_evidence(
    sentence: Sentence, spans: Iterable[Span], matches: Sequence[RuleMatch]
) -> Iterator[tuple[Span, Evidence]]:
    """Yield the evidence of the spans that lie in a rule's match and have its type; matches share no token."""
    rules = {i: rule for rule in matches for i in range(rule.start, rule.stop)}
    for span in spans if matches else ():
        at = positions_in(sentence.tokens, span)
        rule = rules.get(at.start)
        if rule is not None and rule.label == span.label and at.stop <= rule.stop:
            yield span, Evidence(RULE + rule.name, rule.precision)


def _spans_within(sentences: Sequence[Sentence], spans: Iterable[Span]) -> list[Span]:
    """Return the spans that share a character with adjacent sentences."""
    tokens = [token for sentence in sentences for token in (*sentence.tokens[:1], *sentence.tokens[-1:])]
    if not tokens:
        return []
    return [span for span in spans if tokens[0].start < span.end and span.start < tokens[-1].end]


def find_known(
    raw: str,
    known: PatientIdentifiers | None,
    lists: CustomLists,
    labels: Mapping[str, str],
    languages: tuple[str, ...] = DEFAULT_LANGUAGES,
) -> list[Finding]:
    """Find the known PHI of a text by the patient's record, then by the lists; findings may overlap.

    A text with HTML entities or percent-encoded words is searched twice: raw and decoded.

    Args:
        raw: a note.
        known: identifiers of its patient; None if nothing is known.
        lists: the custom lists.
        labels: the type for each kind of identifier, by `identifier_labels`.
        languages: codes of the languages of the note.

    Raises:
        LimitError: a pattern takes too long, or the text is encoded too many times over.
    """
    if known is None and not lists:
        return []
    forms = [normal_form(raw), *map(_normal_decoded, decoded_forms(raw))]
    found = []
    if known is not None:
        spans = ((form, span) for form in forms for span in known.find(form.text, labels, languages))
        found += [Finding(_in_raw(span, form), RECORD) for form, span in spans]
    return found + [Finding(_in_raw(span, form), LIST) for form in forms for span in lists.find(form.text)]


def _in_raw(span: Span, form: NormalText) -> Span:
    """Return a span of a normal form with its offsets in the raw text."""
    start, end, label = span
    if form.offsets is None:
        return span
    while form.offsets[end] == form.offsets[end - 1]:  # characters that were one before normalisation
        end += 1
    return Span(form.offsets[start], form.offsets[end], label)


def _normal_decoded(form: NormalText) -> NormalText:
    """Return the normal form of a decoded text, with offsets into the raw text."""
    text, inner = normal_form(form.text)
    if inner is None or form.offsets is None:
        return NormalText(text, form.offsets)
    return NormalText(text, array("q", map(form.offsets.__getitem__, inner)))
