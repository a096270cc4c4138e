"""What lies in the cache of compiled programs: no word of a note, and no weight."""

import os
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path

import numpy as np
import pytest

from rnn.compile_cache import forget_damaged

WORD = "Quillfeather"
PROGRAM = """
    import sys
    from pathlib import Path
    import jax
    import numpy as np
    from crfdeid.documents import LabelledSentence
    from features.tokens import Sentence
    from rnn import BilstmCrfSettings, BilstmCrfTagger, ElmanSettings, ElmanTagger
    from rnn.compile_cache import keep_compiled

    keep_compiled()
    assert jax.config.jax_compilation_cache_dir == sys.argv[1]
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)  # every program, however small
    items = [LabelledSentence(Sentence.from_words(["Mr", "WORD"]), ("O", "B-PATIENT"))] * 3
    small = dict(epochs=2, embedding_dim=8, hidden=6, min_count=1)
    taggers = [
        ElmanTagger(ElmanSettings(window=3, **small)),
        BilstmCrfTagger(BilstmCrfSettings(char_dim=8, char_filters=6, feature_dim=8, feature_min_count=1, **small)),
    ]
    weights = {}
    for tagger in taggers:
        tagger.fit(items, items)
        tagger.predict([items[0].sentence])
        tagger.marginals([items[0].sentence])
        for when, one in (("start", tagger.initial(tagger.learned.processor)), ("end", tagger.learned)):
            weights |= {f"{tagger.model} {when} {name}": np.asarray(a) for name, a in one.params.items()}
    closed_over = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)
    jax.jit(lambda x: x @ closed_over)(closed_over).block_until_ready()  # what must not be done, and must be found
    np.savez(sys.argv[2], closed_over=closed_over, **weights)
""".replace("WORD", WORD)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The folder of compiled programs after a training in a process of its own, their bytes, and the weights."""
    root = tmp_path_factory.mktemp("cache")
    folder, arrays = root / "crfdeid" / "compiled", root / "weights.npz"
    told = {"PATH": "", "HOME": str(root), "CRFDEID_CACHE": str(root / "crfdeid"), "PYTHONPATH": ":".join(sys.path)}
    # As quickly as other tests compile: what is closed over is in the program all the same.
    told |= {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "XLA_FLAGS": os.environ.get("XLA_FLAGS", "")}
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(folder), str(arrays)]
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    with np.load(arrays) as found:
        return folder, [unpacked(path) for path in folder.glob("*-cache")], dict(found)


def unpacked(path: Path) -> bytes:
    """A program as JAX packed it: by zstandard where Python has that, else by zlib."""
    content = path.read_bytes()
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        name = "compression.zstd" if sys.version_info >= (3, 14) else "zstandard"
        return pytest.importorskip(name).decompress(content)
    return zlib.decompress(content)


def runs_of(array, count=3):
    """Numbers of a matrix that stand side by side, in its rows and in its columns, as bytes."""
    for matrix in (np.squeeze(array), np.squeeze(array).T):
        for row in matrix.reshape(-1, matrix.shape[-1]):
            for start in range(0, len(row) - count + 1, count):
                part = row[start : start + count]
                if len(set(part.tolist())) == count:  # zeros and ones are in every program
                    yield np.ascontiguousarray(part, np.float32).tobytes()


def programs_with(array, programs):
    return sum(any(run in program for run in runs_of(array)) for program in programs)


@pytest.mark.slow
def test_the_folder_is_its_owners_alone(compiled):
    folder, programs, _ = compiled
    assert folder.stat().st_mode & 0o777 == 0o700 == folder.parent.stat().st_mode & 0o777
    assert len(programs) > 10


@pytest.mark.slow
def test_no_word_and_no_weight_is_in_it_and_what_is_closed_over_would_be_found(compiled):
    _, programs, weights = compiled
    assert programs_with(weights.pop("closed_over"), programs) == 1
    assert any("tables.words" in name for name in weights)
    assert {name: programs_with(array, programs) for name, array in weights.items()} == dict.fromkeys(weights, 0)
    for spelling in (WORD, WORD.lower()):
        for code in ("utf-8", "utf-16-le", "utf-32-le"):
            assert not [program for program in programs if spelling.encode(code) in program]


def test_programs_that_were_written_in_part_are_removed_and_each_is_looked_at_once(tmp_path):
    whole = zlib.compress(np.random.default_rng(0).bytes(1000))
    for name, content in (("whole", whole), ("half", whole[:500]), ("last", whole[:-1]), ("empty", b"")):
        (tmp_path / f"{name}-cache").write_bytes(content)
    forget_damaged(tmp_path)
    assert [path.name for path in tmp_path.glob("*-cache")] == ["whole-cache"]
    looked = (tmp_path / ".looked").stat().st_mtime_ns
    for name, time in (("older", looked - 1), ("newer", looked)):
        (tmp_path / f"{name}-cache").write_bytes(whole[:500])
        os.utime(tmp_path / f"{name}-cache", ns=(time, time))
    forget_damaged(tmp_path)
    assert {path.name for path in tmp_path.glob("*-cache")} == {"whole-cache", "older-cache"}


TINY = """
    import jax
    from rnn.compile_cache import keep_compiled

    keep_compiled()
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    print(jax.jit(lambda x: x * 3)(2.0))
"""


@pytest.mark.slow
def test_half_a_program_is_written_anew_and_nobody_hears_of_it(tmp_path):
    told = {"PATH": "", "HOME": str(tmp_path), "CRFDEID_CACHE": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    found = []
    for _ in range(2):
        command = [sys.executable, "-c", textwrap.dedent(TINY)]
        done = subprocess.run(command, env=told, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr, done.stdout) == (0, "", "6.0\n")
        programs = list((tmp_path / "compiled").glob("*-cache"))
        found.append({path.name: len(unpacked(path)) for path in programs})
        for path in programs:
            path.write_bytes(path.read_bytes()[:100])
    assert found[0] and found[0].keys() == found[1].keys()


REPEATED = """
    import sys
    from collections import Counter
    import jax
    from crfdeid.documents import LabelledSentence
    from crfdeid.registry import create
    from features.tokens import Sentence
    from rnn.compile_cache import keep_compiled
    from tiny_encoders import tiny_encoder

    keep_compiled()
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    events = Counter()
    jax.monitoring.register_event_listener(lambda event, **_: events.update([event.rpartition("/")[2]]))
    items = [LabelledSentence(Sentence.from_words(["Mr", "Doe"] * n), ("O", "B-PATIENT") * n) for n in (1, 2, 9)]
    words = {"embedding_dim": 8, "hidden": 6, "min_count": 1}
    pieces = {"encoder": str(tiny_encoder()), "window": 20, "overlap": 5}
    own = {"elman": words, "jordan": words, "bilstm-crf": words, "bert": pieces}
    for name, settings in own.items():
        tagger = create(name, overrides={"epochs": 2, **settings})
        tagger.fit(items, items[:2])
        tagger.predict([item.sentence for item in items])
        tagger.marginals([items[0].sentence])
    print(events["compile_requests_use_cache"], events["cache_hits"])
"""


@pytest.mark.slow
@pytest.mark.usefixtures("quickly_compiled")
def test_a_second_process_compiles_nothing(tmp_path):
    told = {**os.environ, "CRFDEID_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    for name in ("JAX_COMPILATION_CACHE_DIR", "CRFDEID_COMPILATION_CACHE"):
        told.pop(name, None)
    found = []
    for seed in ("1", "2"):  # of Python's hashes, and so of the order of sets
        command = [sys.executable, "-c", textwrap.dedent(REPEATED)]
        done = subprocess.run(command, env={**told, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        found.append(tuple(map(int, done.stdout.split())))
    (programs, _), (asked, read) = found
    assert programs > 40
    assert (asked, read) == (programs, programs)
