"""`Service`: a model and a policy for concurrent callers, none of whom waits long for the texts of another."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crfdeid.documents import Document, Evidence, merge, merge_evidence
from crfdeid.errors import DataError, LimitError, SettingError, UsageError, panics_as_errors
from crfdeid.explain.page import word_data
from crfdeid.io.records import Note
from crfdeid.markup.blocks import MarkupText
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction.in_markup import split_at_blocks
from crfdeid.redaction.redact import redact
from crfdeid.redaction.redactor import StartedRedactor
from crfdeid.thresholds import chosen_sensitivity, threshold_in
from crfdeid.utils.process import collecting_seldom

_SENSITIVITIES = (0.9, 0.95, 0.98, 0.99, 0.995, 0.997, 0.999)
_LONGEST_TRIAL = 20_000
"""Characters of a note on the page, which is tagged once for each sensitivity."""

_SHORT = 1 << 14  # characters of the requests that have a thread of their own, and of those that are tagged together
_SMALLEST = 1 << 12  # characters of the smallest class of requests
_STEP = 1 << 12  # characters that are tagged in a step
_TURN = 0.1  # seconds after which another request is asked for
_LEAST_COUNTED = 64  # characters as which a shorter text counts


_Read = tuple[Note, MarkupText | None]
"""Note as a model reads it, as of `Redactor.read`."""


@dataclass(eq=False, frozen=True)
class _Request:
    """A caller's notes."""

    notes: Sequence[_Read]
    finish: Callable[[Document, _Read], Any]  # makes the result of an annotated text
    answer: asyncio.Future[list[Any]]  # the results; done, if the caller is gone

    @cached_property
    def characters(self) -> int:
        """The size of the texts."""
        return _characters(note.text for note, _ in self.notes)

    @property
    def size(self) -> int:
        """The class of its size; in each, requests have up to twice as many characters as in the one before."""
        return (self.characters // _SMALLEST).bit_length()


class _Batch:
    """Requests of one size, whose texts are tagged together, step by step."""

    def __init__(self, requests: Sequence[_Request], model: Deidentifier) -> None:
        self.requests, self.size = requests, requests[0].size
        self._finished: list[Any] = []
        self._steps = self._work(model)

    def _work(self, model: Deidentifier) -> Iterator[None]:
        notes = [(request.finish, read) for request in self.requests for read in request.notes]
        texts, known = (note.text for _, (note, _) in notes), (note.known for _, (note, _) in notes)
        for document in model.annotate_in_steps(texts, characters=_STEP, known=known):
            if document is not None:
                finish, read = notes[len(self._finished)]
                self._finished.append(finish(document, read))
            yield

    def advance(self) -> bool:
        """Work for a turn; True at the end."""
        end = time.monotonic() + _TURN
        with panics_as_errors(), collecting_seldom():
            return not any(time.monotonic() > end for _ in self._steps)

    def is_wanted(self) -> bool:
        """True while one of the callers waits."""
        return not all(request.answer.done() for request in self.requests)

    def answer(self) -> None:
        """Give each caller the results of its texts."""
        results = iter(self._finished)
        for request in self.requests:
            own = [next(results) for _ in request.notes]
            if not request.answer.done():
                request.answer.set_result(own)


class _Lane:
    """A thread, and the requests that share it, of which smaller ones go first.

    A request interrupts those of a larger class of size. Of each class one batch has begun at most, so that the batches
    that have begun take no more memory than two of the largest.
    """

    def __init__(self, model: Deidentifier, name: str) -> None:
        self._model = model
        self._waiting: list[_Request] = []
        self._begun: list[_Batch] = []
        self._task: asyncio.Task[None] | None = None
        self.thread = ThreadPoolExecutor(1, name)

    def add(self, request: _Request) -> None:
        """Answer a request when it is its turn."""
        self._waiting.append(request)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        """Work turn by turn until no caller waits."""
        while (batch := self._next()) is not None:
            try:
                if not await asyncio.wrap_future(self.thread.submit(batch.advance)):
                    continue
                batch.answer()
            except Exception as problem:  # It is raised to the caller of its text alone.
                self._give_back(batch, problem)
            self._begun.remove(batch)

    def _next(self) -> _Batch | None:
        """The batch of the smallest size whose callers wait; a new one, if no begun one is as small."""
        self._begun = [batch for batch in self._begun if batch.is_wanted()]
        self._waiting = [request for request in self._waiting if not request.answer.done()]
        begun = min(self._begun, key=lambda batch: batch.size, default=None)
        first = min(self._waiting, key=lambda request: request.size, default=None)
        if first is None or (begun is not None and begun.size <= first.size):
            return begun
        return self._begin(first.size)

    def _begin(self, size: int) -> _Batch:
        """A batch of the requests of a size that wait longest."""
        together: list[_Request] = []
        others, characters = [], 0
        for request in self._waiting:
            if request.size == size and (not together or characters + request.characters <= _SHORT):
                together.append(request)
                characters += request.characters
            else:
                others.append(request)
        self._waiting = others
        self._begun.append(_Batch(together, self._model))
        return self._begun[-1]

    def _give_back(self, batch: _Batch, problem: Exception) -> None:
        """Raise an error to the caller of a failed batch; of several requests, try each one alone."""
        if len(batch.requests) > 1:
            self._begun += [_Batch([request], self._model) for request in batch.requests]
        elif not batch.requests[0].answer.done():
            batch.requests[0].answer.set_exception(problem)


def _whole(document: Document) -> Document:
    return document


def _hides(step: tuple[float | None, float | None]) -> tuple[float, float]:
    """Key that sorts steps of sensitivity and threshold from the one that hides least on."""
    sensitivity, threshold = step
    return (-math.inf if threshold is None else -threshold, sensitivity or 0.0)


def _characters(texts: Iterable[str]) -> int:
    return sum(max(len(text), _LEAST_COUNTED) for text in texts)


class Service:
    """A model and a policy for concurrent callers.

    Short texts that wait together are tagged together, and longer ones yield to them. Each class of texts is tagged on
    one thread: a sum over several could differ in its last digit from that of the command.

    Args:
        redactor: the model, with evidence, the policy and the keys.
    """

    def __init__(self, redactor: StartedRedactor) -> None:
        self.redactor, self.model, self.policy = redactor, redactor.model, redactor.redactor.policy
        self._preview_secret = redactor.keys.secret or secrets.token_bytes(32)
        chosen = chosen_sensitivity(redactor.card, self.policy.sensitivity, self.policy.max_leak_rate)
        self._used = (chosen, self.model.threshold)
        steps = {(None, None), self._used}
        for sensitivity in _SENSITIVITIES:
            with suppress(UsageError):  # not supported by the development notes, or no card
                steps.add((sensitivity, threshold_in(redactor.card, sensitivity)))
        self._steps = sorted(steps, key=_hides)
        self._short, self._long = _Lane(self.model, "crfdeid-short"), _Lane(self.model, "crfdeid-long")

    async def run(self, work: Callable[..., Any], *args: Any) -> Any:
        """Do other work, between that for long texts; a panic of a library is raised as `PanicError`."""
        return await asyncio.wrap_future(self._long.thread.submit(panics_as_errors()(work), *args))

    async def annotate(self, texts: Sequence[str], *, finish: Callable[[Document], Any] = _whole) -> list[Any]:
        """Return texts as documents with their PHI; a text that fails does not fail those of other callers.

        The work ends soon after its caller was cancelled.

        Args:
            texts: the texts.
            finish: makes the result of a document, on the thread that tagged it.

        Raises:
            EncodingError: a text is not Unicode, or in mojibake that the policy does not accept.
            MarkupError: a text is in markup that the policy does not accept.
            LimitError: a pattern of the custom lists takes too long.
        """
        for text in texts:
            self.redactor.redactor.require_prose(text)
        notes = [(Note("", text, None), None) for text in texts]
        return await self._answer(notes, lambda document, _: finish(document))

    async def redact(
        self,
        texts: Sequence[str],
        *,
        patient: str | float | None = None,
        markup: str | None = None,
        finish: Callable[[Document], Any] = _whole,
    ) -> list[Any]:
        """Return texts redacted by the policy, with the replacements as spans.

        Args:
            texts: the texts.
            patient: their patient, for surrogates, as of `crfdeid.redact`; None for that which a text in markup names,
                or a separate patient for each.
            markup: their format; None for that of the policy.
            finish: as for `annotate`, of each redacted document.

        Raises:
            EncodingError, MarkupError, LimitError: as for `annotate`.
        """

        def work(document: Document, read: _Read) -> Any:
            return finish(self.redactor.hide_in(document, read, patient=patient))

        def read() -> list[_Read]:
            return [self.redactor.redactor.read(Note("", text, None, markup=markup)) for text in texts]

        return await self._answer(read() if _characters(texts) <= _SHORT else await self.run(read), work)

    async def _answer(self, notes: Sequence[_Read], finish: Callable[[Document, _Read], Any]) -> list[Any]:
        request = _Request(notes, finish, asyncio.get_running_loop().create_future())
        (self._short if request.characters <= _SHORT else self._long).add(request)
        return await request.answer

    async def redact_numbered(self, texts: Sequence[str], mapping: MutableMapping[str, str]) -> list[Document]:
        """Return texts with numbered tokens in place of the PHI of all types.

        Args:
            texts: the texts, in the order of the conversation.
            mapping: the map of its earlier texts, to which new tokens are added.

        Raises:
            FormatError: it is no map of tokens to values.
        """
        numbered = self.redactor.with_map(mapping)
        found = await self.annotate(texts)
        return [(await self.run(numbered.hide, document)).document for document in found]

    def preview(self, text: str) -> dict[str, Any]:
        """Return the PHI of a text at each threshold, with several replacements, for the page.

        Returns:
            "text": the text, or the visible text of markup; "words": [start, end] each; "used": the index of the step
            in use; "steps": "threshold", null for the most probable tags, the "sensitivity" that chose it, null for
            none, and "spans": [start, end, type, source, score, label, mask, surrogate] each. The surrogate is null if
            the text's language is not clear.

        Raises:
            EncodingError, MarkupError: as for `redact`.
            LimitError: the text is too long.
        """
        read = self.redactor.redactor.read(Note("", text, None))
        text = read[0].text
        if len(text) > _LONGEST_TRIAL:
            raise LimitError(f"more than {_LONGEST_TRIAL:,} characters: use /redact for longer notes")
        steps = [
            {"sensitivity": share, "threshold": limit, "spans": self._spans_at(limit, *read)}
            for share, limit in self._steps
        ]
        words = [[token.start, token.end] for sentence in Document("", text).sentences() for token in sentence.tokens]
        return {"text": text, "words": words, "used": self._steps.index(self._used), "steps": steps}

    def _spans_at(self, threshold: float | None, note: Note, markup: MarkupText | None) -> list[list[Any]]:
        model = self.model
        settings: dict[str, Any] = {"consistent": model.consistent, "lists": model.lists}
        at = Deidentifier(model.tagger, threshold=threshold, concepts=False, members=False, **settings)
        document = at.annotate(note.text, known=note.known)
        if markup is not None:
            document = split_at_blocks(document, markup)
        evidence, spans = merge_evidence(document.spans, document.evidence), merge(document.spans)
        texts = [self._replacements(document, operator) for operator in ("label", "mask", "surrogate")]
        sources = (evidence.get(span, Evidence("")).as_json().values() for span in spans)
        return [[*span, *source, *new] for span, source, *new in zip(spans, sources, *texts, strict=True)]

    def _replacements(self, document: Document, operator: str) -> list[str | None]:
        try:
            done = redact(document, operator, secret=self._preview_secret, locale=self.policy.locale, markup="plain")
        except DataError:  # no surrogates in this language
            return [None] * len(merge(document.spans))
        return [done.text[span.start : span.end] for span in done.spans]

    def explain(self, text: str, offset: int) -> dict[str, Any]:
        """The evidence for the tag of the word at an offset, for the page.

        Raises:
            SettingError: there is no word.
            UsageError: a model with a single tag.
        """
        for sentence in Document("", text[: _LONGEST_TRIAL + 1]).sentences():
            for index, token in enumerate(sentence.tokens):
                if token.start <= offset < token.end:
                    return word_data(self.model.tagger, sentence, [index])[0]
        raise SettingError(f"no word at offset {offset}")

    def close(self) -> None:
        """Wait for the work that was taken."""
        for lane in (self._short, self._long):
            lane.thread.shutdown()
