"""The client behind the gate; this module loads httpx2, so import it only when needed."""

from __future__ import annotations

import http.cookiejar
import logging
import ssl
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx2

from app import __version__
from app.base.errors import Offline
from app.net.connection_pool import ConnectionPool
from app.net.entry import LedgerEntry
from app.net.hosts import LOCALHOST, is_loopback, proxy_for
from app.net.metered_stream import CountedRequest, CountedResponse
from app.net.opening import Deadline, Opening
from app.net.scope import current
from app.net.tls import tls_context
from app.net.user_errors import is_certificate
from app.net.values.connections import LoggedConnection, Purpose
from engines.connection import Connection
from engines.redaction import remember_address
from engines.sentences import N_

_TIMEOUT = httpx2.Timeout(30.0, connect=15.0)
WITHIN_S = 120.0
"""The most seconds for a whole request, however slowly its bytes come, unless it says otherwise."""

_MOST_IDLE = 20
PORTS = {"http": 80, "https": 443}
_PROXY_WANTS_A_NAME = 407
_CANCELLABLE: tuple[Purpose, ...] = (
    "download a model",
    "get an engine",
    "ask a server",
    "list a server's models",
)
"""Purposes that a person may cancel at any time: each of their requests has its own connection."""


class GatedClient(httpx2.Client):
    """A client that keeps no cookies, and whose requests can be hung up."""

    def __init__(
        self, record: Callable[[LoggedConnection], None], offline: Callable[[], bool]
    ) -> None:
        self._gated = GatedTransport(record, offline, tls_context())
        super().__init__(transport=self._gated, follow_redirects=True, **_plain())

    def hang_up(self) -> None:
        """End the requests under way in all threads; later requests work as before."""
        self._gated.hang_up()


def plain_client(transport: httpx2.BaseTransport, *, follow_redirects: bool) -> httpx2.Client:
    """Make a client that keeps no cookies and reads nothing from the environment."""
    return httpx2.Client(transport=transport, follow_redirects=follow_redirects, **_plain())


def _plain() -> dict[str, Any]:
    # httpx2 logs whole addresses, which can contain signatures of files; the ledger records the
    # hosts.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    none = http.cookiejar.DefaultCookiePolicy(allowed_domains=[])
    return {
        "cookies": http.cookiejar.CookieJar(none),
        "headers": {"User-Agent": f"hearth/{__version__}"},
        "timeout": _TIMEOUT,
        "trust_env": False,
    }


class GatedTransport(httpx2.BaseTransport):
    """A transport that sends each request, and each hop of a redirect, by the rules of the gate.

    The system's proxies are looked up for each request, since a laptop moves between networks. A
    custom transport turns off httpx2's own handling of proxies.

    Args:
        record: Keeps a connection in the ledger.
        offline: Returns whether Hearth is offline.
        tls: The certificates that are trusted and shown.
        pool: The pool that hangs up its connections; by default one of its own.
    """

    def __init__(
        self,
        record: Callable[[LoggedConnection], None],
        offline: Callable[[], bool],
        tls: ssl.SSLContext,
        pool: ConnectionPool | None = None,
    ) -> None:
        self._record = record
        self._offline = offline
        self._lock = threading.Lock()
        self._tls = tls
        self._routes: dict[tuple[str | None, bool], httpx2.HTTPTransport] = {}
        self._pool = pool or ConnectionPool()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request if its purpose and host allow it, and record it in the ledger."""
        scope = current()
        url = request.url
        port = url.port or PORTS.get(url.scheme, 0)
        if "Authorization" in request.headers and not scope.may_authorize(
            (url.scheme, url.host, port)
        ):
            del request.headers["Authorization"]
        deadline = _deadline(request)
        connection = Connection.of(request.extensions)
        entry = LedgerEntry(self._record, url.host, port, scope.purpose, request.method)

        def release() -> None:
            deadline.cancel()
            connection.release()

        connection.begin()
        entry.on_end(release)
        try:
            self._require_reachable(url.host)
            keep = scope.purpose not in _CANCELLABLE
            response = self._open(request, entry, keep, deadline, connection)
        except Offline:
            entry.end("refused")
            raise
        except UnicodeError as error:
            # The look-up of the host raises this: no host can have such a name.
            entry.end("failed")
            address = url.netloc.decode("ascii", "replace").rpartition("@")[2]
            raise httpx2.UnsupportedProtocol(
                N_("“{address}” is not a valid address", address=address)
            ) from error
        except httpx2.HTTPError as error:
            entry.end("cancelled" if connection.hung_up else "failed")
            if not connection.hung_up:
                self._require_reachable(url.host, begun=True)
                deadline.require(error)
            raise
        except BaseException:
            entry.end("cancelled" if connection.hung_up else "failed")
            raise
        check_reach = partial(self._require_reachable, begun=True)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=CountedResponse(response, entry, check_reach, connection, deadline),
            extensions=response.extensions,
        )

    def hang_up(self) -> None:
        """End the requests under way with an error."""
        self._pool.hang_up()

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            for route in self._routes.values():
                route.close()

    def _open(
        self,
        request: httpx2.Request,
        entry: LedgerEntry,
        keep: bool,
        deadline: Deadline,
        connection: Connection,
    ) -> httpx2.Response:
        """Return the response once it begins, or stop waiting on a hang-up or at the deadline."""
        watchers = (self._pool.watching(), deadline.connection.watch, connection.watch)

        def watch(event: str, info: dict[str, Any]) -> None:
            for watcher in watchers:
                watcher(event, info)

        request.extensions["trace"] = watch
        opening = Opening(lambda: self._send(request, entry, keep))
        with (
            self._pool.on_hang_up(opening.leave),
            deadline.connection.on_hang_up(opening.leave),
            connection.on_hang_up(opening.leave),
        ):
            response = opening.response()
        if (stream := response.extensions.get("network_stream")) is not None:
            deadline.connection.attach(stream)
            connection.attach(stream)
        return response

    def _send(self, request: httpx2.Request, entry: LedgerEntry, keep: bool) -> httpx2.Response:
        proxy = proxy_for(request.url.scheme, request.url.host)
        route = self._route(proxy, keep)
        if request.url.host == LOCALHOST:
            return _to_localhost(route, request, entry)
        if proxy is None:
            return route.handle_request(_counted(request, request.url, entry))
        remember_address(proxy)
        # Not the whole address, since it can contain a name and a password.
        entry.proxy = httpx2.URL(proxy).netloc.decode("ascii")
        return _through_proxy(route, _counted(request, request.url, entry))

    def _require_reachable(self, host: str, *, begun: bool = False) -> None:
        """Refuse any other computer while Hearth is offline, before its name is looked up.

        Args:
            begun: Whether the request was already sent.

        Raises:
            Offline: Hearth is offline.
        """
        if not is_loopback(host) and self._offline():
            raise Offline(
                N_("Hearth is offline."),
                N_(
                    "“Stay offline” was turned on, so the connection to {host} was ended.",
                    host=host,
                )
                if begun
                else N_("“Stay offline” is on, so nothing was sent to {host}.", host=host),
                N_("Turn “Stay offline” off to connect."),
            )

    def _route(self, proxy: str | None, keep: bool) -> httpx2.HTTPTransport:
        """Return the transport for a proxy, or for none.

        Args:
            keep: Whether its connections are reused by later requests; a connection opened for a
                single request can be hung up from another thread.
        """
        with self._lock:
            if (proxy, keep) not in self._routes:
                limits = httpx2.Limits(max_keepalive_connections=_MOST_IDLE if keep else 0)
                self._routes[proxy, keep] = httpx2.HTTPTransport(
                    verify=self._tls, proxy=proxy, limits=limits
                )
            return self._routes[proxy, keep]


def _deadline(request: httpx2.Request) -> Deadline:
    """Return the request's deadline, which is the same for all hops of a redirect."""
    within_s: float | None = request.extensions.get("within_s", WITHIN_S)
    if within_s is None:
        return Deadline(None)
    until: float = request.extensions.setdefault("until", time.monotonic() + within_s)
    return Deadline(max(0.0, until - time.monotonic()))


def _to_localhost(
    route: httpx2.HTTPTransport, request: httpx2.Request, entry: LedgerEntry
) -> httpx2.Response:
    """Try both addresses of localhost, so that no name server is asked."""
    request.extensions["sni_hostname"] = LOCALHOST
    try:
        return route.handle_request(
            _counted(request, request.url.copy_with(host="127.0.0.1"), entry)
        )
    except httpx2.ConnectError:
        return route.handle_request(_counted(request, request.url.copy_with(host="::1"), entry))


def _through_proxy(route: httpx2.HTTPTransport, request: httpx2.Request) -> httpx2.Response:
    """Send through a proxy; a failure to reach it is reported as the proxy's, not the host's."""
    try:
        response = route.handle_request(request)
    except httpx2.ConnectError as error:
        if is_certificate(error):
            raise
        raise httpx2.ProxyError(str(error)) from error
    if response.status_code == _PROXY_WANTS_A_NAME:
        response.close()
        raise httpx2.ProxyError(f"{response.status_code} {response.reason_phrase}")
    return response


def _counted(request: httpx2.Request, url: httpx2.URL, entry: LedgerEntry) -> httpx2.Request:
    """Return a request to this address whose body's bytes are counted."""
    return httpx2.Request(
        request.method,
        url,
        headers=request.headers,
        stream=CountedRequest(request, entry),
        extensions=request.extensions,
    )
