"""What importing `rnn` asks of XLA for a GPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def printed(code: str, **environment: str) -> str:
    """What a Python process prints."""
    command, environment = [sys.executable, "-c", code], {**os.environ, **environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


FIXED, CUBLAS = "--xla_gpu_deterministic_ops=true", "--xla_gpu_enable_triton_gemm=false"


@pytest.mark.parametrize(
    ("plugin", "before", "after"),
    [
        ("", "--xla_dump_to=", "--xla_dump_to="),
        ("jax_cuda12_plugin", "", f"{FIXED} {CUBLAS}"),
        ("jax_cuda13_plugin", "--xla_dump_to=", f"--xla_dump_to= {FIXED} {CUBLAS}"),
        ("jax_cuda12_plugin", "--xla_gpu_deterministic_ops=false", f"--xla_gpu_deterministic_ops=false {CUBLAS}"),
        ("jax_cuda12_plugin", "--xla_gpu_enable_triton_gemm=true", f"--xla_gpu_enable_triton_gemm=true {FIXED}"),
    ],
)
def test_a_gpu_gets_fixed_sums_and_products_of_cublas_unless_the_user_says_otherwise(
    tmp_path: Path, plugin: str, before: str, after: str
) -> None:
    if plugin:
        (tmp_path / f"{plugin}.py").touch()
    path = os.pathsep.join([str(tmp_path), *sys.path])
    code = "import os, rnn; print(os.environ.get('XLA_FLAGS', ''))"
    assert printed(code, XLA_FLAGS=before, PYTHONPATH=path) == after


def test_xla_on_a_cpu_knows_the_flags() -> None:
    """A machine without a GPU may have the plugin."""
    code = "import jax.numpy as jnp; print(float(jnp.ones(3).sum()))"
    assert printed(code, XLA_FLAGS=f"{FIXED} {CUBLAS}", JAX_PLATFORMS="cpu") == "3.0"
