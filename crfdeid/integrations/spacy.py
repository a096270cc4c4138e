"""Pipeline component for spaCy: ``nlp.add_pipe("crfdeid", config={"model": "model/"})``.

The entry point ``spacy_factories`` makes the factory known, so nothing of this package needs an import.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crfdeid.documents import PHI, Document, Evidence, Span
from crfdeid.errors import DataError, EncodingError, FormatError, MarkupError, MismatchError, UsageError, missing_extra
from crfdeid.integrations.common import IntegratedModel
from crfdeid.label_schemes import BINARY
from crfdeid.redaction import redact
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor
from crfdeid.utils.files import write_files
from crfdeid.utils.folders import write_folder
from crfdeid.validation import Sensitivity

try:
    import srsly
    from spacy import util
    from spacy.language import Language
    from spacy.scorer import get_ner_prf
    from spacy.tokens import Doc, SpanGroup
    from spacy.training import Example
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

__all__ = ["PhiComponent", "make_component", "redacted_text"]

_ErrorHandler = Callable[[str, Any, list[Doc], Exception], None]


def make_component(
    nlp: Language,
    name: str,
    model: str,
    sensitivity: Sensitivity,
    max_leak_rate: float | None,
    consistent: bool,
    accept_damaged: bool,
    markup: str,
) -> PhiComponent:
    """Create the component; spaCy calls this for ``nlp.add_pipe("crfdeid")``.

    Args:
        nlp: the pipeline.
        name: the component's name in it.
        model: a model's folder, or a built-in model. A pipeline that was saved has its model in its own folder.
        sensitivity: share of PHI tokens to find, or "none", as of `crfdeid.Policy`.
        max_leak_rate: share of notes that leak at most, of the model's claim, in place of a sensitivity.
        consistent: mark a value that is found once wherever it recurs in its document.
        accept_damaged: accept documents in mojibake, with more misses; else they fail.
        markup: "auto" fails documents in markup, such as RTF; "plain" reads them as prose.

    Raises:
        UsageError: an option is invalid, or the model's card does not support it.
    """
    policy = Policy(
        sensitivity=sensitivity,
        max_leak_rate=max_leak_rate,
        consistent=consistent,
        accept_damaged=accept_damaged,
        markup=markup,
    )
    found = IntegratedModel(Redactor(model, policy, concepts=True, evidence=True))
    found.require_threshold()
    return PhiComponent(found, name=name)


class PhiComponent:
    """Component that marks PHI in the documents of spaCy.

    It assigns:

    - ``doc.spans["phi"]``: the PHI, expanded to whole tokens of spaCy. Its ``attrs`` have three lists, with an entry
      for each span: "offsets" (start and end of the PHI itself), "scores" (None where nothing was measured)
      and "sources". Spans that are there already are kept, so that several components add up.
    - ``doc.spans["concept"]``: likewise the concepts, if the model finds them.
    - ``doc.ents``: those spans of PHI that do not overlap, in place of entities that overlap them.
    - ``doc._.redacted``: the text with labels in place of PHI, by the exact offsets.

    Args:
        model: the trained model, and the policy.
        name: the component's name in its pipeline.
    """

    def __init__(self, model: IntegratedModel, *, name: str = "crfdeid") -> None:
        self.model = model
        self.name = name
        self._handle: _ErrorHandler = util.raise_error

    def set_error_handler(self, handler: _ErrorHandler) -> None:
        """Set the function that `pipe` calls for a document in markup or mojibake; spaCy calls this."""
        self._handle = handler

    def get_error_handler(self) -> _ErrorHandler:
        """Return that function; by default, one that raises the error."""
        return self._handle

    @property
    def labels(self) -> tuple[str, ...]:
        """Types of PHI that the model can give, sorted; none where it cannot be loaded, as spaCy asks before that."""
        try:
            return tuple(sorted(self.model.deidentifier.types))
        except (DataError, UsageError):
            return ()

    def score(self, examples: Iterable[Example], **_: Any) -> dict[str, Any]:
        """Score ``doc.ents`` by strict matching, as spaCy's own components for entities do.

        Args:
            examples: predicted documents, each with its gold one.
        """
        return get_ner_prf(examples)

    def __call__(self, doc: Doc) -> Doc:
        """Mark the PHI of one document.

        Raises:
            EncodingError: the document is in mojibake.
            MarkupError: the document is in markup.
            NotFoundError: no model was named.
            DataError, UsageError: the model cannot be loaded, as for `crfdeid.load`.
        """
        self.model.redactor.require_prose(doc.text)
        return mark(doc, self.model.deidentifier.annotate(doc.text))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 0) -> Iterator[Doc]:
        """Mark the PHI of many documents, of which some 65,000 characters are tagged together.

        A document in markup or mojibake fails as for `__call__`; an error handler of spaCy can leave it out instead.

        Args:
            stream: the documents.
            batch_size: not used, since batches are counted in characters; spaCy gives it to all components.
        """
        waiting: deque[Doc] = deque()

        def documents() -> Iterator[Document]:
            for doc in stream:
                try:
                    self.model.redactor.require_prose(doc.text)
                except (EncodingError, MarkupError) as problem:
                    self._handle(self.name, self, [doc], problem)
                    continue
                waiting.append(doc)
                yield Document("", doc.text)

        for document in self.model.deidentifier.annotate_documents(documents()):
            yield mark(waiting.popleft(), document)

    def to_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder of the saved pipeline."""
        files = self.model.pack()

        def write(folder: Path) -> None:
            write_files({folder / name: content for name, content in files.items()})

        write_folder(Path(path), write)

    def from_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> PhiComponent:
        """Take the model from a folder of a saved pipeline, after checking its checksums; nothing is unpickled."""
        return self._take(IntegratedModel(replace(self.model.redactor, model=Path(path))))

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model's files as one MessagePack mapping."""
        return srsly.msgpack_dumps(dict(self.model.pack()))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> PhiComponent:
        """Take the model from `to_bytes`, after checking its checksums; nothing is unpickled.

        Raises:
            DataError, UsageError: as for `crfdeid.load`; or the bytes are no packed model.
        """
        try:
            files = dict(srsly.msgpack_loads(data))
            valid = all(isinstance(name, str) and isinstance(content, bytes) for name, content in files.items())
        except Exception:  # each way of damage has its own class of error
            valid = False
        if not valid:
            raise FormatError("bytes that are no packed model: they were not written by to_bytes")
        return self._take(IntegratedModel(replace(self.model.redactor, model=""), files))

    def _take(self, model: IntegratedModel) -> PhiComponent:
        _ = model.deidentifier  # checks it
        self.model = model
        return self


def mark(doc: Doc, document: Document) -> Doc:
    """Add the spans of an annotated document to spaCy's document of the same text.

    Raises:
        MismatchError: an earlier component's spans are there, but tokens or spans were changed after that.
    """
    for layer in (PHI, *document.layers):
        found = {span: document.evidence.get(span, Evidence("")) for span in document.layer(layer)}
        doc.spans[layer] = _span_group(doc, layer, _present(doc, layer) | found)
    phi = util.filter_spans(doc.spans[PHI])
    taken = {token.i for span in phi for token in span}
    doc.ents = [*phi, *(entity for entity in doc.ents if taken.isdisjoint(range(entity.start, entity.end)))]
    return doc


def _present(doc: Doc, layer: str) -> dict[Span, Evidence]:
    """The spans that an annotation layer has already; those of other components and merged documents by whole tokens.

    To drop them would show the PHI that only an earlier component finds.
    """
    group = doc.spans.get(layer)
    if group is None:
        return {}
    if "offsets" not in group.attrs:
        return {Span(span.start_char, span.end_char, span.label_ or BINARY): Evidence("") for span in group}
    spans = _exact_spans(doc, group)
    if spans is None:
        problem = f'a document whose tokens or spans were changed after doc.spans["{layer}"] was assigned'
        raise MismatchError(f"{problem}: put the component that changes them last, or delete that group")
    return dict(zip(spans, map(Evidence, group.attrs["sources"], group.attrs["scores"]), strict=True))


def _span_group(doc: Doc, layer: str, found: Mapping[Span, Evidence]) -> SpanGroup:
    """The spans of an annotation layer, expanded to whole tokens, with exact offsets, scores and sources."""
    spans = sorted(found)
    evidence = [found[span].as_json() for span in spans]
    attrs: dict[str, Any] = {
        "offsets": [[span.start, span.end] for span in spans],
        "scores": [one["score"] for one in evidence],
        "sources": [one["source"] for one in evidence],
    }
    group = [doc.char_span(*span, alignment_mode="expand") for span in spans]
    return SpanGroup(doc, name=layer, spans=group, attrs=attrs)


def redacted_text(doc: Doc) -> str:
    """Return the text with labels in place of PHI, by the offsets in ``doc.spans["phi"]``: ``doc._.redacted``.

    Raises:
        MismatchError: the document did not pass through the component, or its spans were changed afterwards.
    """
    group = doc.spans.get(PHI)
    spans = None if group is None else _exact_spans(doc, group)
    if spans is None:
        problem = "a document whose PHI is not marked, or whose tokens or spans were changed after that"
        raise MismatchError(f"{problem}: put the component crfdeid last in its pipeline")
    return redact(Document("", doc.text, tuple(spans)), markup="plain").text  # It passed the component.


def _exact_spans(doc: Doc, group: SpanGroup) -> list[Span] | None:
    """Spans with the offsets of the group's attributes; None if these are not those of its spans.

    Merged documents, merged tokens and groups of other components have spans without offsets, or other ones.
    """
    offsets = group.attrs.get("offsets")
    try:
        labels = [(span.start, span.end, span.label_) for span in group]
    except (IndexError, ValueError):  # spaCy's, for a span of tokens that were merged
        return None
    if not isinstance(offsets, Sequence) or len(offsets) != len(labels):
        return None
    found, length = [], len(doc.text)
    for pair, (first, stop, label) in zip(offsets, labels, strict=True):
        if not (isinstance(pair, Sequence) and list(map(type, pair)) == [int, int] and 0 <= pair[0] < pair[1]):
            return None
        whole = doc.char_span(*pair, alignment_mode="expand") if pair[1] <= length else None
        if whole is None or (whole.start, whole.end) != (first, stop):
            return None
        found.append(Span(pair[0], pair[1], label))
    return found


Language.factory(
    "crfdeid",
    assigns=["doc.spans", "doc.ents", "doc._.redacted"],
    default_config={
        "model": "",
        "sensitivity": None,
        "max_leak_rate": None,
        "consistent": True,
        "accept_damaged": False,
        "markup": "auto",
    },
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
    func=make_component,
)
if not Doc.has_extension("redacted"):
    Doc.set_extension("redacted", getter=redacted_text)
