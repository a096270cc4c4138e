"""What every test shares: strict JAX shapes, patience on a busy machine, and where the real corpora are."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from chromium import Browser
from hypothesis import HealthCheck, settings
from quick_tests import QUICK_FILES

# A busy machine is slow now and then: that is no property of the code. The same code passes or fails every time;
# ``--hypothesis-profile thorough`` tries more examples, and others each time.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _PATIENT, max_examples=50, derandomize=True)
settings.register_profile("thorough", _PATIENT, max_examples=1000)
settings.load_profile("quick")

if find_spec("jax"):
    # Read by JAX when a test imports it: shapes of different rank never broadcast by accident.
    os.environ["JAX_NUMPY_RANK_PROMOTION"] = "raise"
    # What one test compiled the next one need not, nor a command that it starts. A folder a process, for processes
    # that run tests side by side would read each other's files half written.
    _compiled = TemporaryDirectory(prefix="crfdeid-tests-", ignore_cleanup_errors=True)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = _compiled.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.05"
    # XLA's older way to write machine code takes half as long to compile. A version that no longer knew the option
    # would end every process, so it is given to the one where it was measured.
    if version("jaxlib").startswith("0.10."):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_use_fusion_emitters=false"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m quick``, the other files are not imported: that would take longer than the quick tests."""
    other = collection_path.suffix == ".py" and collection_path not in QUICK_FILES
    return True if config.option.markexpr == "quick" and other else None


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests, and run the tests of every model first.

    A worker without work takes the last tests of another, which should share little.
    """
    for item in items:
        if item.path in QUICK_FILES and not item.get_closest_marker("slow"):
            item.add_marker("quick")
    items.sort(key=lambda item: item.path.name != "test_tagger_contract.py")


def pytest_collection_finish() -> None:
    """Python looks for garbage more rarely, and never among the modules and tests that stay till the end.

    JAX makes so many objects while it compiles that looking for those that nothing refers to takes a twentieth of a
    test's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="module")
def quickly_compiled() -> Iterator[None]:
    """JAX compiles without most of its optimisations, here and in processes that a test starts.

    For tests that compile more than they compute.
    """
    import jax  # noqa: PLC0415

    name = "jax_disable_most_optimizations"
    before = jax.config.values[name]
    jax.config.update(name, True)
    jax.clear_caches()  # what other tests compiled in this process, with all optimisations
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name.upper(), "1")
        yield
    jax.config.update(name, before)
    jax.clear_caches()


@pytest.fixture
def answers_ctrl_c() -> Iterator[None]:
    """Python's own answer to Ctrl-C, which a run started in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One Chromium for all pages, each of which has a tab of its own."""
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real corpora, meddocan/ and asq-phi/; tests that ask for it skip where there is none."""
    folder = os.environ.get("CRFDEID_DATA")
    if not folder:
        pytest.skip("CRFDEID_DATA is not set: no real corpora")
    return Path(folder)
