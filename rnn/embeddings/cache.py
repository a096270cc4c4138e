"""Word vectors that were trained once are kept on disk, under a hash of all they were made from."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from crfdeid.errors import DataError
from crfdeid.utils.folders import cache_folder, make_cache_folder
from rnn.embeddings.vectors import WordVectors


def cached(
    name: str, inputs: Any, make: Callable[[], WordVectors], *, libraries: Sequence[str] = ("numpy",)
) -> WordVectors:
    """The vectors that were made from the same inputs before, else those that ``make`` gives, kept for the next time.

    Both folder and file are their owner's alone: the words are those of the notes. A damaged file is made anew. Two
    processes that make the same vectors at once both write them, each file whole.

    Args:
        name: what is made, such as "cbow": the beginning of the file's name.
        inputs: all that the vectors depend on (settings, texts, seed): JSON data, with dataclasses anywhere in it.
        make: makes the vectors.
        libraries: the distributions whose versions matter, besides this one.

    Raises:
        DataError: the folder cannot be made or written to.
    """
    libraries = ("crfdeid", *libraries)
    digest = _digest([inputs, {library: version(library) for library in libraries}])
    path = cache_folder() / f"{name}-{digest}.npz"
    try:
        return WordVectors.load(path)
    except DataError:
        pass  # not there, or damaged: what is made now replaces it
    make_cache_folder()  # before the long training, not after it
    vectors = make()
    vectors.save(path)
    return vectors


def _digest(inputs: Any) -> str:
    content = json.dumps(inputs, sort_keys=True, default=dataclasses.asdict)
    return hashlib.sha256(content.encode()).hexdigest()
