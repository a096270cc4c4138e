"""What a CRF has learned, as arrays: from CRFsuite's file, to and from a file of ours."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from crfdeid.crf.crfsuite import CrfsuiteWeights
from crfdeid.secrets import hash_word, require_same_key


class CrfWeights(NamedTuple):
    """What a CRF has learned.

    Attributes:
        tags: K, sorted.
        names: the F feature strings that have weights, or their hashes.
        state: their weights: [F, K].
        transitions: the weight of each tag followed by each tag: [K, K].
        key: what the names are hashed with; None where they are as they are.
    """

    tags: tuple[str, ...]
    names: tuple[str, ...]
    state: np.ndarray
    transitions: np.ndarray
    key: bytes | None = None

    @classmethod
    def of_crfsuite(cls, weights: CrfsuiteWeights) -> CrfWeights:
        """The weights as CRFsuite has them, with the tags sorted."""
        order = sorted(range(len(weights.labels)), key=weights.labels.__getitem__)
        tags = [weights.labels[k] for k in order]
        transitions = weights.transitions[np.ix_(order, order)]
        return cls(tuple(tags), tuple(weights.attributes), weights.state[:, order], transitions)

    @classmethod
    def read(cls, tags: Sequence[str], arrays: Mapping[str, np.ndarray], key: bytes | None) -> CrfWeights:
        """The weights of a saved model.

        Raises:
            ValueError: they do not fit together.
            KeyError: some are not there.
        """
        content, ends = arrays["names"].tobytes(), arrays["ends"]
        state, transitions = arrays["state"], arrays["transitions"]
        if ends.ndim != 1 or ends.dtype != np.int64 or (np.diff(ends, prepend=0) < 0).any():
            raise ValueError("the ends of the names are no ascending numbers")
        if int(ends[-1]) != len(content) if len(ends) else content:
            raise ValueError("the names are cut off")
        names = [content[start:end].decode() for start, end in itertools.pairwise([0, *ends.tolist()])]
        if not tags or (state.shape, transitions.shape) != ((len(names), len(tags)), (len(tags), len(tags))):
            raise ValueError("the arrays do not fit together")
        state, transitions = state.astype(float), transitions.astype(float)
        if not (np.isfinite(state).all() and np.isfinite(transitions).all()):
            raise ValueError("weights that are no numbers")
        return cls(tuple(map(str, tags)), tuple(names), state, transitions, key)

    def arrays(self, key: bytes | None) -> dict[str, np.ndarray]:
        """All but the tags as arrays for a file, for `read`.

        Args:
            key: what the feature strings are hashed with; None to store them as they are.

        Raises:
            UsageError: they are hashes already, under another key.
        """
        require_same_key(self.key, key)
        as_they_are = key is None or self.key is not None
        names = self.names if key is None or as_they_are else tuple(hash_word(name, key) for name in self.names)
        # Hashes are sorted: in the order of the features they would tell which were seen first.
        order = np.arange(len(names)) if as_they_are else np.argsort(names)
        encoded = [names[i].encode() for i in order]
        return {
            "names": np.frombuffer(b"".join(encoded), np.uint8),
            "ends": np.cumsum([len(name) for name in encoded], dtype=np.int64),
            "state": self.state[order],
            "transitions": self.transitions,
        }
