"""`Service`: a model and a policy for concurrent callers; their texts are tagged together, on one thread."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

from crfdeid.documents import Document, Evidence, merge, merge_evidence
from crfdeid.errors import DataError, LimitError, SettingError, UsageError
from crfdeid.explain.page import word_data
from crfdeid.io.worker import require_no_mojibake
from crfdeid.model_card.card import threshold_in
from crfdeid.pipeline import BATCH_CHARACTERS, Deidentifier
from crfdeid.redaction.policy import LABEL, MASK, SURROGATE, Policy
from crfdeid.redaction.redact import redact
from crfdeid.utils.process import collecting_seldom

_Args = ParamSpec("_Args")
_Value = TypeVar("_Value")

_SENSITIVITIES = (0.9, 0.95, 0.98, 0.99, 0.995, 0.997, 0.999)
_LONGEST_TRIAL = 20_000
"""Characters of a note on the page, which is tagged once for each sensitivity."""


class Service:
    """A model and a policy for concurrent callers.

    Texts that wait together are tagged together. All work is done on one thread: a sum over several could differ in its
    last digit from that of the command.

    Args:
        model: the pipeline with the model, with evidence.
        policy: the replacement of PHI in `redact`.
        card: the model's card, for the sensitivities of `preview`; None without one.
        secret: secret of surrogates and hashes.
        encryption_key: key of encrypted values.
    """

    def __init__(
        self,
        model: Deidentifier,
        policy: Policy,
        *,
        card: Mapping[str, Any] | None = None,
        secret: bytes | None = None,
        encryption_key: bytes | None = None,
    ) -> None:
        self.model, self.policy = model, policy
        self._secret, self._encryption_key = secret, encryption_key
        self._preview_secret = secret or secrets.token_bytes(32)
        self._thresholds: dict[float | None, float | None] = {None: None}
        for sensitivity in sorted({*_SENSITIVITIES, policy.sensitivity or _SENSITIVITIES[0]}):
            with suppress(UsageError):  # not supported by the development notes, or no card
                self._thresholds[sensitivity] = threshold_in(card, sensitivity)
        self._waiting: deque[tuple[str, asyncio.Future[Document]]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "crfdeid-model")

    async def run(self, work: Callable[_Args, _Value], *args: _Args.args, **options: _Args.kwargs) -> _Value:
        """Do other work on the model's thread."""
        return await asyncio.wrap_future(self._thread.submit(work, *args, **options))

    async def annotate(self, texts: Sequence[str]) -> list[Document]:
        """Return texts as documents with their PHI; a text that fails does not fail those of other callers.

        Raises:
            EncodingError: a text is not Unicode, or in mojibake that the policy does not accept.
            LimitError: a pattern of the custom lists takes too long.
        """
        self._require_intact(texts)
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Document]] = [loop.create_future() for _ in texts]
        self._waiting.extend(zip(texts, futures, strict=True))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work())
        return await asyncio.gather(*futures)

    async def redact(self, texts: Sequence[str], *, patient: str | float | None = None) -> list[Document]:
        """Return texts redacted by the policy, with the replacements as spans.

        Args:
            texts: the texts.
            patient: their patient, for surrogates, as of `crfdeid.redact`; None for a separate patient for each.

        Raises:
            DataError: as for `annotate` and `crfdeid.redact`.
        """
        policy, documents = self.policy, await self.annotate(texts)

        def work() -> list[Document]:
            return [
                redact(
                    document,
                    policy.operators or LABEL,
                    secret=self._secret,
                    encryption_key=self._encryption_key,
                    patient=patient,
                    locale=policy.locale,
                    date_order=policy.date_order,
                )
                for document in documents
            ]

        return await self.run(work)

    def _require_intact(self, texts: Sequence[str]) -> None:
        for text in () if self.policy.accept_damaged else texts:
            require_no_mojibake(text)

    async def _work(self) -> None:
        """Tag what waits, batch by batch, until nothing does."""
        while self._waiting:
            batch, characters = [], 0
            while self._waiting and characters < BATCH_CHARACTERS:
                text, future = self._waiting.popleft()
                if not future.done():  # Its caller waits.
                    batch.append((text, future))
                    characters += len(text)
            results = await self.run(self._annotate, [text for text, _ in batch])
            for (_, future), found in zip(batch, results, strict=True):
                if future.done():  # Its caller has gone meanwhile.
                    continue
                if isinstance(found, Document):
                    future.set_result(found)
                else:
                    future.set_exception(found)

    def _annotate(self, texts: Sequence[str]) -> list[Document | Exception]:
        """Documents, or the errors of the texts that fail, which are tagged again one by one."""
        try:
            with collecting_seldom():
                return list(self.model.annotate_all(texts))
        except Exception as problem:  # It is raised to the caller of its text alone.
            if len(texts) == 1:
                return [problem]
        return [found for text in texts for found in self._annotate([text])]

    def preview(self, text: str) -> dict[str, Any]:
        """The PHI of a text at each sensitivity, with several replacements, for the page.

        Returns:
            "words": [start, end] each; "sensitivity": that of the policy; "steps": "sensitivity", null for the most
            probable tags, and "spans": [start, end, type, source, score, label, mask, surrogate] each. The surrogate is
            null if the text's language is not clear.

        Raises:
            LimitError: the text is too long.
            DataError: as for `annotate`.
        """
        if len(text) > _LONGEST_TRIAL:
            raise LimitError(f"more than {_LONGEST_TRIAL:,} characters: use /redact for longer notes")
        self._require_intact([text])
        steps = [
            {"sensitivity": share, "spans": self._spans_at(limit, text)} for share, limit in self._thresholds.items()
        ]
        words = [[token.start, token.end] for sentence in Document("", text).sentences() for token in sentence.tokens]
        return {"words": words, "sensitivity": self.policy.sensitivity, "steps": steps}

    def _spans_at(self, threshold: float | None, text: str) -> list[list[Any]]:
        model = self.model
        at = Deidentifier(
            model.tagger,
            threshold=threshold,
            consistent=model.consistent,
            site=model.site,
            concepts=False,
            members=False,
        )
        document = at.annotate(text)
        evidence, spans = merge_evidence(document.spans, document.evidence), merge(document.spans)
        texts = [self._replacements(document, operator) for operator in (LABEL, MASK, SURROGATE)]
        sources = (evidence.get(span, Evidence("")).as_json().values() for span in spans)
        return [[*span, *source, *new] for span, source, *new in zip(spans, sources, *texts, strict=True)]

    def _replacements(self, document: Document, operator: str) -> list[str | None]:
        try:
            done = redact(document, operator, secret=self._preview_secret, locale=self.policy.locale)
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
        self._thread.shutdown()
