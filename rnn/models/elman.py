"""The Elman network (yadav2016, equations 7-11): each hidden layer reads its own previous state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import lax

from crfdeid.documents import PHI
from crfdeid.explain.data import WeightNorm
from crfdeid.validation import require_counts
from rnn.batching import Row
from rnn.interfaces import Arrays
from rnn.interpret import window_norms
from rnn.layers.dropout import dropout
from rnn.layers.softmax import SoftmaxScores
from rnn.network import uniform
from rnn.settings import WindowSettings, paper_settings
from rnn.tagger import NetworkTagger
from rnn.training.schedules import Schedule, falling_rate
from rnn.training.steps import per_sentence
from rnn.vocab import Vocabulary
from rnn.words import ReadsWords, WordProcessor, word_dropout, word_phase


def context_windows(vectors: jax.Array, width: int) -> jax.Array:
    """The concatenated word vectors of each token's window (yadav2016, equations 5 and 6).

    Args:
        vectors: the word vectors of a sentence with m = (width - 1) / 2 padding vectors on either side, [T + 2m, D].
        width: the words in a window, odd.

    Returns:
        One row for each token, from the leftmost word of its window to the rightmost, [T, width * D].
    """
    length = vectors.shape[0] - width + 1
    return jnp.concatenate([lax.slice_in_dim(vectors, start, start + length) for start in range(width)], axis=1)


class WindowNetwork(nnx.Module):
    """A network over the context windows of a sentence, with dropout before a softmax: Elman's and Jordan's.

    Args:
        window: words in a context window, W.
        hidden: hidden units, H.
        dropout: dropout rate of the hidden units before the softmax.
    """

    tables: ClassVar[Mapping[str, str]] = {"words": "words"}

    def __init__(self, *, window: int, hidden: int, dropout: float = 0.0) -> None:
        self.window, self.hidden, self.dropout = window, hidden, dropout

    @abstractmethod
    def __call__(self, windows: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """The scores before the softmax: windows [T, W * D] -> [T, K]; the key is for dropout."""

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None
    ) -> dict[str, SoftmaxScores]:
        """Scores before the softmax. The length is not needed: padding after a sentence does not change its scores."""
        return {PHI: SoftmaxScores(self(context_windows(vectors["words"], self.window), key))}


class WindowTagger(ReadsWords, NetworkTagger):
    """Tagger with a `WindowNetwork`; it is trained by one update a sentence, in all epochs."""

    trains_together = per_sentence = True
    settings: WindowSettings

    def blank_processor(self) -> WordProcessor:
        """Processor without words."""
        return WordProcessor(Vocabulary((), self.settings.fold_digits), {}, margin=self.settings.window // 2)

    def sizes(self, processor: WordProcessor) -> dict[str, Any]:
        """Arguments of both networks."""
        names = ("window", "hidden", "dropout", "init_range")
        own = {name: getattr(self.settings, name) for name in names}
        return {**own, "dim": self.settings.embedding_dim, "tags": len(processor.tags[PHI])}

    def schedule(self, processor: WordProcessor, rows: Sequence[Row]) -> Schedule:
        """One update a sentence, with word dropout."""
        settings = self.settings
        phase = word_phase(self.model, settings, rows, per_sentence(), word_dropout(processor, rows, settings))
        return falling_rate(lambda epoch: phase, settings)


def scan_unroll() -> int:
    """Steps that `jax.lax.scan` runs as one: on a GPU, the launches of a small step take longer than its arithmetic."""
    return 8 if jax.default_backend() == "gpu" else 1


class ElmanLayer(nnx.Module):
    """One recurrent layer: h(t) = f(W x(t) + V h(t-1) + b), with f the logistic sigmoid and h(0) = 0."""

    def __init__(self, inputs: int, hidden: int, *, init_range: float | None, rngs: nnx.Rngs) -> None:
        self.W = nnx.Param(uniform(rngs.params(), (hidden, inputs), init_range))  # [H, inputs]
        self.V = nnx.Param(uniform(rngs.params(), (hidden, hidden), init_range))  # [H, H]
        self.b = nnx.Param(jnp.zeros(hidden))  # [H]

    def __call__(self, inputs: jax.Array) -> jax.Array:
        """Hidden states of a sentence: [T, inputs] -> [T, H]."""
        V = self.V[...]

        def cell(previous: jax.Array, driven: jax.Array) -> tuple[jax.Array, jax.Array]:
            hidden = jax.nn.sigmoid(driven + V @ previous)
            return hidden, hidden

        driven = inputs @ self.W[...].T + self.b[...][None, :]
        return lax.scan(cell, jnp.zeros_like(self.b[...]), driven, unroll=scan_unroll())[1]


class Elman(WindowNetwork):
    """Stacked Elman layers under a softmax.

    h1(t) = f(W1 C(t) + V1 h1(t-1) + b1)            (7), C(t) the context window at t
    hn(t) = f(Wn hn-1(t) + Vn hn(t-1) + bn)         (8), for each further layer
    P(y(t)) = softmax(U hN(t) + c)                  (10), (11)

    Args:
        window: words in a context window, W.
        dim: size of a word vector, D.
        hidden: hidden units a layer, H.
        tags: number of tags, K.
        layers: hidden layers, N.
        dropout: dropout rate of the hidden units before the softmax.
        init_range: bound of the uniform initial weights; None for Glorot's.
        rngs: source of the initial weights.
    """

    def __init__(
        self,
        *,
        window: int,
        dim: int,
        hidden: int,
        tags: int,
        layers: int = 1,
        dropout: float = 0.0,
        init_range: float | None = None,
        rngs: nnx.Rngs,
    ) -> None:
        super().__init__(window=window, hidden=hidden, dropout=dropout)
        sizes = [window * dim] + [hidden] * (layers - 1)
        self.layers = nnx.List([ElmanLayer(size, hidden, init_range=init_range, rngs=rngs) for size in sizes])
        self.U = nnx.Param(uniform(rngs.params(), (tags, hidden), init_range))  # [K, H]
        self.c = nnx.Param(jnp.zeros(tags))  # [K]

    def __call__(self, windows: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Scores before the softmax.

        Args:
            windows: context windows of one sentence, [T, W * D].
            key: source of dropout; None for none.

        Returns:
            U h(t) + c for every token, [T, K].
        """
        hidden = windows
        for layer in self.layers:
            hidden = layer(hidden)  # [T, H]
        return dropout(hidden, self.dropout, key) @ self.U[...].T + self.c[...][None, :]


@dataclass(frozen=True, kw_only=True)
class ElmanSettings(WindowSettings):
    """Settings of the Elman network.

    Args:
        layers: stacked hidden layers (equation 8).
    """

    layers: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "layers")


@final
class ElmanTagger(WindowTagger):
    """Tagger with the Elman network.

    Example:
        >>> from crfdeid.documents import LabelledSentence
        >>> from features.tokens import Sentence
        >>> sentence = Sentence.from_words(["Dr", "Doe"])
        >>> tagger = ElmanTagger(ElmanSettings(epochs=5, lr=0.5, dropout=0.0, min_count=1))
        >>> tagger.fit([LabelledSentence(sentence, ("O", "B-DOCTOR"))], [])
        >>> tagger.predict([sentence])
        [['O', 'B-DOCTOR']]
    """

    model = "elman"
    settings_class = ElmanSettings
    settings: ElmanSettings

    @classmethod
    def profiles(cls) -> Mapping[str, ElmanSettings]:
        """Settings by profile name: "yadav2016" is the E-RNN of Table 3, with weights in [-1, 1]."""
        paper = ElmanSettings(window=11, hidden=100, layers=1, **paper_settings("yadav2016", "windows"))
        return {"default": ElmanSettings(), "yadav2016": paper}

    def network(self, processor: WordProcessor, rngs: nnx.Rngs) -> Elman:
        """Create the network."""
        return Elman(**self.sizes(processor), layers=self.settings.layers, rngs=rngs)

    def input_norms(self, network: Elman) -> Iterable[WeightNorm]:
        """Norms of the first layer's weights for each word of the window."""
        return window_norms("network.layers.0.W", network.layers[0].W[...], self.settings.window)

    def facts(self, network: Elman) -> Iterable[tuple[str, float]]:
        """Bound on the influence of a hidden state on the next: V's largest singular value times 1/4, f's steepest."""
        for n, layer in enumerate(network.layers, start=1):
            largest = np.linalg.norm(layer.V[...], 2)
            yield f"hidden layer {n}: largest growth of a change of its state by the next word", float(largest) / 4
