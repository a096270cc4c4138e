"""What users install: the same archives from each build, a folder of wheels for no network, the container's parts."""

import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest
from service import start

pytest.importorskip("twine", reason="the extra release is not installed")
yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
MADE_BY_SETUPTOOLS = re.compile(r"PKG-INFO|setup\.cfg|crfdeid\.egg-info/.*")
MOST_MEGABYTES = 350
MOST_SECONDS_OF_HELP = 0.2
"""Of processor time: other processes do not count."""


def run(*command: object, folder: Path = ROOT, umask: int = 0o022, **environment: str) -> str:
    """What a command prints; it must end with 0."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        umask=umask,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def clone(folder: Path, umask: int = 0o022) -> Path:
    if not (ROOT / ".git").exists():
        pytest.skip("no clone: the files of the project are not known")
    run("git", "clone", "--quiet", ROOT, folder, umask=umask)
    return folder


def build(source: Path, output: Path, *options: str, umask: int = 0o022) -> None:
    epoch = run("git", "log", "-1", "--format=%ct").strip()
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", output, *options, source)
    run(*command, umask=umask, SOURCE_DATE_EPOCH=epoch)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("first")
    build(clone(folder / "source"), folder / "dist")
    return folder / "dist"


def test_another_build_has_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    """It is made later, in another folder, by a user whose files others cannot read."""
    build(clone(tmp_path / "another", 0o077), tmp_path / "dist", umask=0o077)
    archives = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in (dist, tmp_path / "dist")]
    assert len(archives[0]) == 2
    assert archives[0] == archives[1]


def test_the_source_archive_has_the_files_of_the_project(dist: Path) -> None:
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        found = {entry.name.partition("/")[2] for entry in archive if entry.isfile()}
    tracked = set(run("git", "ls-tree", "-r", "--name-only", "HEAD").splitlines())
    assert {name for name in found if not MADE_BY_SETUPTOOLS.fullmatch(name)} == tracked


def test_an_index_accepts_both_archives(dist: Path) -> None:
    run(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir())


def test_the_image_has_the_files_of_the_wheel(dist: Path, tmp_path: Path) -> None:
    source, image = clone(tmp_path / "source"), tmp_path / "image"
    image.mkdir()
    copies = re.findall(r"^COPY (?!--)(.+) (\S+)$", (ROOT / "deploy/Containerfile").read_text(), re.MULTILINE)
    for names, target in copies:
        for name in names.split():
            if (source / name).is_dir():
                shutil.copytree(source / name, image / target)
            else:
                shutil.copy(source / name, image / target)
    build(image, tmp_path / "dist", "--wheel")
    (made,), (wheel,) = (tmp_path / "dist").glob("*.whl"), dist.glob("*.whl")
    assert made.read_bytes() == wheel.read_bytes()


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the command of docs/how-to/deploy.md makes for this machine."""
    folder = tmp_path_factory.mktemp("bundle")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder / "try"), "tabulate"]
    if subprocess.run(pip, capture_output=True, check=False).returncode:
        pytest.skip("no package index is reachable")
    run(sys.executable, ROOT / "deploy/bundle.py", folder / "wheels", "--extras", "serve")
    return folder / "wheels"


def install(bundle: Path, python: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return pip_install(bundle, python, "--require-hashes", "-r", str(bundle / "requirements.txt"), *options)


def pip_install(bundle: Path, python: Path, *wanted: str) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", bundle, *wanted]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment["PIP_CONFIG_FILE"] = os.devnull
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def offline(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of programs of an environment that was installed from the bundle alone."""
    folder = tmp_path_factory.mktemp("offline")
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    done = install(bundle, programs / "python")
    assert done.returncode == 0, done.stderr
    run(programs / "python", "-m", "pip", "uninstall", "--yes", "pip", "setuptools")
    return programs


def test_the_core_is_small(bundle: Path, tmp_path: Path) -> None:
    done = pip_install(bundle, Path(sys.executable), "--target", str(tmp_path / "core"), "crfdeid")
    assert done.returncode == 0, done.stderr
    blocks = sum(path.lstat().st_blocks for path in (tmp_path / "core").rglob("*"))
    assert blocks * 512 < MOST_MEGABYTES * 2**20


def test_an_installed_bundle_redacts_and_is_quick(offline: Path, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Seen by Dr. Huntington on 03/14/72.\n")
    run(offline / "crfdeid", "redact", "english", tmp_path / "note.txt", "--output", tmp_path / "clean")
    assert (tmp_path / "clean/note.txt").read_text() == "Seen by Dr. [DOCTOR] on [DATE].\n"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(offline / "crfdeid", "--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < MOST_SECONDS_OF_HELP


def test_a_wheel_that_changed_on_the_way_is_refused(bundle: Path, offline: Path, tmp_path: Path) -> None:
    changed = shutil.copytree(bundle, tmp_path / "changed")
    (wheel,) = changed.glob("tabulate-*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"\n")
    done = install(changed, Path(sys.executable), "--dry-run", "--ignore-installed")
    assert done.returncode != 0 and "tabulate" in done.stderr


def test_a_bundle_goes_to_a_new_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    command = [sys.executable, ROOT / "deploy/bundle.py", tmp_path]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_service_of_the_composition_starts_and_is_healthy(offline: Path, tmp_path: Path) -> None:
    service = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]["service"]
    program, model, *options = service["command"]
    assert (program, model) == ("serve", "/model") and any(mount.endswith(":/model:ro") for mount in service["volumes"])
    (tmp_path / "token").write_text("0123456789abcdef" * 4)
    (tmp_path / "token").chmod(0o600)
    options = [re.sub(r"\$\{CRFDEID_HOST:\?.*\}", "phi.example.org", option) for option in options]
    options = [option.replace("/run/secrets", str(tmp_path)) for option in options if option != "--port=3000"]
    (english,) = offline.parent.glob("lib/*/site-packages/crfdeid/models/english")
    server = start(english, *options, command=[str(offline / "crfdeid")])
    _, *check = service["healthcheck"]["test"]
    check = [part.replace("127.0.0.1:3000", f"127.0.0.1:{server.port}") for part in check]
    run(*check, PATH=f"{offline}:{os.environ['PATH']}")
    note = {"text": "Seen by Dr. Quill on 3/14/2031."}
    assert server.ask("/redact", note)[0] == 401
    headers = {"Authorization": "Bearer " + "0123456789abcdef" * 4, "Host": "phi.example.org"}
    status, answer = server.ask("/redact", note, headers=headers)
    assert (status, answer["text"]) == (200, "Seen by Dr. [DOCTOR] on [DATE].")
    assert server.end() == 0
