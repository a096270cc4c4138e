"""What every test shares: strict JAX shapes, and where the real corpora are."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("jax"):
    # Read by JAX when a test imports it: shapes of different rank never broadcast by accident.
    os.environ["JAX_NUMPY_RANK_PROMOTION"] = "raise"


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real corpora, meddocan/ and asq-phi/; tests that ask for it skip where there is none."""
    folder = os.environ.get("CRFDEID_DATA")
    if not folder:
        pytest.skip("CRFDEID_DATA is not set: no real corpora")
    return Path(folder)
