"""The kernels of an Elman layer: equal to the layer where they are interpreted, and accepted by the CUDA lowering."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from rnn.models.elman import ElmanLayer

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from elman_kernel import kernel_layer

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TOKENS, INPUTS, HIDDEN = 7, 5, 20  # 20 is no power of two


def sentences(count: int) -> tuple[ElmanLayer, jax.Array, jax.Array]:
    """A layer with large weights, the inputs of some sentences, and gradients of its states."""
    layer = ElmanLayer(INPUTS, HIDDEN, init_range=1.0, rngs=nnx.Rngs(1))
    layer.b[...] = jax.random.normal(jax.random.key(2), (HIDDEN,))
    inputs = jax.random.normal(jax.random.key(3), (count, TOKENS, INPUTS))
    return layer, inputs, jax.random.normal(jax.random.key(4), (count, TOKENS, HIDDEN))


def states_and_slopes(compute: Any, layer: ElmanLayer, inputs: jax.Array, gradient: jax.Array) -> Any:
    """The layer's states, and what the gradient of the states gives for each parameter and for the inputs."""
    structure, params = nnx.split(layer)
    states, back = jax.vjp(lambda params, inputs: compute(nnx.merge(structure, params), inputs), params, inputs)
    return states, *jax.tree.leaves(back(gradient))


@pytest.mark.parametrize("length", [TOKENS, 4, 1, 0])
def test_the_kernels_equal_the_layer_also_for_a_shorter_sentence(length: int) -> None:
    layer, (inputs,), (gradient,) = sentences(1)
    real = (jnp.arange(TOKENS) < length)[:, None]
    found = states_and_slopes(lambda layer, inputs: kernel_layer(layer, inputs, length), layer, inputs, gradient)
    # The gradient of padding does not reach the parameters: a loss does not read it.
    expected = states_and_slopes(lambda layer, inputs: layer(inputs) * real, layer, inputs, gradient)
    assert len(found) == 5  # states; W, V, b; inputs
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_replicates_with_lengths_of_their_own_equal_each_by_itself() -> None:
    layer, inputs, _ = sentences(3)
    lengths = jnp.array([2, 7, 5])

    def slopes(vectors: jax.Array, length: jax.Array, V: jax.Array) -> tuple[jax.Array, ...]:
        def loss(vectors: jax.Array, V: jax.Array) -> jax.Array:
            structure, params = nnx.split(layer)
            params["V"] = nnx.Param(V)
            return jnp.sum(jnp.square(kernel_layer(nnx.merge(structure, params), vectors, length)))

        return jax.grad(loss, (0, 1))(vectors, V)

    several = jnp.stack([layer.V[...], 2 * layer.V[...], -layer.V[...]])
    together = jax.jit(jax.vmap(slopes))(inputs, lengths, several)
    for n in range(3):
        for one, each in zip(slopes(inputs[n], lengths[n], several[n]), together, strict=True):
            np.testing.assert_allclose(each[n], one, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("replicates", [1, 64])
def test_an_update_lowers_to_one_kernel_forward_and_one_backward(replicates: int) -> None:
    """This needs no GPU. At the sizes of the measurement."""
    structure, params = nnx.split(ElmanLayer(100, 100, init_range=None, rngs=nnx.Rngs(0)))

    def loss(params: Any, vectors: jax.Array) -> jax.Array:
        return jnp.sum(jnp.square(kernel_layer(nnx.merge(structure, params), vectors)))

    slopes, shape = jax.grad(loss), (16, 100)
    if replicates > 1:
        slopes, shape = jax.vmap(slopes), (replicates, *shape)
        params = jax.tree.map(lambda array: jnp.stack([array] * replicates), params)
    lowered = jax.jit(slopes).trace(params, jnp.zeros(shape)).lower(lowering_platforms=("cuda",)).as_text()
    assert lowered.count("__gpu$xla.gpu.triton") == 2


def test_neither_the_networks_nor_the_command_import_pallas() -> None:
    code = (
        f"import sys; sys.path.append({str(BENCHMARKS)!r})\n"
        "import gpu, gpu_page, rnn.models.elman, rnn.models.jordan, rnn.training.loop\n"
        "sys.exit(sorted({'jax.experimental.pallas', 'elman_kernel'} & sys.modules.keys()) or 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
