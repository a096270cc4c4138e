"""Object stores that hold a few objects and run here: what Arrow asks of S3, Google's and Azure's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

OBJECTS = {
    "notes/a.txt": b"Dr. Doe called.",
    "notes/ward 1/b.txt": b"Seen on 3/14.",
    "notes/ward 1/.draft/c.txt": b"x",
    "notes/.hidden": b"",
    "one.txt": b"x",
}
ISO_TIME = "2026-11-23T00:00:00.345Z"
HTTP_TIME = "Mon, 23 Nov 2026 00:00:00 GMT"
ACCOUNT, KEY = "clinic", "c2VjcmV0"
"""Azure's: the only one that is held against what the store knows."""


class Store(BaseHTTPRequestHandler):
    """A bucket or container named "lake"."""

    kind = "application/xml"  # of what it says: Azure's library ends the process where it is not said

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def answer(self, *, body: bool) -> None:
        """Answer one call."""
        raise NotImplementedError

    def asked(self) -> tuple[str, str, dict[str, str]]:
        """The bucket, the object and the options of a call."""
        parts = urlsplit(self.path)
        bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
        return bucket, key, {name: values[0] for name, values in parse_qs(parts.query).items()}

    def send(self, status: int, data: bytes = b"", *, body: bool = True, **headers: str) -> None:
        """Send an answer, of an object whole or from a place on."""
        if status == 200 and (asked := self.headers.get("x-ms-range") or self.headers.get("Range")):
            first, last = asked.removeprefix("bytes=").split("-")
            headers["Content-Range"] = f"bytes {asked.removeprefix('bytes=')}/{len(data)}"
            status, data = 206, data[int(first) : int(last) + 1]
        self.send_response(status)
        headers |= {"Content-Length": str(len(data)), "Last-Modified": HTTP_TIME}
        if data:
            headers["Content-Type"] = self.kind
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if body:
            self.wfile.write(data)


def below(prefix: str) -> tuple[list[str], list[str]]:
    """The folders and the objects right below a prefix."""
    names = [key.removeprefix(prefix) for key in OBJECTS if key.startswith(prefix)]
    folders = sorted({f"{prefix}{name.partition('/')[0]}/" for name in names if "/" in name})
    return folders, sorted(prefix + name for name in names if "/" not in name)


class S3(Store):
    """HeadObject, whose times have seconds alone; GetObject; ListObjectsV2."""

    def answer(self, *, body: bool) -> None:
        bucket, key, options = self.asked()
        if bucket != "lake":
            self.send(404, body=body)
        elif key:
            self.send(200 if key in OBJECTS else 404, OBJECTS.get(key, b""), body=body)
        else:
            self.send(200, self._list(options.get("prefix", "")).encode(), body=body)

    def _list(self, prefix: str) -> str:
        folders, files = below(prefix)
        found = [f"<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>" for folder in folders]
        times = f"<LastModified>{ISO_TIME}</LastModified>"
        found += [f"<Contents><Key>{key}</Key>{times}<Size>{len(OBJECTS[key])}</Size></Contents>" for key in files]
        count = f"<KeyCount>{len(found)}</KeyCount>"
        return f'<?xml version="1.0"?><ListBucketResult>{count}{"".join(found)}</ListBucketResult>'


class Google(Store):
    """objects.get, with the object or what is known of it; objects.list, which says what folders there are apart."""

    def answer(self, *, body: bool) -> None:
        bucket, _, key = urlsplit(self.path).path.removeprefix("/storage/v1/b/").partition("/o")
        key, (_, _, options) = unquote(key.lstrip("/")), self.asked()
        if bucket != "lake" or (key and key not in OBJECTS):
            self.send(404, body=body)
        elif options.get("alt") == "media":
            self.send(200, OBJECTS[key], body=body)
        else:
            said = self._about(key) if key else self._list(options.get("prefix", ""), "delimiter" in options)
            self.send(200, json.dumps(said).encode(), body=body)

    def _list(self, prefix: str, one_level: bool) -> dict[str, object]:
        folders, files = below(prefix) if one_level else ([], [key for key in OBJECTS if key.startswith(prefix)])
        return {"kind": "storage#objects", "prefixes": folders, "items": [self._about(key) for key in files]}

    def _about(self, key: str) -> dict[str, object]:
        size = str(len(OBJECTS[key]))
        return {"kind": "storage#object", "name": key, "bucket": "lake", "size": size, "updated": ISO_TIME}


class Azure(Store):
    """List Blobs, Get Blob Properties and Get Blob, for one account; without the namespace of folders."""

    def answer(self, *, body: bool) -> None:
        account, key, options = self.asked()
        container, _, key = key.partition("/")
        if options.get("action") == "getAccessControl":
            self.send(400, body=body)
        elif account != ACCOUNT or not self.headers.get("Authorization", "").startswith(f"SharedKey {ACCOUNT}:"):
            self.send(403, body=body, x_ms_error_code="AuthenticationFailed")
        elif container != "lake":
            self.send(404, body=body, x_ms_error_code="ContainerNotFound")
        elif key:
            data = OBJECTS.get(key)
            about = {
                "x_ms_blob_type": "BlockBlob",
                "x_ms_creation_time": HTTP_TIME,
                "ETag": '"1"',
                "x_ms_server_encrypted": "true",
            }
            self.send(404 if data is None else 200, data or b"", body=body, **about)
        else:
            self.send(200, self._list(options.get("prefix", "")).encode(), body=body)

    def _list(self, prefix: str) -> str:
        folders, files = below(prefix)
        found = [f"<BlobPrefix><Name>{folder}</Name></BlobPrefix>" for folder in folders]
        for key in files:
            size = f"<Content-Length>{len(OBJECTS[key])}</Content-Length><BlobType>BlockBlob</BlobType>"
            times = f"<Creation-Time>{HTTP_TIME}</Creation-Time><Last-Modified>{HTTP_TIME}</Last-Modified>"
            found.append(f"<Blob><Name>{key}</Name><Properties>{times}<Etag>1</Etag>{size}</Properties></Blob>")
        blobs = f"<Prefix>{prefix}</Prefix><Blobs>{''.join(found)}</Blobs><NextMarker/>"
        lake = 'ServiceEndpoint="http://localhost/" ContainerName="lake"'
        return f'<?xml version="1.0" encoding="UTF-8"?><EnumerationResults {lake}>{blobs}</EnumerationResults>'


@contextmanager
def running(store: type[Store]) -> Iterator[str]:
    """The URL of a store that runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), store)
    thread = Thread(target=partial(server.serve_forever, poll_interval=0.01), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
