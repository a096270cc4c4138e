"""Notes elsewhere: in an S3 that is not Amazon's. It runs here, and knows three calls of Amazon's S3 API."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from crfdeid.errors import DataError, UsageError
from crfdeid.notes.remote import RemoteNotes

OBJECTS = {
    "notes/a.txt": b"Dr. Doe called.",
    "notes/ward 1/b.txt": b"Seen on 3/14.",
    "notes/.hidden": b"",
    "one.txt": b"x",
}
TIME = "2026-11-23T00:00:00.345Z"  # HeadObject has seconds alone
LISTED = '<?xml version="1.0"?><ListBucketResult><KeyCount>{count}</KeyCount>{found}</ListBucketResult>'


class Answers(BaseHTTPRequestHandler):
    """A bucket named "lake"."""

    def do_HEAD(self) -> None:
        """HeadObject."""
        self._answer(body=False)

    def do_GET(self) -> None:
        """GetObject, whole or from a place on; ListObjectsV2."""
        self._answer(body=True)

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def _answer(self, *, body: bool) -> None:
        parts = urlsplit(self.path)
        bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
        if bucket != "lake":
            self._send(404, b"", body=body)
        elif key:
            self._send(200 if key in OBJECTS else 404, OBJECTS.get(key, b""), body=body)
        else:
            self._send(200, listed(parse_qs(parts.query)).encode(), body=body)

    def _send(self, status: int, data: bytes, *, body: bool) -> None:
        if status == 200 and (asked := self.headers.get("Range")):
            first, last = asked.removeprefix("bytes=").split("-")
            status, data = 206, data[int(first) : int(last) + 1]
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Last-Modified", "Mon, 23 Nov 2026 00:00:00 GMT")
        self.end_headers()
        if body:
            self.wfile.write(data)


def listed(query: dict[str, list[str]]) -> str:
    """What is right below a prefix."""
    prefix = query.get("prefix", [""])[0]
    below = [key.removeprefix(prefix) for key in OBJECTS if key.startswith(prefix)]
    folders = sorted({f"{prefix}{name.partition('/')[0]}/" for name in below if "/" in name})
    files = [prefix + name for name in below if "/" not in name]
    found = [f"<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>" for folder in folders]
    found += [
        f"<Contents><Key>{key}</Key><LastModified>{TIME}</LastModified><Size>{len(OBJECTS[key])}</Size></Contents>"
        for key in files
    ]
    return LISTED.format(count=len(found), found="".join(found))


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    """An S3, which the environment names."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = Thread(target=partial(server.serve_forever, poll_interval=0.01), daemon=True)
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
@pytest.mark.usefixtures("s3")
def test_the_environment_says_where_an_s3_is(scheme: str, tmp_path: Path) -> None:
    notes = RemoteNotes(f"{scheme}://lake/notes/")
    files = list(notes.files())
    assert [(file.name, file.size) for file in files] == [("a.txt", 15), ("ward 1/b.txt", 13)]
    fetched = notes.fetch(files[1], tmp_path / "b.txt")
    assert fetched.path.read_bytes() == b"Seen on 3/14."
    assert notes.state("ward 1/b.txt") == (13, files[1].time)
    assert notes.state("ward 1/c.txt") is None


@pytest.mark.usefixtures("s3")
def test_one_file_of_an_s3(tmp_path: Path) -> None:
    notes = RemoteNotes("s3://lake/one.txt")
    (file,) = notes.files()
    assert notes.fetch(file, tmp_path / "one.txt").path.read_bytes() == b"x"


@pytest.mark.usefixtures("s3")
def test_what_an_s3_has_not_is_named() -> None:
    with pytest.raises(UsageError, match="no such file or folder: s3://lake/nothing"):
        list(RemoteNotes("s3://lake/nothing").files())
    with pytest.raises((UsageError, DataError), match="s3://other/notes"):
        list(RemoteNotes("s3://other/notes").files())


@pytest.mark.parametrize(
    "url",
    ["s3://key@lake/notes", "s3://key:secret@lake/notes", "s3://lake/notes?secret=1", "abfs://box:key@host/notes"],
)
def test_a_url_holds_no_secret(url: str) -> None:
    with pytest.raises(UsageError, match="belongs into the environment"):
        RemoteNotes(url)


@pytest.mark.parametrize("url", ["s3://lake/a@b", "abfss://box@account.dfs.core.windows.net/notes"])
def test_an_at_sign_that_is_no_users(url: str) -> None:
    assert str(RemoteNotes(url)) == url
