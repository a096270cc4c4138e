"""What is done with each note: find its PHI, and hide it. In this process, or in several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Protocol

from crfdeid.documents import CONCEPT, Document, merge
from crfdeid.errors import DataError, UsageError
from crfdeid.io.records import Failure, Note, NoteResult
from crfdeid.model_card.drift import NoteReader, drift_measures
from crfdeid.redaction.policy import SURROGATE, Policy

# The bytes 80 to BF in Windows-1252 and, where that has no character or the file was Latin-1, as control characters.
_HIGH = "\x80-\x9f€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_FOLLOWS = f"{_HIGH}\xa0-\xbf"
# After a capital that ends a word there can be, in sound text, what closes a quotation, a dash or a hard space. The
# Portuguese, Swedish and French write that, so that one such pair is no proof.
_CLOSES = "’”…–—™»\xa0"
_PAIR = re.compile(f"[Â-ð][{_FOLLOWS}]")  # what all of it has, and hardly any sound text: quick to look for
_MOJIBAKE = re.compile(
    rf"[ÂÃÄÅ](?![{_CLOSES}])[{_FOLLOWS}]"  # Latin letters and signs
    rf"|â(?:€|\x80|[‚\x82]¬|[„\x84]¢)|ï»¿|ï¬[\x81\x82‚]|ð[Ÿ\x9f]"  # quotes, dashes, euro; byte order mark; emoji
    rf"|(?:[Â-ß][{_FOLLOWS}]){{2}}|(?:[à-ï][{_FOLLOWS}]{{2}}){{2}}"  # any alphabet: two letters in a row
)


def find_mojibake(text: str) -> int | None:
    """The offset of the first characters that only a wrong encoding makes; None where there are none.

    Example:
        >>> find_mojibake("José"), find_mojibake("JosÃ©")
        (None, 3)
    """
    found = _MOJIBAKE.search(text) if not text.isascii() and _PAIR.search(text) else None
    return None if found is None else found.start()


def require_no_mojibake(text: str) -> None:
    """Refuse a note in mojibake, in which a model misses what it would find.

    Raises:
        DataError: it is in mojibake; the message has the offset and nothing of the text.
    """
    offset = find_mojibake(text)
    if offset is not None:
        problem = (
            "letters are damaged: UTF-8 was read as Latin-1 or Windows-1252 and written again; "
            "take the notes from their source as UTF-8, or give --accept-damaged and expect misses"
        )
        raise DataError(problem, offset=offset)


Result = NoteResult | Failure
_WORD = re.compile(r"\w++")
Worker = Callable[[Sequence[Note]], list[Result]]


class WorkerTask(Protocol):
    """What can be sent to another process, to be started there."""

    def start(self) -> Worker:
        """Load what is needed; the function that is returned gives one result per note, in order."""
        ...


@dataclass(frozen=True, slots=True)
class NoteTask:
    """Find PHI with a model and, if asked to, hide it.

    Args:
        model: the model's folder.
        policy: how PHI is found and hidden.
        key: the key of a private vocabulary, if the model has one.
        secret: what surrogates are derived from.
        concepts: whether concepts are looked for too, by a model that finds them.
        rated: whether to say of each note how probable it is that nothing was missed.
    """

    model: Path
    policy: Policy
    key: bytes | None = None
    secret: bytes | None = None
    concepts: bool = False
    with_completeness: bool = False

    def start(self) -> Worker:
        """Load the model.

        Raises:
            DataError: there is no such model, or a damaged one.
        """
        from crfdeid.model_card.card import read_card  # noqa: PLC0415
        from crfdeid.pipeline import load  # noqa: PLC0415
        from crfdeid.review.sampling import candidates  # noqa: PLC0415

        card = read_card(self.model)
        profile = None if card is None else card["drift_profile"]
        reader = None if profile is None else NoteReader.of(profile, self.key)
        model = load(
            self.model,
            key=self.key,
            sensitivity=self.policy.sensitivity,
            consistent=self.policy.consistent,
            site=self.policy.site,
            concepts=self.concepts,
        )

        def work(notes: Sequence[Note]) -> list[Result]:
            known = [note.known for note in notes]
            documents = list(model.annotate_documents((self._document(note) for note in notes), known=known))
            with_completeness = (
                candidates(documents, model.tagger, threshold=model.threshold)
                if self.with_completeness
                else repeat(None)
            )
            return [
                measured(self._hide(document, note), note)._replace(p_no_miss=None if one is None else one.p_no_miss)
                for (document, note), one in zip(zip(documents, notes, strict=True), with_completeness, strict=False)
            ]

        def measured(answer: NoteResult, note: Note) -> NoteResult:
            if reader is None or profile is None:
                return answer
            measures = reader.measure(note.text, answer.found)
            raised = self.policy.sensitivity is not None
            return answer._replace(measures=measures, drift_warnings=drift_measures(profile, measures, raised=raised))

        return isolate_failures(work)

    def _document(self, note: Note) -> Document:
        if not self.policy.accept_damaged:
            require_no_mojibake(note.text)
        return Document(note.id, note.text)

    def _hide(self, document: Document, note: Note) -> NoteResult:
        found = Counter(span.label for span in document.spans)
        concepts = _concepts(document) if self.concepts else None
        policy = self.policy
        if policy.how is None:
            return NoteResult(document, found, concepts=concepts)
        from crfdeid.redaction.redact import locale_for, redact  # noqa: PLC0415

        locale = locale_for(document, policy.locale) if policy.how == SURROGATE else None
        words, hidden_words = _words(document)
        hidden = redact(
            document,
            policy.how,
            secret=self.secret,
            patient=note.patient,
            locale=locale,
            date_order=policy.date_order,
            marked=False,  # The results are texts.
        )
        answer = NoteResult(hidden, found, locale=locale, words=words, hidden_words=hidden_words)
        if concepts is None:
            return answer
        kept = _concepts(hidden)
        return answer._replace(concepts=kept, left_out=concepts - kept)


def _words(document: Document) -> tuple[int, int]:
    """The numbers of words of a note: all, and those that its spans cover, also in part."""
    # Counted one by one: a list of all words takes many times the memory of a long note.
    pieces = ((0, len(document.text)), *((span.start, span.end) for span in merge(document.spans)))
    whole, *hidden = (sum(1 for _ in _WORD.finditer(document.text, *piece)) for piece in pieces)
    return whole, sum(hidden)


def _concepts(document: Document) -> Counter[str]:
    return Counter(span.label for span in document.layer(CONCEPT))


def isolate_failures(work: Worker) -> Worker:
    """Let a note that fails fail alone: the others that came with it are done again without it.

    A wrong option is no note's fault, and is raised.
    """

    def careful(notes: Sequence[Note]) -> list[Result]:
        try:
            return list(work(notes))
        except UsageError:
            raise
        except Exception as problem:  # Whatever it is, it is listed, and the note has no output.
            if len(notes) == 1:
                return [Failure.of(problem)]
        return [result for note in notes for result in careful([note])]

    return careful
