"""Where the work is done: the model is loaded once a process, and the secret is read there."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from crfdeid.errors import DataError, MismatchError, SecretError, UsageError
from crfdeid.io.worker import NoteTask, Worker
from crfdeid.model_card.card import model_digest
from crfdeid.redaction.policy import SURROGATE, Policy
from crfdeid.secrets import read_secret, secret_fingerprint, vocabulary_key
from crfdeid.serialization import has_private_vocabulary
from crfdeid.utils.process import one_thread

# Tables have a column of notes or two; each model takes some 100 MB to 1 GB.
_MODELS = 2
_load_lock = Lock()
_log = logging.getLogger(__name__)


class Started(NamedTuple):
    """What redacts notes in a process, and the name of what it does.

    Attributes:
        work: one result per note, in order.
        policy: the policy's name; with a secret, four digits that change with it follow.
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
    concepts: bool = False,
) -> Started:
    """What redacts notes in this process, which computes in one thread from then on.

    The model is loaded once a process. The secret is read each time, so that a new one counts.

    Args:
        folder: where the model is here.
        digest: which model it must be (`crfdeid.model_card.card.model_digest`).
        policy: how PHI is found and hidden.
        secret_file: the file with the secret that surrogates are derived from; None for the environment variable.
        key_file: the file with the secret of a private vocabulary; None for the environment variable.
        concepts: whether concepts are looked for too, by a model that finds them.

    Raises:
        SecretError: the secret is missing, unreadable or too short, or not that of the private vocabulary.
        NotFoundError, IntegrityError: the model is missing or damaged here.
        MismatchError: the folder has another model.
    """
    private = has_private_vocabulary(folder)
    secret = _secret(secret_file) if policy.how == SURROGATE else None
    key = vocabulary_key(_secret(key_file)) if private else None
    with _load_lock:  # of threads that come at the same time one loads it
        work = _load_worker(NoteTask(folder, policy, key=key, secret=secret, concepts=concepts), digest)
    return Started(work, policy.name if secret is None else f"{policy.name}-{secret_fingerprint(secret)}")


def _secret(path: Path | None) -> bytes:
    try:
        return read_secret(path)
    except (DataError, UsageError) as problem:
        raise SecretError(str(problem)) from None


@lru_cache(maxsize=_MODELS)
def _load_worker(work: NoteTask, digest: str) -> Worker:
    one_thread()
    found = model_digest(work.model)
    if found != digest:
        difference = f"this is the model {found[:12]} and not {digest[:12]}: put that one in its place"
        raise MismatchError(difference, path=work.model)
    _log.info("loading the model %s", digest[:12])
    return work.start()
