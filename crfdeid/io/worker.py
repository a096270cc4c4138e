"""Workers that redact batches of notes, and the model that each process loads once."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from itertools import repeat
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crfdeid.documents import CONCEPT, Document, Span
from crfdeid.errors import DataError, EncodingError, MismatchError, SecretError, UsageError, panics_as_errors
from crfdeid.io.records import Failure, Note, NoteResult, Sources
from crfdeid.model_card.card import model_digest, read_card
from crfdeid.model_card.drift import NoteReader, drift_measures
from crfdeid.redaction.policy import ENCRYPT, KEEP, SURROGATE, Operators, Policy
from crfdeid.secrets import read_encryption_key, read_secret, secret_fingerprint, vocabulary_key
from crfdeid.serialization import ModelFolder, has_private_vocabulary, open_model
from crfdeid.utils.process import one_thread

if TYPE_CHECKING:
    from crfdeid.review.sampling import Candidate

Result = NoteResult | Failure
Worker = Callable[[Sequence[Note]], list[Result]]
"""Gives one result per note, in order."""
_WORD = re.compile(r"\w++")
# Models loaded at a time: a table has a column of notes or two, and a model takes 100 MB to 1 GB.
_MODELS = 2
_load_lock = Lock()
_log = logging.getLogger(__name__)


# --- mojibake


# Bytes 80 to BF in Windows-1252; as control characters where that has none, or in Latin-1.
_HIGH = "\x80-\x9f€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_FOLLOWS = f"{_HIGH}\xa0-\xbf"
# Correct Portuguese, Swedish and French text can have a closing quote, a dash or a hard space after a capital that ends
# a word, so one such pair is no proof.
_CLOSES = "’”…–—™»\xa0"
_REPLACEMENT = "\ufffd"  # of decoders, such as Spark's, for bytes that they cannot read
_PAIR = re.compile(f"[Â-ð][{_FOLLOWS}]")  # in all mojibake, and in little correct text: a fast first test
_MOJIBAKE = re.compile(
    rf"[ÂÃÄÅ](?![{_CLOSES}])[{_FOLLOWS}]"  # Latin letters and signs
    rf"|â(?:€|\x80|[‚\x82]¬|[„\x84]¢)|ï»¿|ï¬[\x81\x82‚]|ð[Ÿ\x9f]"  # quotes, dashes, euro; byte order mark; emoji
    rf"|(?:[Â-ß][{_FOLLOWS}]){{2}}|(?:[à-ï][{_FOLLOWS}]{{2}}){{2}}"  # any alphabet: two letters in a row
)


def find_mojibake(text: str) -> int | None:
    """Offset of the first characters that only a wrong encoding produces ("JosÃ©"); None without any.

    Mojibake is UTF-8 that was read as Latin-1 or Windows-1252 and written again, once or more often.

    Example:
        >>> find_mojibake("José"), find_mojibake("JosÃ©")
        (None, 3)
    """
    found = _MOJIBAKE.search(text) if not text.isascii() and _PAIR.search(text) else None
    return None if found is None else found.start()


def require_no_mojibake(text: str) -> None:
    """Refuse a note with mojibake, or with the character U+FFFD for lost bytes, in which a model would miss PHI.

    Raises:
        EncodingError: the note has either; the message has the offset, but no text.
    """
    offset = text.find(_REPLACEMENT)
    if offset >= 0:
        problem = (
            "U+FFFD in place of bytes that were no UTF-8: take the notes from their source in its encoding, or give "
            "--allow-mojibake and expect misses"
        )
        raise EncodingError(problem, offset=offset)
    found = find_mojibake(text)
    if found is not None:
        problem = (
            "letters are damaged: UTF-8 was read as Latin-1 or Windows-1252 and written again; "
            "take the notes from their source as UTF-8, or give --allow-mojibake and expect misses"
        )
        raise EncodingError(problem, offset=found)


# --- tasks


class WorkerTask(Protocol):
    """A task that can be sent to another process, and started there."""

    def start(self) -> Worker:
        """Load the model, and return the worker."""


@dataclass(frozen=True, slots=True)
class NoteTask:
    """Find PHI with a model and, if requested, hide it.

    Args:
        model: the model's folder.
        policy: detection and replacement of PHI.
        key: key of a private vocabulary, if the model has one.
        secret: secret of surrogates and hashes.
        encryption_key: key of encrypted values.
        concepts: find concepts too, with a model that can.
        with_completeness: estimate for each note the probability that nothing was missed.
        evidence: give each span its source and score.
    """

    model: ModelFolder
    policy: Policy
    key: bytes | None = None
    secret: bytes | None = None
    encryption_key: bytes | None = None
    concepts: bool = False
    with_completeness: bool = False
    evidence: bool = False

    def start(self) -> Worker:
        """Load the model.

        Raises:
            DataError: the model is missing or damaged.
            MissingExtraError: encryption without the library.
            UnknownNameError: an operator of a type that the model and the lists do not have.
        """
        from crfdeid.pipeline import load  # noqa: PLC0415

        if self.policy.uses(ENCRYPT):
            import_module("crfdeid.redaction.encryption")  # It needs an extra, which is to be missed before any note.
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
            evidence=self.evidence or self.policy.uses(KEEP),
            members=self.policy.uses(KEEP),
        )

        if self.policy.operators is not None:
            Operators.of(self.policy.operators).require_types(model.types)

        def work(notes: Sequence[Note]) -> list[Result]:
            known = [note.known for note in notes]
            documents = list(model.annotate_documents((self._document(note) for note in notes), known=known))
            rated: Iterable[Candidate | None] = repeat(None)
            if self.with_completeness:
                from crfdeid.review.sampling import candidates  # noqa: PLC0415

                rated = candidates(documents, model.tagger, threshold=model.threshold)
            return [
                replace(measured(self._hide(document, note), note), p_no_miss=None if one is None else one.p_no_miss)
                for (document, note), one in zip(zip(documents, notes, strict=True), rated, strict=False)
            ]

        def measured(result: NoteResult, note: Note) -> NoteResult:
            if reader is None or profile is None:
                return result
            measures = reader.measure(note.text, result.found)
            raised = self.policy.sensitivity is not None
            return replace(result, measures=measures, drift_warnings=drift_measures(profile, measures, raised=raised))

        return isolate_failures(work)

    def _document(self, note: Note) -> Document:
        if not self.policy.accept_damaged:
            require_no_mojibake(note.text)
        return Document(note.id, note.text)

    def _hide(self, document: Document, note: Note) -> NoteResult:
        found = Counter(span.label for span in document.spans)
        concepts = _concepts(document) if self.concepts else None
        policy = self.policy
        sources = _sources(document) if self.evidence else None
        if policy.operators is None:
            return NoteResult(document, found=found, concepts=concepts, sources=sources)
        from crfdeid.redaction.redact import document_locale, redact_recorded, replacements  # noqa: PLC0415

        parts = replacements(document, Operators.of(policy.operators), locale=policy.locale)
        invented = [part.span for part in parts if part.operator == SURROGATE]
        locale = document_locale(document, policy.locale, spans=invented) if invented else None
        kept = Counter(part.span.label for part in parts if part.operator == KEEP)
        words, hidden_words = _words(document, [part.span for part in parts if part.operator != KEEP])
        hidden, record = redact_recorded(
            document,
            policy.operators,
            secret=self.secret,
            encryption_key=self.encryption_key,
            patient=note.patient,
            locale=locale,
            date_order=policy.date_order,
            marked=False,  # The results are texts.
        )
        tokens = sum(part.operator == ENCRYPT for part in parts)
        result = NoteResult(
            hidden,
            found=found,
            locale=locale,
            words=words,
            hidden_words=hidden_words,
            tokens=tokens,
            kept=kept,
            sources=sources,
            record=record,
        )
        if concepts is None:
            return result
        remaining = _concepts(hidden)
        return replace(result, concepts=remaining, left_out=concepts - remaining)


def _sources(document: Document) -> Sources:
    scores: dict[str, list[float | None]] = {}
    for evidence in (document.evidence[span] for span in document.spans if span in document.evidence):
        scores.setdefault(evidence.source, []).append(evidence.as_json()["score"])
    return {
        source: {"spans": len(some), "lowest_score": min((x for x in some if x is not None), default=None)}
        for source, some in sorted(scores.items())
    }


def _words(document: Document, hidden_spans: Sequence[Span]) -> tuple[int, int]:
    """Numbers of words of a note: all, and the words that the replaced spans cover, at least in part."""
    # Counted one by one: a list of all words takes many times the memory of a long note.
    ranges = ((0, len(document.text)), *((span.start, span.end) for span in hidden_spans))
    whole, *hidden = (sum(1 for _ in _WORD.finditer(document.text, *one)) for one in ranges)
    return whole, sum(hidden)


def _concepts(document: Document) -> Counter[str]:
    return Counter(span.label for span in document.layer(CONCEPT))


def isolate_failures(work: Worker) -> Worker:
    """Make only the failing note fail: the other notes of its batch are processed again, one by one.

    A `UsageError` is raised, since no note causes it.
    """

    def careful(notes: Sequence[Note]) -> list[Result]:
        try:
            with panics_as_errors():
                return list(work(notes))
        except UsageError:
            raise
        except Exception as problem:  # Any error is listed, and the note has no output.
            if len(notes) == 1:
                return [Failure.of(problem)]
        return [result for note in notes for result in careful([note])]

    return careful


# --- one worker a process


class StartedWorker(NamedTuple):
    """Worker of a process, and the name of its policy.

    Attributes:
        work: the worker.
        policy: the policy's name, followed for a secret and an encryption key by four digits that change with each.
    """

    work: Worker
    policy: str


def start_worker(
    folder: Path,
    digest: str,
    policy: Policy,
    *,
    secret_file: Path | None = None,
    key_file: Path | None = None,
    encryption_key_file: Path | None = None,
    concepts: bool = False,
    evidence: bool = False,
) -> StartedWorker:
    """Start the worker of this process, which computes in one thread from then on.

    The model is loaded once a process. The secret is read at each call, so that a new one takes effect.

    Args:
        folder: the model's folder here.
        digest: the digest of the requested model (`crfdeid.model_card.card.model_digest`).
        policy: detection and replacement of PHI.
        secret_file: file with the secret of surrogates and hashes; None for the environment variable.
        key_file: file with the secret of a private vocabulary; None for the environment variable.
        encryption_key_file: file with the key of encrypted values; None without such.
        concepts: find concepts too, with a model that can.
        evidence: give each span its source and score.

    Raises:
        SecretError: the secret or the encryption key is missing, unreadable or too short, or the secret is not that of
            the private vocabulary.
        NotFoundError, IntegrityError: the model is missing or damaged.
        MismatchError: the folder holds another model.
    """
    model = open_model(folder)
    private = has_private_vocabulary(model)
    secret = _secret(secret_file) if policy.needs_secret else None
    key = vocabulary_key(_secret(key_file)) if private else None
    encryption_key = _encryption_key(encryption_key_file) if policy.uses(ENCRYPT) else None
    with _load_lock:  # Of several threads, one loads the model.
        work = _load_worker(NoteTask(model, policy, key, secret, encryption_key, concepts, evidence=evidence), digest)
    keys = [secret_fingerprint(one) for one in (secret, encryption_key) if one is not None]
    return StartedWorker(work, "-".join([policy.name, *keys]))


def _encryption_key(path: Path | None) -> bytes:
    if path is None:
        raise SecretError("encryption needs a key of its own: name its file")
    try:
        return read_encryption_key(path)
    except DataError as error:
        raise SecretError(str(error)) from None


def _secret(path: Path | None) -> bytes:
    try:
        return read_secret(path)
    except (DataError, UsageError) as problem:
        raise SecretError(str(problem)) from None


@lru_cache(maxsize=_MODELS)
def _load_worker(task: NoteTask, digest: str) -> Worker:
    one_thread()
    found = model_digest(task.model)
    if found != digest:
        difference = f"this is the model {found[:12]} and not {digest[:12]}: put that one in its place"
        raise MismatchError(difference, path=task.model.path)
    _log.info("loading the model %s", digest[:12])
    return task.start()
