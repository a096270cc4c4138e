"""What a model's card says of concepts, where the model finds them beside PHI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crfdeid.concepts import find_concepts
from crfdeid.corpora.layers import alone
from crfdeid.corpora.splits import Split
from crfdeid.documents import CONCEPT, Span
from crfdeid.scoring.entities import score_entities
from crfdeid.tagger import LayeredTagger, Tagger


def layers_of(tagger: Tagger) -> dict[str, Any]:
    """The layers that a model learns, and whether it hides PHI from its concept part; nothing for PHI alone."""
    traits = type(tagger).traits(tagger.settings)
    return {"layers": list(traits.layers), "hides_phi": traits.hides_phi} if CONCEPT in traits.layers else {}


def concept_scores(tagger: Tagger, split: Split, phi: Mapping[str, Sequence[Span]]) -> dict[str, Any]:
    """Strict scores of the concepts that a model finds in the notes that have any annotated; nothing for PHI alone.

    Args:
        tagger: the trained model.
        split: the notes.
        phi: what is hidden in each, by its id: what the model finds as it is used.
    """
    if not isinstance(tagger, LayeredTagger):
        return {}
    part = split.annotated(CONCEPT)
    sentences = [[item.sentence for item in encoded.sentences] for encoded in part.encoded]
    spans = find_concepts(tagger, sentences, [phi[document.id] for document in part.documents])
    found = {document.id: marked for document, marked in zip(part.documents, spans, strict=True)}
    scores = score_entities([alone(document, CONCEPT) for document in part.documents], found, match="strict")
    return {"concepts": {"entity_strict": scores.to_dict()}}
