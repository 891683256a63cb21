"""The guard in front of the API: who can use it, from where, how much and how often.

A request passes these checks in this order; then the app behind is called with the whole body:

- the Host that it was sent to (a web page can make its own domain name point to this computer: DNS
  rebinding),
- the Origin of the page that sends it,
- its key,
- its client's limits,
- the size and the pace of its body.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import re
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import unquote

import anyio
import anyio.to_thread
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.values import OWNER_NAME, ApiClient, ApiUse, endpoint_of
from app.net.values.hosts import is_loopback
from engines.errors import UserError

HEALTH: Final = "/health"
"""The one path that needs no key: it reveals only that the server is running."""

METRICS: Final = "/metrics"
"""Not recorded as a use: a monitor asks every few seconds and would crowd out everything else."""

_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?", re.ASCII)
_ABSOLUTE: Final = re.compile(rb"(https?)://([^/]*)(/.*)?", re.IGNORECASE | re.DOTALL)
"""A request target that includes the server's address, as programs send it to a proxy."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS"})
_COMPRESSED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_PORTS: Final = {"http": 80, "https": 443}
_MINUTE_S: Final = 60.0
_log = logging.getLogger(__name__)

T = TypeVar("T")

ErrorBody = Callable[[str, int, str, str], Mapping[str, Any]]
"""Builds an error body in the protocol of a path: (path, status, kind, message)."""


@dataclass(frozen=True)
class Rules:
    """The rules for letting requests through.

    Attributes:
        exposed: Whether other computers can connect.
        needs_token: If False, every program on this computer is let in.
        names: Host names of this server, besides its addresses.
        sites: Origins whose pages are let in, as browsers write them.
        body_bytes: Maximum body size; Anthropic's API has the same.
        body_s: Maximum time in seconds for a body to arrive.
        wrong_key_delay_s: Delay in seconds before the first wrong key within a minute is refused;
            each further one waits twice as long.
        longest_delay_s: Maximum of that delay, in seconds.
        most_waiting: Maximum number of wrong keys that wait at once.
    """

    exposed: bool = False
    needs_token: bool = True
    names: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()
    body_bytes: int = 32 * 1024 * 1024
    body_s: float = 60.0
    wrong_key_delay_s: float = 0.25
    longest_delay_s: float = 8.0
    most_waiting: int = 16


class ClientKeys(Protocol):
    """The part of `app.api.services.api_keys.ApiKeys` that the guard uses; called on threads."""

    def owner(self) -> ApiClient:
        """Return the client with the server's own token. Raises UserError."""
        ...

    def identify(self, key: str) -> ApiClient | None:
        """Return the client with this key; None if no client has it."""
        ...

    def record_use(self, use: ApiUse) -> None:
        """Store the record of a request."""
        ...


@dataclass
class UseInProgress:
    """The model and tokens of a request, reported while it is answered, in `request.state.use`.

    Attributes:
        received: Bytes of the body, counted by the guard.
    """

    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    received: int = field(default=0, init=False)


class Refused(Exception):
    """A refused request. The message says what, why and what to do, for the client's user."""

    def __init__(
        self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.headers = headers or {}


@dataclass
class _WrongKeys:
    """The wrong keys from one address within a minute.

    Attributes:
        first_s: When the first one came, in seconds on the monotonic clock.
    """

    first_s: float
    count: int = 0


@dataclass
class _Load:
    """The requests of one client.

    Attributes:
        starts: When those of the last minute began, in seconds on the monotonic clock.
    """

    running: int = 0
    starts: deque[float] = field(default_factory=deque)


class ApiGuard:
    """An ASGI app that wraps the API and tells it in `request.state` who is asking.

    `request.state.client` is the `ApiClient`, and `request.state.use` a `UseInProgress` to fill in.
    Runs on one event loop.
    """

    def __init__(self, app: ASGIApp, rules: Rules, keys: ClientKeys, error_body: ErrorBody) -> None:
        self._app = app
        self._rules = rules
        self._keys = keys
        self._error_body = error_body
        # Its own threads, because those that write answers can all be busy.
        self._threads = anyio.CapacityLimiter(4)
        self._loads: dict[str, _Load] = {}
        self._wrong_keys: dict[str, _WrongKeys] = {}
        self._waiting = 0
        self._running: set[anyio.CancelScope] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, send)

    def cancel_running(self) -> None:
        """Cancel the running answers; their clients get an error about the stop."""
        for running in tuple(self._running):
            running.cancel()

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        scope = self._with_own_path(scope)
        reply = _Reply(send)
        started, clock = time.time(), time.monotonic()
        client: ApiClient | None = None
        use = UseInProgress()
        try:
            self._check_host(scope, headers)
            _require_one_length(headers)
            reply.headers = self._check_origin(headers)
            if _is_preflight(scope, headers):
                _require_no_body(headers)
                await reply.preflight(headers)
            elif scope["path"] == HEALTH:
                _require_no_body(headers)
                await self._call_app(scope, _Body(b"", receive), reply)
            else:
                client = await self._identify(scope, headers)
                with self._within_limits(client):
                    body = await self._read_body(headers, receive)
                    use.received = len(body)
                    encoding = headers.get("content-encoding", "").strip().lower()
                    body = await self._decode_body(body, encoding or "identity")
                    scope.setdefault("state", {}).update(client=client, use=use)
                    await self._call_app(scope, _Body(body, receive), reply)
        except Refused as refused:
            await self._refuse(scope, refused, reply)
        finally:
            if client is not None and scope["path"] != METRICS:
                await self._record_use(scope, client.name, use, reply, started, clock)

    def _with_own_path(self, scope: Scope) -> Scope:
        """Remove this server's address from the target, if a client sent it as to a proxy."""
        match = _ABSOLUTE.fullmatch(scope["raw_path"])
        if match is None:
            return scope
        scheme, host, path = match[1].decode(), match[2].decode("ascii"), match[3] or b"/"
        if scheme.lower() != scope["scheme"] or not self._is_this_server(scope, host):
            return scope  # the path then matches no route
        return {**scope, "path": unquote(path.decode("ascii")), "raw_path": path}

    def _check_host(self, scope: Scope, headers: Headers) -> None:
        """Refuse a request that was sent to a name that is not this server's."""
        hosts = headers.getlist("host")
        if len(hosts) == 1 and self._is_this_server(scope, hosts[0]):
            return
        raise Refused(
            421,
            "wrong_host",
            "This server is not called by that name. Use its address, or add the name in Hearth’s "
            "settings under “Names of this computer”.",
        )

    def _is_this_server(self, scope: Scope, host_header: str) -> bool:
        """Return whether a host, with or without a port, is this server."""
        match = _HOST.fullmatch(host_header.lower())
        if match is None:
            return False
        host, port = match[1].strip("[]"), int(match[2] or _PORTS[scope["scheme"]])
        if host in self._rules.names:
            return True
        # A page can make a name point elsewhere, but not an address. With a proxy or a port forward
        # in between, the port can differ from ours.
        if is_loopback(host) and (port == scope["server"][1] or self._rules.exposed):
            return True
        return self._rules.exposed and _is_address(host)

    def _check_origin(self, headers: Headers) -> dict[str, str]:
        """Refuse pages of sites that are not listed. Return the CORS headers for one that is."""
        origins = headers.getlist("origin")
        if not origins:
            return {}
        if len(origins) > 1 or origins[0] not in self._rules.sites:
            raise Refused(
                403,
                "wrong_origin",
                "Web pages of this site may not use this server. Add the site in Hearth’s settings "
                "under “Sites that may ask”.",
            )
        return {"access-control-allow-origin": origins[0], "vary": "Origin"}

    async def _identify(self, scope: Scope, headers: Headers) -> ApiClient:
        """Return the client whose key came with the request. Raises Refused."""
        keys = list(_keys_of(headers))
        for key in keys:
            try:
                client = await self._in_thread(partial(self._keys.identify, key))
            except Refused:
                if self._rules.needs_token:
                    raise
                break  # without a token to check, a locked keyring locks nobody out
            if client is not None:
                return client
        if not self._rules.needs_token:
            return _ANYONE
        if keys:
            await self._delay_refusal(scope)
        raise Refused(
            401,
            "wrong_key" if keys else "no_key",
            ("This key is not valid. " if keys else "This server needs a key. ")
            + "Send the token that Hearth shows under Engines, or a client’s own key, as “Authoriz"
            "ation: Bearer …” or “x-api-key”.",
            {"www-authenticate": "Bearer"},
        )

    async def _in_thread(self, function: Callable[[], T]) -> T:
        """Call a function on a thread; the keyring or the database can block it. Raises Refused."""
        try:
            return await anyio.to_thread.run_sync(function, limiter=self._threads)
        except UserError as error:
            _log.warning("a key cannot be checked: %s", error)
            raise Refused(503, "keys_unreadable", str(error)) from error

    async def _delay_refusal(self, scope: Scope) -> None:
        """Delay the refusal of a wrong key. A right key never waits, whatever came before it."""
        address, now = _address(scope), time.monotonic()
        self._wrong_keys = {
            name: wrong_keys
            for name, wrong_keys in self._wrong_keys.items()
            if now - wrong_keys.first_s < _MINUTE_S
        }
        if self._waiting >= self._rules.most_waiting:
            raise Refused(
                429,
                "too_many_wrong_keys",
                "Too many wrong keys arrived at once. Wait a minute, then send the right one.",
                {"retry-after": "60"},
            )
        wrong_keys = self._wrong_keys.setdefault(address, _WrongKeys(now))
        wrong_keys.count += 1
        self._waiting += 1
        try:
            if wrong_keys.count == 1:
                await self._record_use(scope, "", UseInProgress(), None, time.time(), now)
            wait = self._rules.wrong_key_delay_s * 2.0 ** min(wrong_keys.count - 1, 10)
            await anyio.sleep(min(wait, self._rules.longest_delay_s))
        finally:
            self._waiting -= 1

    @contextmanager
    def _within_limits(self, client: ApiClient) -> Iterator[None]:
        """Count a client's running request. Raises Refused if the client is over its limits."""
        load, now = self._loads.setdefault(client.id, _Load()), time.monotonic()
        while load.starts and now - load.starts[0] >= _MINUTE_S:
            load.starts.popleft()
        if client.per_minute and len(load.starts) >= client.per_minute:
            wait = int(_MINUTE_S - (now - load.starts[0])) + 1
            raise Refused(
                429,
                "too_many_requests",
                f"{client.name} may send {client.per_minute} requests a minute. Wait {wait} "
                "seconds.",
                {"retry-after": str(wait)},
            )
        if client.at_once and load.running >= client.at_once:
            raise Refused(
                429,
                "too_many_at_once",
                f"{client.name} may send {client.at_once} requests at once. Wait until one ends.",
                {"retry-after": "1"},
            )
        if client.per_minute:
            load.starts.append(now)
        load.running += 1
        try:
            yield
        finally:
            load.running -= 1
            if not load.running and not load.starts:
                self._loads.pop(client.id, None)

    async def _read_body(self, headers: Headers, receive: Receive) -> bytes:
        """Read a request's whole body, within its limits of size and time."""
        limit = self._rules.body_bytes
        if (length := headers.get("content-length", "")) and int(length) > limit:
            raise _too_large(limit)
        pieces: list[bytes] = []
        size = 0
        with anyio.move_on_after(self._rules.body_s):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "gone", "The connection ended before the request did.")
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > limit:
                    raise _too_large(limit)
                if not message.get("more_body", False):
                    return b"".join(pieces)
        raise Refused(
            408,
            "too_slow",
            f"The request did not arrive within {self._rules.body_s:g} seconds. Send it again.",
        )

    async def _decode_body(self, body: bytes, encoding: str) -> bytes:
        """Decompress a body, within the same size limit."""
        if encoding == "identity":
            return body
        if encoding not in _COMPRESSED:
            raise Refused(
                415,
                "unsupported_encoding",
                "The compression of the request is not supported. Send it uncompressed, or with "
                "gzip or deflate.",
            )
        limit = self._rules.body_bytes
        # On a thread: it takes a while, and other answers have to go on.
        plain = await anyio.to_thread.run_sync(
            _decompress, body, encoding, limit + 1, limiter=self._threads
        )
        if plain is None:
            raise _undecodable(encoding)
        if len(plain) > limit:
            raise _too_large(limit)
        return plain

    async def _call_app(self, scope: Scope, receive: _Body, reply: _Reply) -> None:
        """Call the app. If the server stops before the answer ends, tell the client."""
        with anyio.CancelScope() as running:
            self._running.add(running)
            try:
                await self._app(scope, receive, reply)
            except Exception:  # noqa: BLE001 - a bug of ours ends one request alone
                _log.exception("a request was not answered")
                await self._refuse(scope, _FAILED, reply)
            finally:
                self._running.discard(running)
        if running.cancelled_caught:
            await self._refuse(scope, _ENDING, reply)

    async def _refuse(self, scope: Scope, refused: Refused, reply: _Reply) -> None:
        body = self._error_body(scope["path"], refused.status, refused.kind, refused.message)
        data = json.dumps(body, ensure_ascii=False).encode()
        if not reply.status:
            await reply.send_refusal(refused.status, data, refused.headers)
        elif reply.is_stream:
            # Both protocols report an error within a stream like this:
            # https://platform.openai.com/docs/api-reference/responses-streaming,
            # https://docs.anthropic.com/en/api/messages-streaming
            await reply.end_stream(b"event: error\ndata: " + data + b"\n\n")
        # A body with a known length has no place for an error: its connection is closed early.

    async def _record_use(
        self,
        scope: Scope,
        client: str,
        use: UseInProgress,
        reply: _Reply | None,
        started: float,
        clock: float,
    ) -> None:
        """Record a use.

        Args:
            reply: None for a request with a wrong key, which is recorded before it is refused.
        """
        record = ApiUse(
            started=started,
            seconds=time.monotonic() - clock,
            client=client,
            address=_address(scope),
            port=int(scope["server"][1]),
            method=scope["method"] if scope["method"] in _METHODS else "",
            endpoint=endpoint_of(scope["path"]),
            model=use.model,
            prompt_tokens=use.prompt_tokens,
            completion_tokens=use.completion_tokens,
            received=use.received,
            sent=0 if reply is None else reply.sent,
            status=401 if reply is None else reply.status,
        )
        with anyio.CancelScope(shield=True):
            try:
                await anyio.to_thread.run_sync(self._keys.record_use, record, limiter=self._threads)
            except UserError as error:
                _log.warning("a use of the server was not kept: %s", error)


_ANYONE: Final = ApiClient("", OWNER_NAME, "")
"""The client for programs without a key, if none is needed."""
_ENDING: Final = Refused(
    503, "server_ending", "Hearth’s server is stopping. Try again when it runs again."
)
_FAILED: Final = Refused(
    500,
    "hearth_failed",
    "Hearth has made a mistake. This is a bug in Hearth; its log has the details. Try again.",
)


class _Body:
    """The receive channel of a request whose body was read already; then that of the connection."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class _Reply:
    """The send channel to the client.

    Attributes:
        headers: Headers that are added to the app's.
        status: The status that was sent; 0 before.
        sent: Bytes of the body that were sent.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._ended = False
        self.headers: Mapping[str, str] = {}
        self.status = 0
        self.sent = 0
        self.is_stream = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", ()), *_encoded(self.headers)]
            self.is_stream = (
                Headers(raw=headers).get("content-type", "").startswith("text/event-stream")
            )
            message = {**message, "headers": headers}
        elif message["type"] == "http.response.body":
            self.sent += len(message.get("body", b""))
            self._ended = not message.get("more_body", False)
        await self._send(message)

    async def send_refusal(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a refusal and close the connection: the rest of the request is not read."""
        reply_headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",
            **headers,
        }
        await self(
            {"type": "http.response.start", "status": status, "headers": _encoded(reply_headers)}
        )
        await self({"type": "http.response.body", "body": body})

    async def end_stream(self, data: bytes) -> None:
        """End a stream that has begun, with this as its last data."""
        if not self._ended:
            await self({"type": "http.response.body", "body": data})

    async def preflight(self, headers: Headers) -> None:
        """Allow a listed site to send any header, because cookies are never read."""
        reply_headers = {
            "access-control-allow-methods": "GET, POST, DELETE",
            "access-control-allow-headers": headers.get("access-control-request-headers", ""),
            "access-control-max-age": "600",
        }
        await self(
            {"type": "http.response.start", "status": 204, "headers": _encoded(reply_headers)}
        )
        await self({"type": "http.response.body", "body": b""})


def _require_one_length(headers: Headers) -> None:
    """Refuse a body with two lengths: a proxy in between could have used the other one."""
    if "transfer-encoding" in headers and "content-length" in headers:
        raise Refused(
            400,
            "two_lengths",
            "The request has both Content-Length and Transfer-Encoding, so that it is not clear "
            "where it ends. Send one of them.",
        )


def _decompress(body: bytes, encoding: str, limit: int) -> bytes | None:
    """Decompress a body up to `most` bytes; None if it is incomplete or not compressed like this.

    Some clients send “deflate” without the zlib header that the standard requires.
    """
    for bits in (zlib.MAX_WBITS | 32, *((-zlib.MAX_WBITS,) if encoding == "deflate" else ())):
        reader = zlib.decompressobj(bits)
        try:
            plain = reader.decompress(body, limit)
        except zlib.error:
            continue
        if reader.eof or len(plain) >= limit:
            return plain
    return None


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    return (
        scope["method"] == "OPTIONS"
        and "origin" in headers
        and "access-control-request-method" in headers
    )


def _require_no_body(headers: Headers) -> None:
    """Refuse a body that nobody would read, because it could be endless."""
    if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
        raise Refused(413, "too_large", "This request cannot have a body. Send it without one.")


def _keys_of(headers: Headers) -> Iterator[str]:
    """Yield a request's keys, from the headers of OpenAI's clients and of Anthropic's."""
    for value in headers.getlist("authorization"):
        scheme, _, key = value.partition(" ")
        if scheme.lower() == "bearer" and key.strip():
            yield key.strip()
    yield from filter(None, map(str.strip, headers.getlist("x-api-key")))


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


def _undecodable(encoding: str) -> Refused:
    return Refused(
        400,
        "bad_encoding",
        f"The request cannot be read: it is incomplete, or not compressed with {encoding}. Send "
        "it again, or uncompressed.",
    )


def _too_large(limit: int) -> Refused:
    return Refused(
        413,
        "too_large",
        f"The request is larger than {limit // (1024 * 1024)} MiB. Send less at once.",
    )
