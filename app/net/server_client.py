"""Clients for a single server, lent to engines; this module loads httpx2."""

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
from engines.sentences import N_


def socket_client(path: Path) -> httpx2.Client:
    """Make a client for http://localhost/… at a Unix socket; the caller closes it.

    It uses no proxy and writes nothing to the ledger, since nothing leaves this computer. Each
    request has a connection of its own, so that it can be hung up.
    """
    own = httpx2.Limits(max_keepalive_connections=0)
    # Nothing is encrypted there, and reading the system's certificates takes longer than all the
    # rest.
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
    """Make a client whose requests have this purpose and follow the rules of the gate.

    It sends an Authorization header only to the address's scheme, host and port, and follows no
    redirects. The caller closes it.

    Args:
        pool: The pool that hangs up its connections.
    """
    home = home_of(address)
    gated = GatedTransport(record, offline, tls, pool)
    return plain_client(_OnPurpose(gated, Scope(purpose, home)), follow_redirects=False)


def home_of(address: str) -> Origin:
    """Return the origin that a key for an address can be sent to. Raises AddressInvalid."""
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise AddressInvalid(
            N_("“{address}” is not a valid address.", address=address),
            N_("{error}.", error=str(error).rstrip(".")),
            N_("Check the name of the host in the address."),
        ) from error
    return url.scheme, url.host, url.port or PORTS.get(url.scheme, 0)


def worker_client(
    record: Callable[[LoggedConnection], None],
    offline: Callable[[], bool],
    where: Path | str,
    key: str,
) -> httpx2.Client:
    """Make a client for a worker on this computer, at its socket or at its address with its key."""
    if isinstance(where, Path):
        client = socket_client(where)
    else:
        client = lent_client(record, offline, "ask a server", where, tls_context())
    if key:
        client.headers["Authorization"] = f"Bearer {key}"
    return client


class _OnPurpose(httpx2.BaseTransport):
    """A transport that sets the purpose, which the borrower of a client does not know.

    A GET request to a server has the purpose of listing its models.
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
