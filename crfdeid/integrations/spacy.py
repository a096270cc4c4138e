"""Pipeline component for spaCy: ``nlp.add_pipe("crfdeid", config={"model": "model/"})``.

The entry point ``spacy_factories`` makes the factory known, so nothing of this package needs an import.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from crfdeid.documents import PHI, Document, Evidence, Span
from crfdeid.errors import FormatError, MismatchError, missing_extra
from crfdeid.integrations.common import IntegratedModel
from crfdeid.redaction import redact
from crfdeid.utils.files import write_files
from crfdeid.utils.folders import write_folder

try:
    import srsly
    from spacy import util
    from spacy.language import Language
    from spacy.tokens import Doc, SpanGroup
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

__all__ = ["PhiComponent", "make_component", "redacted_text"]


def make_component(nlp: Language, name: str, model: str, sensitivity: float | None, consistent: bool) -> PhiComponent:
    """Create the component; spaCy calls this for ``nlp.add_pipe("crfdeid")``.

    Args:
        nlp: the pipeline.
        name: the component's name in it.
        model: a model's folder, or a built-in model. A pipeline that was saved has its model in its own folder.
        sensitivity: share of PHI tokens to find; None for the most probable tags.
        consistent: mark a value that is found once wherever it recurs in its document.
    """
    return PhiComponent(IntegratedModel(model, {"sensitivity": sensitivity, "consistent": consistent}), name=name)


class PhiComponent:
    """Component that marks PHI in the documents of spaCy.

    It assigns:

    - ``doc.spans["phi"]``: the PHI, expanded to whole tokens of spaCy. Its ``attrs`` have three lists, with an entry
      for each span: "offsets" (start and end of the PHI itself), "scores" (None where nothing was measured)
      and "sources".
    - ``doc.spans["concept"]``: likewise the concepts, if the model finds them.
    - ``doc.ents``: those spans of PHI that do not overlap, in place of entities that overlap them.
    - ``doc._.redacted``: the text with labels in place of PHI, by the exact offsets.

    Args:
        model: the trained model.
        name: the component's name in its pipeline.
    """

    def __init__(self, model: IntegratedModel, *, name: str = "crfdeid") -> None:
        self.model = model
        self.name = name

    def __call__(self, doc: Doc) -> Doc:
        """Mark the PHI of one document.

        Raises:
            NotFoundError: no model was named.
            DataError, UsageError: the model cannot be loaded, as for `crfdeid.load`.
        """
        return mark(doc, self.model.deidentifier.annotate(doc.text))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 0) -> Iterator[Doc]:
        """Mark the PHI of many documents, of which some 65,000 characters are tagged together.

        Args:
            stream: the documents.
            batch_size: not used, since batches are counted in characters; spaCy gives it to all components.

        Raises:
            DataError, UsageError: as for `__call__`. No document is returned without its PHI marked.
        """
        waiting: deque[Doc] = deque()

        def documents() -> Iterator[Document]:
            for doc in stream:
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
        """Take the model from a folder of a saved pipeline, after checking its checksums; nothing is unpickled.

        Raises:
            DataError, UsageError: as for `crfdeid.load`.
        """
        return self._take(IntegratedModel(Path(path), self.model.options))

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model's files as one MessagePack mapping."""
        packed: bytes = srsly.msgpack_dumps(dict(self.model.pack()))
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> PhiComponent:
        """Take the model from `to_bytes`, after checking its checksums; nothing is unpickled.

        Raises:
            DataError, UsageError: as for `crfdeid.load`; or the bytes are no packed model.
        """
        try:
            files = {str(name): bytes(content) for name, content in srsly.msgpack_loads(data).items()}
        except Exception:  # each way of damage has its own class of error
            raise FormatError("bytes that are no packed model: they were not written by to_bytes") from None
        return self._take(IntegratedModel("", self.model.options, files))

    def _take(self, model: IntegratedModel) -> PhiComponent:
        _ = model.deidentifier  # checks it
        self.model = model
        return self


def mark(doc: Doc, document: Document) -> Doc:
    """Assign the spans of an annotated document to spaCy's document of the same text."""
    doc.spans[PHI] = _span_group(doc, document, PHI)
    for layer in document.layers:
        doc.spans[layer] = _span_group(doc, document, layer)
    phi = util.filter_spans(doc.spans[PHI])
    taken = {token.i for span in phi for token in span}
    doc.ents = [*phi, *(entity for entity in doc.ents if taken.isdisjoint(range(entity.start, entity.end)))]
    return doc


def _span_group(doc: Doc, document: Document, layer: str) -> SpanGroup:
    """The spans of an annotation layer, expanded to whole tokens, with exact offsets, scores and sources."""
    spans = document.layer(layer)
    evidence = [document.evidence.get(span, Evidence("")) for span in spans]
    group = [doc.char_span(*span, alignment_mode="expand") for span in spans]
    attrs: dict[str, Any] = {
        "offsets": [[span.start, span.end] for span in spans],
        "scores": [found.as_json()["score"] for found in evidence],
        "sources": [found.source for found in evidence],
    }
    return SpanGroup(doc, name=layer, spans=group, attrs=attrs)


def redacted_text(doc: Doc) -> str:
    """Return the text with labels in place of PHI, by the offsets in ``doc.spans["phi"]``: ``doc._.redacted``.

    Raises:
        MismatchError: the document did not pass through the component, or its spans were changed afterwards.
    """
    group = doc.spans.get(PHI)
    if group is None or len(group) != len(group.attrs.get("offsets", [None])):
        problem = "a document whose PHI is not marked: add the component crfdeid to its pipeline"
        raise MismatchError(problem)
    pairs = zip(group.attrs["offsets"], group, strict=True)
    spans = (Span(start, end, span.label_) for (start, end), span in pairs)
    return redact(Document("", doc.text, tuple(spans))).text


Language.factory(
    "crfdeid",
    assigns=["doc.spans", "doc.ents", "doc._.redacted"],
    default_config={"model": "", "sensitivity": None, "consistent": True},
    func=make_component,
)
if not Doc.has_extension("redacted"):
    Doc.set_extension("redacted", getter=redacted_text)
