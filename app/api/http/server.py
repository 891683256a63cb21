"""The server: uvicorn on its own event loop, from `start` to `stop`."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import anyio
import uvicorn
from anyio.from_thread import start_blocking_portal

from app.api.http.guard import ApiGuard, ClientKeys, ErrorBody, Rules
from app.net.listening import (
    PatientProtocol,
    allow_files,
    listen,
    own_addresses,
    port_of,
    server_tls,
)
from app.net.values.serving import EVERYWHERE, Address, ServeOptions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from concurrent.futures import Future

    from anyio.from_thread import BlockingPortal
    from starlette.types import ASGIApp

HEAD_BYTES: Final = 64 * 1024
"""Maximum size of a request's head, in bytes."""

IDLE_S: Final = 60
"""How long a connection is kept open between two requests, in seconds."""

GRACE_S: Final = 2.0
"""How long running answers can go on after `stop`, in seconds; then their clients are told."""

_LAST_WORDS_S: Final = 3
"""Time for clients to receive the message about the end, in seconds."""


class _Running(NamedTuple):
    """A running server: uvicorn's server, its event loop's portal, and the future of its end."""

    server: uvicorn.Server
    portal: BlockingPortal
    serving: Future[None]


class Server:
    """A server with the guard in front of its app. Start and stop once; the owner calls both.

    Call its methods from any thread except its own.
    """

    def __init__(
        self,
        app: ASGIApp,
        options: ServeOptions,
        keys: ClientKeys,
        error_body: ErrorBody,
        rules: Rules = Rules(),  # noqa: B008 - frozen
    ) -> None:
        """Create the server without starting it.

        Args:
            rules: The limits; the options override who can connect.
        """
        self._options = options
        rules = replace(
            rules,
            exposed=not options.address.is_loopback,
            needs_token=options.needs_token,
            names=frozenset(options.names),
            sites=frozenset(options.sites),
        )
        self._keys = keys
        self._guard = ApiGuard(app, rules, keys, error_body)
        self._address = options.address
        self._cleanup = ExitStack()
        self._running: _Running | None = None

    @property
    def url(self) -> str:
        """The address without a path; includes the actual port once it is running."""
        return self._address.url(encrypted=self._options.encrypted)

    @property
    def network_urls(self) -> tuple[str, ...]:
        """Addresses for other computers; empty if it listens for this computer only."""
        address = self._address
        if address.is_loopback:
            return ()
        hosts = own_addresses() if address.host == EVERYWHERE else (address.host,)
        encrypted = self._options.encrypted
        return tuple(Address(host, address.port).url(encrypted=encrypted) for host in hosts)

    def start(self) -> None:
        """Start to listen; return once requests are answered.

        Raises NotSafe, AddressInvalid, AddressNotFree, CertificateRefused and KeyringBroken.
        """
        options = self._options
        options.require_safe()
        allow_files()
        if options.needs_token:
            self._keys.owner()  # create the token now, so that a locked keyring is reported now
        with ExitStack() as stack:
            tls = (
                server_tls(options.certificate, options.key)
                if options.certificate and options.key
                else None
            )
            listener = stack.enter_context(listen(options.address))
            config = uvicorn.Config(
                self._guard,
                http=PatientProtocol,
                ws="none",
                loop="asyncio",
                interface="asgi3",
                lifespan="on",
                log_config=None,
                log_level="error",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=IDLE_S,
                timeout_graceful_shutdown=round(GRACE_S) + _LAST_WORDS_S,
                h11_max_incomplete_event_size=HEAD_BYTES,
                ssl_context_factory=None if tls is None else lambda *_: tls,
            )
            server = uvicorn.Server(config)
            portal = stack.enter_context(start_blocking_portal(name="hearth-server"))
            serving = portal.start_task_soon(_serve, partial(server.serve, [listener]))
            portal.call(_wait_until_started, server, serving)
            self._running = _Running(server, portal, serving)
            self._address = Address(options.address.host, port_of(listener))
            self._cleanup = stack.pop_all()

    def stop(self) -> None:
        """Stop the server. Running answers get `GRACE_S` more; then their clients are told."""
        if (running := self._running) is None:
            return
        running.server.should_exit = True
        deadline = time.monotonic() + GRACE_S
        while not running.serving.done() and time.monotonic() < deadline:
            time.sleep(0.02)
        if not running.serving.done():
            running.portal.call(self._guard.cancel_running)
        running.serving.result()
        self._running = None
        self._cleanup.close()


async def _serve(serve: Callable[[], Awaitable[None]]) -> None:
    """Answer requests until the end. Raises RuntimeError if the app does not start."""
    try:
        await serve()
    except SystemExit as error:
        raise RuntimeError("the API did not start: uvicorn has logged why") from error


async def _wait_until_started(server: uvicorn.Server, serving: Future[None]) -> None:
    """Wait until uvicorn answers. Raises whatever kept it from starting."""
    while not server.started:
        if serving.done():
            serving.result()
        await anyio.sleep(0.005)
