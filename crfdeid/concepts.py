"""Concepts of notes whose PHI is decided: the model reads the notes with all PHI masked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crfdeid.bio import OUTSIDE, decode, write_span
from crfdeid.documents import CONCEPT, Span, merge, positions_in
from crfdeid.tagger import LayeredTagger
from features.tokens import Sentence


def masking_tags(sentences: Sequence[Sentence], spans: Iterable[Span]) -> list[list[str]]:
    """PHI tags that hide every token which shares a character with a span.

    Unlike `crfdeid.bio.encode`, which says what tags can express exactly: a token of which a part is PHI is hidden.

    Args:
        sentences: those of a note, in order.
        spans: the PHI of the note; what is given beforehand may begin within a token or cross the end of a sentence.

    Returns:
        One IOB2 tag a token, for each sentence.

    Example:
        >>> hiding_tags([Sentence.from_words(["Seen", "by", "DrQuill"])], [Span(10, 15, "DOCTOR")])
        [['O', 'O', 'B-DOCTOR']]
    """
    tokens = [token for sentence in sentences for token in sentence.tokens]
    tags = [OUTSIDE] * len(tokens)
    for span in merge(spans):
        place = positions_in(tokens, span)
        if place:
            write_span(tags, Span(place.start, place.stop, span.label))
    rows, begin = [], 0
    for sentence in sentences:
        row = tags[begin : begin + len(sentence.tokens)]
        rows.append([f"B-{tag[2:]}" if tag[:2] == "I-" and not i else tag for i, tag in enumerate(row)])
        begin += len(row)
    return rows


def find_concepts(
    tagger: LayeredTagger, notes: Sequence[Sequence[Sentence]], phi: Sequence[Iterable[Span]]
) -> list[list[Span]]:
    """The concepts of each note, which a model that hides PHI finds in what is left of it.

    Args:
        tagger: a trained model.
        notes: the sentences of each note.
        phi: the PHI of each note, as it is decided.
    """
    tags = [row for sentences, spans in zip(notes, phi, strict=True) for row in masking_tags(sentences, spans)]
    found = tagger.predict_layers([sentence for sentences in notes for sentence in sentences], phi=tags)
    rows = iter(found[CONCEPT])
    return [[span for sentence in sentences for span in decode(sentence, next(rows))] for sentences in notes]
