"""The core's commands without what Windows lacks.

No test here runs on Windows. These run in processes without its missing modules and functions, in which, as there, a
folder cannot be opened, an open file can be neither removed nor renamed, and only a file opened to be written can be
flushed. Locks are filelock's: its half for Windows is not run.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crfdeid import Document
from crfdeid.corpora import write_corpus
from crfdeid.errors import FormatError
from crfdeid.secrets import read_secret

# Python runs this file at the start of each process, also of worker processes.
SITE = '''
import csv, os, pathlib, signal, sys

os.supports_dir_fd.clear()  # before shutil is imported

# Modules that use POSIX themselves where `sys.platform` is not Windows, as these do here.
import concurrent.futures.process, logging, multiprocessing.resource_tracker, multiprocessing.spawn, random, subprocess
import multiprocessing.popen_spawn_posix, multiprocessing.util, shutil, tempfile, threading, filelock
import fcntl, types

multiprocessing.resource_tracker.signal = types.SimpleNamespace(**vars(signal))
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline"):
    sys.modules[name] = None
for name in """
    fork forkpty getuid geteuid getgid getegid getgroups getlogin_r setuid seteuid setgid setegid setsid getsid getpgid
    getpgrp setpgid setpgrp killpg wait3 wait4 nice chown lchown fchown lchmod chroot mkfifo mknod sysconf pathconf
    fpathconf confstr statvfs fstatvfs pread pwrite preadv pwritev readv writev sendfile posix_fadvise posix_fallocate
    posix_spawn posix_spawnp sched_getaffinity sched_setaffinity sched_yield register_at_fork environb getenvb openpty
    sync fdatasync getloadavg ctermid getpriority setpriority
    O_NOFOLLOW O_NONBLOCK O_NDELAY O_DIRECTORY O_CLOEXEC O_SYNC O_DSYNC O_NOCTTY O_NOATIME O_PATH O_ASYNC O_DIRECT
""".split():
    if hasattr(os, name):
        delattr(os, name)
for name in """
    SIGHUP SIGKILL SIGQUIT SIGALRM SIGUSR1 SIGUSR2 SIGPIPE SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGWINCH
    SIGBUS SIGPROF SIGVTALRM alarm setitimer getitimer pause pthread_kill pthread_sigmask sigpending sigwait
    sigwaitinfo sigtimedwait siginterrupt SIG_BLOCK SIG_UNBLOCK SIG_SETMASK ITIMER_REAL
""".split():
    if hasattr(signal, name):
        delattr(signal, name)

def no_mount(path):
    raise NotImplementedError("Path.is_mount() is unsupported on this system")

pathlib.Path.is_mount = no_mount
real_open, real_fsync, is_folder = os.open, os.fsync, pathlib.Path.is_dir

def open_file(path, flags, mode=0o777, *, dir_fd=None):
    if dir_fd is None and os.path.isdir(path) and not flags & getattr(os, "O_TMPFILE", 0):
        raise PermissionError(13, "Permission denied", path)
    return real_open(path, flags, mode, dir_fd=dir_fd)

def fsync(descriptor):
    number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
    if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(9, "Bad file descriptor")
    real_fsync(number)

os.open, os.fsync = open_file, fsync
pathlib.Path.is_dir = lambda path: str(path) != "/dev/fd" and is_folder(path)

real_limit = csv.field_size_limit

def limit(*most):
    if most and most[0] > 2**31 - 1:
        raise OverflowError("Python int too large to convert to C long")
    return real_limit(*most)

csv.field_size_limit = limit

def in_use(path):
    """True if this process has this file, or one below this folder, open or mapped."""
    path = os.path.realpath(path)
    opened = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    with open("/proc/self/maps") as maps:
        opened += [line.split(maxsplit=5)[-1].rstrip() for line in maps]
    return any(one == path or one.startswith(path + "/") for one in opened)

checking = False

def refuse(event, details):
    global checking
    if checking or event not in ("os.rename", "os.remove", "os.rmdir", "os.truncate"):
        return
    checking = True
    try:
        for path in details[: 2 if event == "os.rename" else 1]:
            if isinstance(path, (str, os.PathLike)) and in_use(path):
                raise PermissionError(13, "The process cannot access the file: it is in use", str(path))
    finally:
        checking = False

sys.addaudithook(refuse)
'''
TEXT = "Seen by Dr. Huntington on 03/14/72.\r\nHe feels well.\r\n"
DAY = "14"
REDACTED = "Seen by Dr. [DOCTOR] on [DATE].\r\nHe feels well.\r\n"
NOTES = [
    {
        "id": f"{day}",
        "text": TEXT.replace(DAY, f"{day}"),
        "spans": [{"start": 12, "end": 22, "label": "DOCTOR"}, {"start": 26, "end": 34, "label": "DATE"}],
    }
    for day in range(11, 19)
]
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Annotated notes, notes as files, and a model that was trained on them as on Windows."""
    box = tmp_path_factory.mktemp("windows")
    (box / "site").mkdir()
    (box / "site" / "sitecustomize.py").write_text(SITE)
    (box / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in NOTES))
    (box / "table.csv").write_text("id,text\r\n1,Seen by Dr. Huntington.\r\n", newline="")
    (box / "in" / "ward").mkdir(parents=True)
    for note in NOTES:
        (box / "in" / "ward" / f"{note['id']}.txt").write_bytes(TEXT.replace(DAY, str(note["id"])).encode())
    run(box, "train notes.jsonl --dev notes.jsonl --model crf --output model")
    return box


def run(box: Path, command: str) -> bytes:
    """Run a command of the core as Windows would, as far as that is possible here; return its output."""
    paths = os.pathsep.join([str(box / "site"), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths, "CRFDEID_CACHE": str(box / "cache")}
    program = "import os, sys; assert not hasattr(os, 'fork'); from crfdeid.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, *command.split()],
        cwd=box,
        env=environment,
        input=TEXT.encode(),
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_notes_are_redacted_and_the_run_resumed(box: Path) -> None:
    command = "redact model in --output out --report report.json --jobs 2"
    run(box, command)
    run(box, command.replace("report.json", "report-2.json") + " --resume")
    results = sorted((box / "out").rglob("*.txt"))
    assert [path.name for path in results] == [f"{note['id']}.txt" for note in NOTES]
    assert {path.read_bytes() for path in results} == {REDACTED.encode()}
    assert not list(box.glob(".*.lock"))


def test_a_note_keeps_its_line_ends(box: Path) -> None:
    assert run(box, "redact model -") == REDACTED.encode()


@pytest.mark.parametrize(
    "command",
    [
        "evaluate model notes.jsonl --output errors.html",
        "redact rules notes.jsonl --output by-built-in-rules",
        "redact rules table.csv --output by-built-in-rules-2",
        "tag model notes.jsonl --output tagged --output-format jsonl",
        "convert notes.jsonl --output brat --output-format brat",
        "train notes.jsonl --dev notes.jsonl --model rules --output model-2 --verbose",
        "info model",
    ],
)
def test_other_commands_of_the_core(command: str, box: Path) -> None:
    run(box, command)


@pytest.mark.parametrize("name", ["12:30", "ward/CON", "nul.1/a", "a./b", "a ", "what?", "a|b", "COM1"])
def test_a_name_that_windows_reads_otherwise_is_refused_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus([Document(name, "x")], tmp_path / "here", format="brat")
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(FormatError):
        write_corpus([Document(name, "x")], tmp_path / "there", format="brat")
    write_corpus([Document("ward/console.1", "x")], tmp_path / "there", format="brat")


def test_the_modes_of_files_are_not_judged_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "secret").write_text("0123456789abcdef")
    (tmp_path / "secret").chmod(0o644)
    read_secret(tmp_path / "secret")
    assert len(caplog.records) == 1
    monkeypatch.setattr(sys, "platform", "win32")
    read_secret(tmp_path / "secret")
    assert len(caplog.records) == 1


@pytest.mark.parametrize("line", ["import fcntl", "from resource import getrusage", "import os\n\nos.fork()"])
def test_the_linter_refuses_what_windows_lacks(line: str) -> None:
    command = ["ruff", "check", "--quiet", "--output-format", "concise", "--stdin-filename", "crfdeid/new.py", "-"]
    text = f'"""Module."""\n\n{line}\n'
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "TID25" in done.stdout, done.stderr
