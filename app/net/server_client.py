"""Clients for one server alone, which engines are lent; loaded when needed."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx2

from app.base.errors import AddressInvalid
from app.net.client import PORTS, GatedTransport, plain_client
from app.net.connection_pool import ConnectionPool
from app.net.scope import Origin, Scope, within
from app.net.tls import tls_context
from app.net.values.connections import LoggedConnection, Purpose


def socket_client(path: Path) -> httpx2.Client:
    """Make a client for http://localhost/… at a socket; who asked closes it.

    No proxy is asked and nothing is written into the ledger: nothing leaves this computer. Each
    request has a connection of its own, so that it can be hung up.
    """
    own = httpx2.Limits(max_keepalive_connections=0)
    # Nothing is encrypted there, and to read the system's certificates takes longer than the rest.
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return plain_client(
        httpx2.HTTPTransport(verify=nobody, uds=str(path), limits=own, trust_env=False),
        follow_redirects=False,
    )


def lent_client(
    record: Callable[[LoggedConnection], None],
    offline: Callable[[], bool],
    purpose: Purpose,
    address: str,
    tls: ssl.SSLContext,
    pool: ConnectionPool | None = None,
) -> httpx2.Client:
    """Make a client whose requests have this purpose and go by the rules of the gate.

    An Authorization header goes to the address's scheme, host and port only, and no redirect is
    followed. Whoever asked for the client closes it. pool: where its connections are hung up.
    """
    home = home_of(address)
    gated = GatedTransport(record, offline, tls, pool)
    return plain_client(_OnPurpose(gated, Scope(purpose, home)), follow_redirects=False)


def home_of(address: str) -> Origin:
    """Return the origin a key for an address may go to. Raises AddressInvalid for none."""
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise AddressInvalid(
            f"“{address}” is not a valid address.",
            f"{str(error).rstrip('.')}.",
            "Check the name of the host in the address.",
        ) from error
    return url.scheme, url.host, url.port or PORTS.get(url.scheme, 0)


def worker_client(
    record: Callable[[LoggedConnection], None],
    offline: Callable[[], bool],
    where: Path | str,
    key: str,
) -> httpx2.Client:
    """Make a client for a worker here: at its socket, or at its address with its key."""
    if isinstance(where, Path):
        client = socket_client(where)
    else:
        client = lent_client(record, offline, "ask a server", where, tls_context())
    if key:
        client.headers["Authorization"] = f"Bearer {key}"
    return client


class _OnPurpose(httpx2.BaseTransport):
    """A transport that sets the purpose, of which who is lent a client knows nothing.

    What asks a server without sending anything lists its models.
    """

    def __init__(self, gated: GatedTransport, scope: Scope) -> None:
        self._gated = gated
        self._scope = scope

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        scope = self._scope
        if scope.purpose == "ask a server" and request.method == "GET":
            scope = replace(scope, purpose="list a server's models")
        with within(scope):
            return self._gated.handle_request(request)

    def close(self) -> None:
        self._gated.close()
