"""A model's folder under its final name is whole at any time, also where the process is ended half-way."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from crfdeid.errors import OutputExistsError, SettingError, WriteError
from crfdeid.utils.files import write_files
from crfdeid.utils.folders import require_new, whole_folder, write_folder


def fill(text: str, folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).write_text(text)


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_is_replaced_whole_with_nothing_left_beside_it(tmp_path: Path) -> None:
    for text in ("old", "new"):
        write_folder(tmp_path / "model", lambda folder, text=text: fill(text, folder))
        assert content(tmp_path / "model") == {"a": text, "b": text}
    assert names(tmp_path) == ["model"]


def test_a_folder_is_its_owners_alone_from_the_beginning(tmp_path: Path) -> None:
    (tmp_path / ".model.partial").mkdir(mode=0o755)
    with whole_folder(tmp_path / "model") as partial:
        assert stat.S_IMODE(partial.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o700
    write_files({tmp_path / "other" / "model" / "weights": ""})
    for folder in (tmp_path / "other", tmp_path / "other" / "model"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


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
    assert names(tmp_path) == ["model"]


def test_killed_between_two_names_the_old_folder_is_found_again(tmp_path: Path) -> None:
    code = f"""
import os
from pathlib import Path
from crfdeid.utils.folders import whole_folder
model = Path({str(tmp_path / "model")!r})
for text in ("old", "new"):
    with whole_folder(model) as partial:
        (partial / "a").write_text(text)
        if text == "new":
            Path.replace = lambda path, target, rename=Path.replace: (rename(path, target), os._exit(9))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert names(tmp_path) == [".model.old", ".model.partial", ".model.partial.lock"]
    with pytest.raises(KeyError), whole_folder(tmp_path / "model") as partial:
        assert list(partial.iterdir()) == [], "what a killed run wrote is removed"
        raise KeyError
    assert names(tmp_path) == ["model"]
    assert content(tmp_path / "model") == {"a": "old"}


def test_what_cannot_be_written_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    write_folder(tmp_path / "model", lambda folder: fill("old", folder))

    def full(folder: Path) -> None:
        fill("new", folder)
        raise OSError(28, "No space left on device")

    with pytest.raises(WriteError):
        write_folder(tmp_path / "model", full)
    assert content(tmp_path / "model") == {"a": "old", "b": "old"}
    assert names(tmp_path) == ["model"]


def test_a_name_that_cannot_be_given_leaves_the_old_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path / "model", lambda folder: fill("old", folder))
    rename = Path.replace

    def refused(path: Path, target: Path) -> None:
        if path.name == ".model.partial":
            raise OSError(18, "Invalid cross-device link")
        rename(path, target)

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(WriteError):
        write_folder(tmp_path / "model", lambda folder: fill("new", folder))
    assert names(tmp_path) == ["model"]
    assert content(tmp_path / "model") == {"a": "old", "b": "old"}


def test_the_second_of_two_at_once_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "model") as partial:
        with pytest.raises(WriteError), whole_folder(tmp_path / "model"):
            pass
        fill("first", partial)
    assert content(tmp_path / "model") == {"a": "first", "b": "first"}
    with whole_folder(tmp_path / "model") as partial:
        fill("second", partial)
    assert content(tmp_path / "model") == {"a": "second", "b": "second"}


def test_a_link_stands_for_the_folder_it_names(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    for link, target in (("there", "disk/there"), ("to-be", "disk/to-be")):
        (tmp_path / link).symlink_to(target)
    (tmp_path / "disk" / "there").mkdir()
    for link in ("there", "to-be"):
        write_folder(tmp_path / link, lambda folder: fill("new", folder))
        assert (tmp_path / link).is_symlink()
        assert content(tmp_path / "disk" / link) == {"a": "new", "b": "new"}
    (tmp_path / "ring").symlink_to("ring")
    with pytest.raises(SettingError), whole_folder(tmp_path / "ring"):
        pass


def test_links_in_the_place_of_the_partial_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    fill("precious", tmp_path / "precious")
    (tmp_path / ".model.partial").symlink_to("precious")
    with pytest.raises(WriteError), whole_folder(tmp_path / "model"):
        pass
    (tmp_path / ".model.partial").unlink()
    (tmp_path / ".model.partial").mkdir()
    (tmp_path / ".model.partial" / "inner").symlink_to(tmp_path / "precious")
    write_folder(tmp_path / "model", lambda folder: fill("new", folder))
    assert content(tmp_path / "precious") == {"a": "precious", "b": "precious"}


def test_the_current_folder_and_mount_points_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (Path(), Path("/"), Path("/proc")):
        if folder.exists():
            with pytest.raises(SettingError), whole_folder(folder):
                pass
    assert names(tmp_path) == []


@pytest.mark.parametrize("parent", ["file", "long"])
def test_what_cannot_be_made_is_found_before_the_work(parent: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "model" if parent == "file" else tmp_path / ("x" * 250)
    with pytest.raises(WriteError), whole_folder(folder):
        pytest.fail("the work was begun")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_found_before_the_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(WriteError) as refused, whole_folder(tmp_path / "model"):
        pytest.fail("the work was begun")
    assert refused.value.path == tmp_path / "model"
    tmp_path.chmod(0o700)


def test_only_an_empty_folder_is_new(tmp_path: Path) -> None:
    require_new(tmp_path)
    require_new(tmp_path / "model")
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file"):
        with pytest.raises(OutputExistsError):
            require_new(path)
