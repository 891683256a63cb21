"""A client for one server alone, which engines are lent; loaded when it is needed."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import httpx2

from app.core.network import Connection, Purpose
from app.net.client import PORTS, GatedTransport, plain_client
from app.net.scope import Scope, within
from app.net.sockets import socket_client
from app.net.tls import tls_context


def lent_client(
    record: Callable[[Connection], None],
    offline: Callable[[], bool],
    purpose: Purpose,
    address: str,
    tls: ssl.SSLContext,
) -> httpx2.Client:
    """A client whose requests have this purpose and go by the rules of the gate.

    An Authorization header goes to the address's scheme, host and port only, and no redirect is
    followed. Whoever asked for the client closes it.
    """
    url = httpx2.URL(address)
    home = (url.scheme, url.host, url.port or PORTS.get(url.scheme, 0))
    gated = GatedTransport(record, offline, tls)
    return plain_client(_OnPurpose(gated, Scope(purpose, home)), follow_redirects=False)


def worker_client(
    record: Callable[[Connection], None],
    offline: Callable[[], bool],
    where: Path | str,
    key: str,
) -> httpx2.Client:
    """A client for a worker of this computer's: at its socket, or at its address with its key."""
    if isinstance(where, Path):
        client = socket_client(where)
    else:
        client = lent_client(record, offline, "ask a server", where, tls_context())
    if key:
        client.headers["Authorization"] = f"Bearer {key}"
    return client


class _OnPurpose(httpx2.BaseTransport):
    """Whoever is lent a client knows nothing of purposes."""

    def __init__(self, gated: GatedTransport, scope: Scope) -> None:
        self._gated = gated
        self._scope = scope

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        with within(self._scope):
            return self._gated.handle_request(request)

    def close(self) -> None:
        self._gated.close()
