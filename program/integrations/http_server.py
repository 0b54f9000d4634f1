"""Runs the HTTP application as a process: its address, a token where others can reach it, and a graceful shutdown."""

from __future__ import annotations

import errno
import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic import SecretStr

from ...errors import ConfigError, QueryPlanError
from ..planner import QueryPlanner
from .http import create_app
from .http_types import Limits

try:
    import uvicorn
except ImportError as error:
    raise ConfigError("serving needs the extra: pip install 'queryplan[serve]'") from error

TOKEN_VARIABLE = "QUERYPLAN_SERVE_TOKEN"
SHORTEST_TOKEN = 16
BACKLOG = 2048
KEEP_ALIVE_S = 75
"""Longer than load balancers usually keep an idle connection, so that they close it, not the server."""


def token_of_environment(variables: Mapping[str, str] | None = None) -> SecretStr | None:
    """The token that requests must bring, from ``QUERYPLAN_SERVE_TOKEN`` alone.

    Raises:
        ConfigError: the token can be guessed, or no header can carry it.
    """
    token = (os.environ if variables is None else variables).get(TOKEN_VARIABLE, "").strip()
    if not token:
        return None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        wanted = f"{SHORTEST_TOKEN} or more printable ASCII characters without spaces"
        raise ConfigError(f"{TOKEN_VARIABLE} must have {wanted}: make one with openssl rand -hex 24")
    return SecretStr(token)


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket bound to an address, not listening yet; port 0 is any free one.

    Raises:
        ConfigError: there is no such address, or it is taken.
    """
    try:
        family, address = _resolved(host, port)
        # asyncio turns Nagle's algorithm off only where the protocol is named; with it an answer took 40 ms more.
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except OSError as error:
        raise ConfigError(f"{host} is no address of this machine ({error.strerror}); give another to --host") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        instead = "port" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "host"
        raise ConfigError(f"{host}:{port} cannot be had ({error.strerror}); give another --{instead}") from error
    return bound


def listen(bound: socket.socket) -> None:
    """Listen on the address from now on; connections made before `serve` wait for it.

    Raises:
        ConfigError: the address was taken meanwhile.
    """
    try:
        bound.listen(BACKLOG)
    except OSError as error:
        host, port = bound.getsockname()[:2]
        raise ConfigError(f"{host}:{port} cannot be had ({error.strerror}); give another --port") from error


def _resolved(host: str, port: int) -> tuple[int, Any]:
    """Family and address of a host name; a numeric address needs no look-up."""
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return family, address
    return (socket.AF_INET if version == 4 else socket.AF_INET6), (host, port)


def is_loopback(bound: socket.socket) -> bool:
    """Whether only this machine reaches an address."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def address_of(bound: socket.socket) -> str:
    """The URL by which a socket is reached."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    planner: QueryPlanner,
    bound: socket.socket,
    *,
    limits: Limits,
    token: SecretStr | None = None,
    hosts: frozenset[str] | None = None,
    grace_s: int = 30,
    started: Callable[[], None] = lambda: None,
) -> None:
    """Serve a planner on a bound socket until SIGTERM or Ctrl-C; running requests are finished before it returns.

    Args:
        token, hosts, limits: see ``create_app``.
        grace_s: seconds that running requests get at the end.
        started: called when the server listens.

    Raises:
        UserError: the planner's model cannot be opened, for a reason that only a person can mend.
    """
    app = create_app(planner, limits=limits, token=token, hosts=hosts, fatal=lambda error: server.fail(error))
    server = PlanServer(app, grace_s, started)
    try:
        server.run(sockets=[bound])
    finally:
        bound.close()
    if server.failure is not None:
        raise server.failure


class PlanServer(uvicorn.Server):
    """uvicorn's server, shut down gracefully by SIGTERM, Ctrl-C or ``fail``."""

    def __init__(self, app: Any, grace_s: int, listening: Callable[[], None]) -> None:
        self.failure: QueryPlanError | None = None
        self._listening = listening
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=grace_s,
            )
        )

    def fail(self, error: QueryPlanError) -> None:
        """Stop because of an error that only a person can mend."""
        self.failure, self.should_exit = error, True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._listening()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As in uvicorn, but a signal that ended the server is not raised again: the planner has yet to be closed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)
