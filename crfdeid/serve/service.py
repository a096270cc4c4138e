"""`Service`: a model and a policy for concurrent callers; their texts are tagged together, on one thread."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from crfdeid.documents import Document
from crfdeid.io.worker import require_no_mojibake
from crfdeid.pipeline import BATCH_CHARACTERS, Deidentifier
from crfdeid.redaction.policy import LABEL, Policy
from crfdeid.redaction.redact import redact

_Args = ParamSpec("_Args")
_Value = TypeVar("_Value")


class Service:
    """A model and a policy for concurrent callers.

    Texts that wait together are tagged together. All work is done on one thread: a sum over several could differ in its
    last digit from that of the command.

    Args:
        model: the pipeline with the model, with evidence.
        policy: the replacement of PHI in `redact`.
        secret: secret of surrogates and hashes.
        encryption_key: key of encrypted values.
    """

    def __init__(
        self,
        model: Deidentifier,
        policy: Policy,
        *,
        secret: bytes | None = None,
        encryption_key: bytes | None = None,
    ) -> None:
        self.model, self.policy = model, policy
        self._secret, self._encryption_key = secret, encryption_key
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
        for text in () if self.policy.accept_damaged else texts:
            require_no_mojibake(text)
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Document]] = [loop.create_future() for _ in texts]
        self._waiting.extend(zip(texts, futures, strict=True))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work())
        return await asyncio.gather(*futures)

    async def redact(self, texts: Sequence[str], *, patient: str | None = None) -> list[Document]:
        """Return texts redacted by the policy, with the replacements as spans.

        Args:
            texts: the texts.
            patient: their patient, for surrogates; None for a separate patient for each.

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

    async def _work(self) -> None:
        """Tag what waits, batch by batch, until nothing does."""
        while self._waiting:
            batch, characters = [], 0
            while self._waiting and characters < BATCH_CHARACTERS:
                batch.append(self._waiting.popleft())
                characters += len(batch[-1][0])
            results = await self.run(self._annotate, [text for text, _ in batch])
            for (_, future), found in zip(batch, results, strict=True):
                if future.done():  # Its caller has gone.
                    continue
                if isinstance(found, Document):
                    future.set_result(found)
                else:
                    future.set_exception(found)

    def _annotate(self, texts: Sequence[str]) -> list[Document | Exception]:
        """Documents, or the errors of the texts that fail, which are tagged again one by one."""
        try:
            return list(self.model.annotate_all(texts))
        except Exception as problem:  # It is raised to the caller of its text alone.
            if len(texts) == 1:
                return [problem]
        return [found for text in texts for found in self._annotate([text])]

    def close(self) -> None:
        """Wait for the work that was taken."""
        self._thread.shutdown()
