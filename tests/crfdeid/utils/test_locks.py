"""A lock keeps other processes out until its process ends, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import filelock
import pytest

from crfdeid.errors import FormatError, WriteError
from crfdeid.utils.files import locked, reserve_file, take_lock

HOLD = """
import sys, time
from pathlib import Path
from crfdeid.utils.files import locked
with locked(Path(sys.argv[1]), of=Path("it"), busy="busy"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_killed_process_leaves_a_file_that_keeps_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(WriteError) as refused, locked(path, of=tmp_path, busy="busy"):
            pass
        other.kill()
    assert refused.value.path == tmp_path
    assert path.exists()
    with locked(path, of=tmp_path, busy="busy"):
        pass
    assert not path.exists()


def test_one_that_waits_is_next(tmp_path: Path) -> None:
    first = take_lock(tmp_path / "lock")
    waiting = threading.Event()
    taken: list[int] = []
    second = threading.Thread(target=lambda: taken.append(take_lock(tmp_path / "lock", on_wait=waiting.set)))
    second.start()
    assert waiting.wait(60) and not taken
    os.close(first)
    second.join()
    os.close(taken[0])


@pytest.mark.parametrize("again", [False, True])
def test_the_lock_of_a_removed_file_protects_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    path, lock = tmp_path / "lock", filelock.lock_descriptor

    def removed_meanwhile(descriptor: int, *, blocking: bool = True) -> bool:
        path.unlink()
        if again:
            path.touch()
        return lock(descriptor, blocking=blocking)

    monkeypatch.setattr(filelock, "lock_descriptor", removed_meanwhile)
    with pytest.raises(BlockingIOError):
        take_lock(path)


def test_a_system_that_removes_no_open_file_removes_it_after_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, unlink = tmp_path / ".report.json.lock", Path.unlink

    def refused(self: Path, missing_ok: bool = False) -> None:
        if any(os.path.realpath(link) == str(self) for link in Path("/proc/self/fd").iterdir()):
            raise PermissionError(13, "in use")
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refused)
    with reserve_file(tmp_path / "report.json"):
        assert path.exists()
    assert not path.exists()


def test_what_cannot_be_a_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").touch()
    (tmp_path / "link").symlink_to("theirs")
    os.mkfifo(tmp_path / "pipe")
    cases = {"link": WriteError, "pipe": FormatError, "theirs/lock": WriteError}
    for name, error in cases.items():
        with ExitStack() as held, pytest.raises(error):
            held.enter_context(locked(tmp_path / name, of=tmp_path / name, busy="busy"))
