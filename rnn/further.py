"""What training goes on from: a trained network, whose tags and words it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crfdeid.documents import LabelledSentence
from crfdeid.errors import OptionConflictError
from rnn.network import Weights
from rnn.processors.base import Processor
from rnn.training.replicates import Learned


class Before(NamedTuple):
    """A trained network that training goes on from.

    Attributes:
        learned: its codec, structure and weights.
    """

    learned: Learned

    def codec_for(self, train: Sequence[LabelledSentence]) -> Processor:
        """Its codec, which can read any sentences.

        Raises:
            UsageError: it has no column for a tag of these.
        """
        for layer, known in self.learned.codec.tags.items():
            found = {tag for item in train if layer in item.annotated for tag in item.layer(layer)}
            if unknown := sorted(found.difference(known)):
                problem = f"the notes have the tags {', '.join(unknown)}, and the model to go on from does not"
                raise OptionConflictError(f"{problem}: it knows {', '.join(known)}; train on all notes anew")
        return self.learned.codec

    def copied(self) -> Learned:
        """It with weights of its own: training writes over those that it is given."""
        weights: Weights = jax.tree.map(lambda leaf: jnp.asarray(np.array(leaf)), self.learned.weights)
        return self.learned._replace(weights=weights)
