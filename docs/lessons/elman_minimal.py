"""Elman's network in one file: from text to scored tags with `jax.grad` and plain gradient descent (yadav2016).

    python docs/lessons/elman_minimal.py

The library's network, `rnn/models/elman.py`, has the same equations and the same losses; it adds dropout, word dropout,
deeper layers, several notes at once on a GPU, valid sequences of tags (exercise 4 of lesson 3), and updates that touch
only the word vectors of a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import jax
import jax.numpy as jnp
import numpy as np

from crfdeid.bio import encode
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.evaluation import count_tags

WINDOW, DIM, HIDDEN = 11, 50, 100
PAD, UNKNOWN = 0, 1  # ids of padding around a sentence, and of words that occur once in training
LR, EPOCHS = 0.06, 8

Params = dict[str, jax.Array]
Example = tuple[np.ndarray, np.ndarray, int]
"""Word ids with padding on both sides, [T + WINDOW - 1]; tag ids, [T]; number of real tokens."""


def index(items: Iterable[str], *, first: int = 0, least: int = 1) -> dict[str, int]:
    """Give each item that occurs at least so often an id, from ``first`` on."""
    counts = Counter(items)
    return {item: first + n for n, item in enumerate(sorted(item for item in counts if counts[item] >= least))}


def example(words: Sequence[str], tags: Sequence[str], word_ids: dict[str, int], tag_ids: dict[str, int]) -> Example:
    """Convert a sentence to arrays, padded to 8, 16, 32, … tokens, so that few shapes are compiled."""
    length = max(8, 1 << (len(words) - 1).bit_length())
    ids, gold = np.full(length + WINDOW - 1, PAD), np.zeros(length, int)
    ids[WINDOW // 2 : WINDOW // 2 + len(words)] = [word_ids.get(word, UNKNOWN) for word in words]
    gold[: len(tags)] = [tag_ids.get(tag, 0) for tag in tags]
    return ids, gold, len(words)


def initial_params(words: int, tags: int, *, seed: int) -> Params:
    """Random matrices with Glorot's bound, zero biases."""
    random = np.random.default_rng(seed)

    def matrix(outputs: int, inputs: int, bound: float | None = None) -> jax.Array:
        limit = (6 / (inputs + outputs)) ** 0.5 if bound is None else bound
        return jnp.asarray(random.uniform(-limit, limit, (outputs, inputs)), jnp.float32)

    return {
        "E": matrix(words, DIM, 0.25),  # word vectors
        "W": matrix(HIDDEN, WINDOW * DIM),
        "V": matrix(HIDDEN, HIDDEN),
        "b": jnp.zeros(HIDDEN),
        "U": matrix(tags, HIDDEN),
        "c": jnp.zeros(tags),
    }


def scores(params: Params, ids: jax.Array) -> jax.Array:
    """Scores of each tag at each token before the softmax, [T, K]."""
    window = params["W"].shape[1] // params["E"].shape[1]
    length = ids.shape[0] - window + 1
    windows = jnp.concatenate([params["E"][ids[k : k + length]] for k in range(window)], axis=1)  # [T, W * D]

    def step(before: jax.Array, driven: jax.Array) -> tuple[jax.Array, jax.Array]:
        hidden = jax.nn.sigmoid(driven + params["V"] @ before)  # equation 7: h(t) = f(W C(t) + V h(t-1) + b)
        return hidden, hidden

    _, hidden = jax.lax.scan(step, jnp.zeros_like(params["b"]), windows @ params["W"].T + params["b"][None])
    return hidden @ params["U"].T + params["c"][None]  # equation 11, before the softmax


def loss(params: Params, ids: jax.Array, tags: jax.Array, length: int) -> jax.Array:
    """Negative log-likelihood of the sentence's tags, summed over its tokens."""
    logs = jnp.take_along_axis(jax.nn.log_softmax(scores(params, ids)), tags[:, None], axis=1)[:, 0]
    return -jnp.sum(logs, where=jnp.arange(len(tags)) < length)


@jax.jit
def update(params: Params, ids: jax.Array, tags: jax.Array, length: int, lr: float) -> tuple[Params, jax.Array]:
    """One update of stochastic gradient descent by one sentence; returns the loss before it."""
    value, gradients = jax.value_and_grad(loss)(params, ids, tags, length)
    return {name: array - lr * gradients[name] for name, array in params.items()}, value


def epoch(params: Params, examples: Sequence[Example], order: Iterable[int], lr: float) -> tuple[Params, float]:
    """One pass over the sentences; returns the parameters and the mean loss of a token."""
    losses = []
    for i in order:
        params, value = update(params, *examples[i], lr)
        losses.append(value)
    return params, float(sum(losses)) / sum(length for _, _, length in examples)


@jax.jit
def best_tags(params: Params, ids: jax.Array) -> jax.Array:
    """Number of the most probable tag of each token, [T]."""
    return scores(params, ids).argmax(axis=1)


def predict(params: Params, examples: Sequence[Example], tags: Sequence[str]) -> list[list[str]]:
    """The most probable tag of each token."""
    return [[tags[k] for k in np.asarray(best_tags(params, ids))[:length]] for ids, _, length in examples]


def main() -> None:
    """Train on invented notes; score others."""
    train, test = (
        [item for note in generate_notes(count, seed=seed) for item in encode(note).sentences if item.tags]
        for count, seed in ((80, 0), (30, 1))
    )
    word_ids = index(chain.from_iterable(item.sentence.words for item in train), first=2, least=2)
    tag_ids = index(chain.from_iterable(item.tags for item in train))
    examples = [example(item.sentence.words, item.tags, word_ids, tag_ids) for item in train]
    held_out = [example(item.sentence.words, item.tags, word_ids, tag_ids) for item in test]
    params, random = initial_params(len(word_ids) + 2, len(tag_ids), seed=0), np.random.default_rng(0)
    for number in range(1, EPOCHS + 1):
        params, mean = epoch(params, examples, random.permutation(len(examples)), LR)
        micro = count_tags([item.tags for item in test], predict(params, held_out, list(tag_ids))).micro
        print(f"epoch {number:2}: loss {mean:.4f} a token; recall {micro.recall:.3f}, precision {micro.precision:.3f}")


if __name__ == "__main__":
    main()
