"""A model's folder under its final name is whole at any time, also where the process is ended half-way."""

import shutil
from pathlib import Path

import pytest

from crfdeid.errors import DataError
from crfdeid.system.folders import write_folder


def fill(text: str, folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).write_text(text)


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_folder_is_replaced_whole_with_nothing_left_beside_it(tmp_path: Path) -> None:
    for text in ("old", "new"):
        write_folder(tmp_path / "model", lambda folder, text=text: fill(text, folder))
        assert content(tmp_path / "model") == {"a": text, "b": text}
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_ended_while_the_old_folder_is_deleted_the_new_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "model", lambda folder: fill("old", folder))

    def ended(path: Path, **_: object) -> None:
        if path.exists():
            (path / "a").unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(shutil, "rmtree", ended)
        write_folder(tmp_path / "model", lambda folder: fill("new", folder))
    assert content(tmp_path / "model") == {"a": "new", "b": "new"}
    write_folder(tmp_path / "model", lambda folder: fill("newer", folder))
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_cannot_be_written_leaves_the_old_folder(tmp_path: Path) -> None:
    write_folder(tmp_path / "model", lambda folder: fill("old", folder))

    def full(folder: Path) -> None:
        fill("new", folder)
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="the model cannot be saved: No space left on device"):
        write_folder(tmp_path / "model", full)
    assert content(tmp_path / "model") == {"a": "old", "b": "old"}
