"""The gate: the one client, the purposes of its connections, and its use by huggingface_hub."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.net.scope import Scope, within
from app.net.values.connections import PURPOSES, LoggedConnection, Purpose, Trust

if TYPE_CHECKING:
    import httpx2

    from app.net.client import GatedClient
    from app.net.connection_pool import ConnectionPool


class Gate:
    """The way that all of Hearth's connections take. Any thread can use it.

    Libraries are loaded on first use, not when the gate is made.

    Args:
        record: Keeps a connection in the ledger, whatever its result.
        offline: Returns whether only this computer may be reached; called before each connection
            and while an answer is coming in.
    """

    def __init__(
        self, record: Callable[[LoggedConnection], None], offline: Callable[[], bool]
    ) -> None:
        self._record = record
        self._offline = offline
        self._lock = threading.Lock()
        self._client: GatedClient | None = None
        self._pools: dict[bool, ConnectionPool] = {}
        self._closed = False

    @contextmanager
    def for_purpose(self, purpose: Purpose) -> Iterator[None]:
        """Give this thread's requests in the block this purpose; requests without one fail.

        Within a block an Authorization header is sent to one scheme, host and port only: those of
        the first request that carries it, wherever a server redirects.
        """
        if purpose not in PURPOSES:
            raise ValueError(f"not a purpose: {purpose}")
        with within(Scope(purpose, client=self._open_client())):
            yield

    @property
    def client(self) -> httpx2.Client:
        """The one client; it raises Offline, and httpx2's errors: see `as_user_error`."""
        return self._open_client()

    def lend(self, purpose: Purpose, address: str, trust: Trust | None = None) -> httpx2.Client:
        """Make a client for the server at an address, by the same rules; the caller closes it.

        All its requests have this purpose. It follows no redirects, and sends an Authorization
        header to no other server.

        Raises:
            AddressInvalid: The address is not valid.
            CertificateRefused: A certificate file cannot be used.
        """
        from app.net.hosts import is_loopback
        from app.net.server_client import home_of, lent_client
        from app.net.tls import tls_context

        pool = self._lent_pool(outside=not is_loopback(home_of(address)[1]))
        return lent_client(self._record, self._offline, purpose, address, tls_context(trust), pool)

    def check(self, address: str, trust: Trust) -> None:
        """Check an address and its certificates as `lend` does, without connecting.

        Raises AddressInvalid and CertificateRefused.
        """
        from app.net.server_client import home_of

        home_of(address)
        if trust != Trust():
            from app.net.tls import tls_context

            tls_context(trust)

    def hang_up(self) -> None:
        """End all requests under way with an error; later requests work as before."""
        with self._lock:
            if self._client is not None:
                self._client.hang_up()
            for pool in self._pools.values():
                pool.hang_up()

    def hang_up_outside(self) -> None:
        """End the requests to other computers, even silent ones, because Hearth goes offline.

        Downloads check for themselves, with each piece that arrives.
        """
        with self._lock:
            if outside := self._pools.get(True):
                outside.hang_up()

    def close(self) -> None:
        """End all connections; later requests fail, except those of lent clients."""
        with self._lock:
            self._closed = True
            for pool in self._pools.values():
                pool.hang_up()
            if self._client is not None:
                self._client.hang_up()
                self._client.close()

    def _lent_pool(self, *, outside: bool) -> ConnectionPool:
        """Return the pool of all clients lent for other computers, or for this one."""
        from app.net.connection_pool import ConnectionPool

        with self._lock:
            return self._pools.setdefault(outside, ConnectionPool())

    def _open_client(self) -> GatedClient:
        with self._lock:
            if self._closed:
                raise RuntimeError("the gate is closed")
            if self._client is None:
                from app.net.client import GatedClient
                from app.net.huggingface import use_gate

                self._client = GatedClient(self._record, self._offline)
                use_gate()
            return self._client
