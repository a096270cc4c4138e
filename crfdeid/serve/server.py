"""A server of one process: its socket, the time that a request may take, and an end that finishes what was taken."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import socket
import ssl
from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from crfdeid.errors import FormatError, OptionConflictError, SettingError, missing_extra, raised_at

try:
    import h11
    import uvicorn
    from starlette.applications import Starlette
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

_log = logging.getLogger(__name__)

# The head of a request; a header that goes on in the next line; a chunked body; what else says how it ends; and
# versions of HTTP that end a request in other ways.
_HEAD = re.compile(rb"(?s).*?\n\r?\n")
_FOLDED = re.compile(rb"\n[ \t]")
_CHUNKED = re.compile(rb"(?i)\ntransfer-encoding[ \t]*:")
_NOT_CHUNKED = re.compile(rb"(?i)\ncontent-length[ \t]*:|\A[^\n]* HTTP/1\.0\r?\n")
_OTHER_VERSION = re.compile(rb"\A\s*[^\n]* HTTP/(?!1\.[01]\r?\n)")


@dataclass(frozen=True)
class Listener:
    """Address and limits of a server.

    Args:
        host: address to listen on.
        port: its port; 0 for a free one.
        certificate: file with the certificate chain for TLS; None for no TLS.
        private_key: file with the certificate's private key.
        connections: connections at a time; requests on others are answered with status 503.
        seconds: time for a request to arrive, and then twice as much to be processed and taken, before its connection
            is closed.
    """

    host: str = "127.0.0.1"
    port: int = 3000
    certificate: Path | None = None
    private_key: Path | None = None
    connections: int = 100
    seconds: float = 60.0

    @property
    def is_local(self) -> bool:
        """True if other machines cannot reach the address."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def require_safe(self, *, token: bool, behind_proxy: bool) -> None:
        """Refuse an address that others can reach without a token, or without TLS.

        Args:
            token: clients need a token.
            behind_proxy: a proxy in front of the server has TLS.

        Raises:
            OptionConflictError: the address is not safe, or of certificate and key one is missing.
            FormatError: certificate and key do not fit, or cannot be read.
        """
        if (self.certificate is None) != (self.private_key is None):
            raise OptionConflictError("--certificate and --private-key need each other")
        if self.certificate is not None:
            try:  # An encrypted key fails here, for which OpenSSL would ask at the terminal later.
                ssl.create_default_context().load_cert_chain(self.certificate, self.private_key, password="")
            except OSError:
                problem = "no certificate and its unencrypted private key, both as PEM"
                raise FormatError(problem, path=self.certificate) from None
        if self.is_local:
            return
        if not token:
            raise OptionConflictError(f"others can reach {self.host}: --token-file is needed")
        if self.certificate is None and not behind_proxy:
            raise OptionConflictError(f"others can reach {self.host}: give --certificate, or --behind-tls-proxy")

    def bind(self) -> socket.socket:
        """Take the address, without accepting connections yet.

        Raises:
            SettingError: it cannot be taken.
        """
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
            with ExitStack() as on_error:
                # Without its protocol, asyncio would leave Nagle's algorithm on, which delays answers by 40 ms.
                found = on_error.enter_context(socket.socket(family, kind, protocol))
                # On Windows, SO_REUSEADDR would let another process take the port over.
                reuse = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
                found.setsockopt(socket.SOL_SOCKET, reuse, 1)
                found.bind(address)
                on_error.pop_all()
        except OSError as problem:
            raise SettingError(f"{self.host}, port {self.port}: {problem.strerror}: give another") from None
        return found


def run_server(app: Starlette, listener: Listener, bound: socket.socket, on_ready: Callable[[], None]) -> None:
    """Answer requests until SIGINT or SIGTERM; then finish those that were taken, and return.

    Args:
        app: the application.
        listener: limits, and files for TLS.
        bound: the socket of `Listener.bind`.
        on_ready: called when connections are accepted.
    """
    config = uvicorn.Config(
        app,
        http=_TimedProtocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=logging.CRITICAL + 1,  # Its messages can quote requests.
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ssl_certfile=listener.certificate,
        ssl_keyfile=listener.private_key,
        limit_concurrency=listener.connections + 1,
        timeout_graceful_shutdown=int(listener.seconds) + 1,
    )
    config.seconds = listener.seconds

    async def work() -> None:
        asyncio.get_running_loop().set_exception_handler(_log_type)
        await _Server(config, on_ready).serve([bound])

    asyncio.run(work())


def _log_type(_: AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log the type alone of an error that nothing caught: its message may have text of a request."""
    problem = context.get("exception")
    _log.error("server: %s", context["message"] if problem is None else raised_at(problem))


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready, self._ending = on_ready, False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End in order; uvicorn would raise the signal again afterwards."""
        self.force_exit, self.should_exit = self._ending, True  # The second signal ends it at once.
        self._ending = True


def _is_ambiguous(head: bytes) -> bool:
    """True for the head of a request that two servers may read in two ways (RFC 9112, sections 5.2 and 6.1)."""
    lengths = _CHUNKED.search(head) and _NOT_CHUNKED.search(head)
    return lengths is not None or any(found.search(head) for found in (_FOLDED, _OTHER_VERSION))


class _TimedProtocol(H11Protocol):
    """HTTP connection that is cut where a request, or the way to the next one, takes too long."""

    _timer: TimerHandle | None = None
    _timed: tuple[object, bool] = (None, False)

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        self._restart()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._state() != self._timed:  # The head of a request is complete, or its body.
            self._restart()

    def handle_events(self) -> None:
        """Read requests; refuse the ambiguous ones, of which h11 takes one meaning."""
        if self.conn.their_state is h11.IDLE:
            head = _HEAD.match(self.conn.trailing_data[0])
            if head is not None and _is_ambiguous(head[0]):
                self.send_400_response("Ambiguous HTTP request received.")
                return
        super().handle_events()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._restart()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def _state(self) -> tuple[object, bool]:
        """The current request, and whether it has arrived and is not answered."""
        return self.cycle, self.cycle is not None and not (self.cycle.more_body or self.cycle.response_complete)

    def _restart(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timed = self._state()
        seconds = self.config.seconds * (1 + self._timed[1])
        self._timer = self.loop.call_later(seconds, self.transport.abort)
