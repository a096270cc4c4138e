"""`crfdeid serve` in a process of its own, and clients of it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JSON = {"Content-Type": "application/json"}
COMMAND = [sys.executable, "-c", "import sys; from crfdeid.cli import main; sys.exit(main())"]


@dataclass
class Server:
    """A service in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    log: list[str]
    reader: threading.Thread

    def ask(
        self, path: str, content: Any = None, *, method: str = "", headers: dict[str, str] | None = None, **more: str
    ) -> tuple[int, Any]:
        """Status and content of the answer to one request."""
        status, found, _ = self.answer(path, content, method=method, headers={**(headers or {}), **more})
        return status, found

    def answer(
        self, path: str, content: Any = None, *, method: str = "", headers: dict[str, str] | None = None
    ) -> tuple[int, Any, Any]:
        """Status, content and headers of the answer to one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        body = content if content is None or isinstance(content, (bytes, str)) else json.dumps(content)
        connection.request(method or ("GET" if body is None else "POST"), path, body, JSON | (headers or {}))
        answer = connection.getresponse()
        found = answer.read().decode()
        connection.close()
        is_json = answer.headers["content-type"] == "application/json"
        return answer.status, json.loads(found) if is_json and found else found, answer.headers

    def memory(self) -> int:
        """Bytes in memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> int:
        """Exit status after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.reader.join()
        self.process.stderr.close()
        return status


def start(model: Path, *options: object, command: Sequence[str] = COMMAND) -> Server:
    arguments = [*command, "serve", *map(str, (model, "--port", 0, *options))]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    log: list[str] = []
    assert process.stderr is not None
    for line in process.stderr:
        log.append(line)
        if found := re.match(r"ready: https?://.*:(\d+)$", line):
            break
    else:
        raise AssertionError(log)
    reader = threading.Thread(target=log.extend, args=(process.stderr,), daemon=True)
    reader.start()
    return Server(process, int(found[1]), log, reader)


def raw(server: Server, content: bytes, *, patience: float = 20) -> bytes:
    """What comes back for some bytes, until the service closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=patience) as connection:
        connection.sendall(content)
        found = b""
        while part := connection.recv(1 << 16):
            found += part
    return found


HEAD = b"POST /redact HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
