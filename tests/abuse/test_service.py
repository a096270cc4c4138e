"""A service under hostile clients: long texts of many shapes, and requests that two servers may read in two ways."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from service import HEAD, JSON, Server, raw, start

pytest.importorskip("starlette", reason="the extra serve is not installed")

SECONDS = 5
NOTE = "Seen by Dr. Quill on 3/14/2031."
SHAPES = {
    "names in one sentence": "Me A. " * 160_000,
    "sentences": "Seen by Dr. Quill. " * 50_000,
    "lines": "Dr. Quill\n" * 80_000,
    "tokens in one sentence": "a " * 480_000,
    "no white space": "ab1-" * 240_000,
    "combining marks": "a" + "\u0301" * 150_000,
    "records": ["Dr. Quill"] * 60_000,
    "empty records": [""] * 200_000,
}


@pytest.fixture(scope="module")
def server(_first_box: Path) -> Iterator[Server]:
    found = start(_first_box / "model", "--timeout", SECONDS)
    yield found
    assert found.end() == 0
    assert not [line for line in found.log if "Quill" in line or "Traceback" in line]


def ask_short(server: Server) -> None:
    status, answer = server.ask("/redact", {"text": NOTE})
    assert status == 200 and "3/14" not in answer["text"]


def ask_long(server: Server, text: str | list[str], sent: Barrier) -> tuple[int, dict[str, Any]]:
    """Status and content of the answer; ``sent`` is passed before the client waits for them."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)) as connection:
        connection.request("POST", "/redact", json.dumps({"text": text}), JSON)
        sent.wait(120)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_long_requests_hold_no_others_and_are_answered_as_a_whole_or_not(server: Server) -> None:
    sent = Barrier(len(SHAPES) + 1)
    with ThreadPoolExecutor(len(SHAPES)) as clients:
        asked = [clients.submit(ask_long, server, text, sent) for text in SHAPES.values()]
        sent.wait(120)
        overtaking = 0
        while not all(one.done() for one in asked):
            ask_short(server)
            overtaking += not all(one.done() for one in asked)
    assert overtaking > 3  # In turn, none would be: each was asked after all long ones.
    answers = [one.result() for one in asked]
    statuses = {status for status, _ in answers}
    assert statuses <= {200, 503} and 503 in statuses
    for status, answer in answers:
        assert status == 200 or ("--timeout" in answer["error"] and answer.keys() == {"error"})


BODY = json.dumps({"text": NOTE}).encode()
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
AMBIGUOUS = {
    "length and chunks": LENGTH + CHUNKED + b"\r\n" + CHUNKS,
    "chunks and length": CHUNKED + LENGTH + b"\r\n" + CHUNKS,
    "in small letters": LENGTH.lower() + CHUNKED.lower() + b"\r\n" + CHUNKS,
    "over two lines": LENGTH + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNKS,
    "two lengths": LENGTH + b"Content-Length: 5\r\n\r\n" + BODY,
    "two lengths in one": b"Content-Length: 30, 5\r\n\r\n" + BODY,
    "negative length": b"Content-Length: -1\r\n\r\n" + BODY,
    "signed length": b"Content-Length: +30\r\n\r\n" + BODY,
    "length in hexadecimal": b"Content-Length: 0x1e\r\n\r\n" + BODY,
    "length in other digits": "Content-Length: ３０\r\n\r\n".encode() + BODY,
    "length of no digits": b"Content-Length:\r\n\r\n" + BODY,
    "huge length": b"Content-Length: " + b"9" * 30 + b"\r\n\r\n" + BODY,
    "space before a colon": b"Content-Length : 5\r\n" + CHUNKED + b"\r\n" + CHUNKS,
    "folded header": b"X: a\r\n b\r\n" + LENGTH + b"\r\n" + BODY,
    "header folded by a tab": b"X: a\r\n\tb\r\n" + LENGTH + b"\r\n" + BODY,
    "header folded to nothing": b"X: a\r\n \r\n" + LENGTH + b"\r\n" + BODY,
    "identity": b"Transfer-Encoding: identity\r\n\r\n" + BODY,
    "chunked, identity": b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKS,
    "chunked twice": CHUNKED + CHUNKED + b"\r\n" + CHUNKS,
    "no coding": b"Transfer-Encoding: \x0bchunked\r\n\r\n" + CHUNKS,
    "chunk of no size": CHUNKED + b"\r\nzz\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk of negative size": CHUNKED + b"\r\n-1e\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk of another size": CHUNKED + b"\r\n5\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk of huge size": CHUNKED + b"\r\n" + b"f" * 30 + b"\r\n" + BODY,
    "line end in an extension": CHUNKED + b"\r\n1e;a\n0\r\n" + BODY + b"\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("content", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_ambiguous_requests_are_refused_and_their_connection_closed(server: Server, content: bytes) -> None:
    following = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    began = time.monotonic()
    found = raw(server, HEAD + content + following)
    assert time.monotonic() - began < SECONDS  # closed by the service, before the time of an idle connection
    assert re.match(rb"HTTP/1.1 400 ", found) and found.count(b"HTTP/1.1") == 1  # The next one is not answered.


def test_chunks_of_http_1_0_and_a_second_ambiguous_request_are_refused(server: Server) -> None:
    old = raw(server, HEAD.replace(b"1.1", b"1.0") + CHUNKED + b"\r\n" + CHUNKS)
    assert old.startswith(b"HTTP/1.1 400 ")
    plain = HEAD + LENGTH + b"\r\n" + BODY
    second = raw(server, plain + HEAD + LENGTH + CHUNKED + b"\r\n" + CHUNKS + plain)
    assert re.findall(rb"HTTP/1.1 (\d+)", second) == [b"200", b"400"]


@pytest.mark.parametrize("version", [b"HTTP/0.9", b"HTTP/1.2", b"HTTP/2.0"])
@pytest.mark.parametrize("content", [CHUNKED + b"\r\n" + CHUNKS, LENGTH + b"\r\n" + BODY])
def test_other_versions_are_refused(server: Server, version: bytes, content: bytes) -> None:
    found = raw(server, HEAD.replace(b"HTTP/1.1", version) + content)
    assert re.findall(rb"HTTP/1.1 (\d+)", found) == [b"400"]


def test_a_length_above_all_limits_is_refused_before_its_body(server: Server) -> None:
    found = raw(server, HEAD + b"Content-Length: 999999999999999\r\n\r\n" + BODY)
    assert found.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("extension", [b"", b";a=b"])
def test_chunks_are_read(server: Server, extension: bytes) -> None:
    content = HEAD + b"Connection: close\r\n" + CHUNKED + b"\r\n" + CHUNKS.replace(b"\r\n{", extension + b"\r\n{")
    assert raw(server, content).startswith(b"HTTP/1.1 200 ")
