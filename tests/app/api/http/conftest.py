"""A server of Hearth with a small app, and helpers that send it requests over real sockets."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from app.api.http.guard import Rules
from app.api.http.server import Server
from app.api.services.api_keys import ApiKeys
from app.api.store import ApiClientStore
from app.api.values import ApiUse
from app.base.db import Database
from app.base.secrets import Secrets
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from tests.support.services import Services, services  # noqa: F401  a fixture
from tests.support.serving import Served, serving
from tests.support.waiting import until

BIG = 40_000_000
"""Size of an answer that is too large for any buffer of the system, in bytes."""


async def health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def models(request: Request) -> Response:
    return JSONResponse({"who": request.state.client.name})


async def chat(request: Request) -> Response:
    """Answer with the length of the request's body."""
    request.state.use.model = "starter"
    request.state.use.prompt_tokens, request.state.use.completion_tokens = 11, 7
    return JSONResponse({"length": len(await request.body())})


BEGUN: set[str] = set()
"""The paths of `endless` and `slow` that have begun; a test that uses it clears it first."""


async def endless(request: Request) -> Response:
    BEGUN.add(request.url.path)

    async def words() -> AsyncIterator[bytes]:
        while True:
            yield b'data: {"text": "on and on"}\n\n'
            await anyio.sleep(0.02)

    return StreamingResponse(words(), media_type="text/event-stream")


async def big(_: Request) -> Response:
    return Response(b"x" * BIG)


async def broken(_: Request) -> Response:
    raise ZeroDivisionError


async def slow(request: Request) -> Response:
    BEGUN.add(request.url.path)
    await anyio.sleep(60)
    return JSONResponse({})


RELEASED = threading.Event()
"""Lets `held` answer when set; a test that uses it clears it and `GONE` first."""
GONE = threading.Event()
"""Set once the client of `held` has disconnected."""


async def held(request: Request) -> Response:
    """Answer when released, or when the client has disconnected."""
    while not RELEASED.is_set():
        if await request.is_disconnected():
            GONE.set()
            break
        await anyio.sleep(0.01)
    return JSONResponse({"held": True})


Life = Callable[[Starlette], AbstractAsyncContextManager[None]]


def small_app(life: Life | None = None) -> Starlette:
    return Starlette(
        lifespan=life,
        routes=[
            Route("/health", health),
            Route("/v1/models", models),
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/responses", endless, methods=["POST"]),
            Route("/v1/embeddings", big, methods=["POST"]),
            Route("/v1/rerank", broken, methods=["POST"]),
            Route("/v1/messages", slow, methods=["POST"]),
            Route("/v1/completions", held, methods=["POST"]),
        ],
    )


def error_body(path: str, status: int, kind: str, message: str) -> Mapping[str, Any]:
    return {"error": {"path": path, "status": status, "code": kind, "message": message}}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "chats.db")) as database:
        yield database


@pytest.fixture
def keys(database: Database) -> ApiKeys:
    return ApiKeys(Secrets(), ApiClientStore(database))


Serve = Callable[..., Server]


@pytest.fixture
def serve(keys: ApiKeys) -> Iterator[Serve]:
    """Return a function that starts servers at free ports; stop them after the test."""
    with ExitStack() as ends:

        def started(rules: Rules | None = None, **options: Any) -> Server:
            options = {"address": Address(LOOPBACK, 0), **options}
            server = Server(
                small_app(), ServeOptions(**options), keys, error_body, rules or Rules()
            )
            server.start()
            ends.callback(server.stop)
            return server

        yield started


@pytest.fixture
def server(serve: Serve) -> Server:
    return serve()


@pytest.fixture
def token(keys: ApiKeys) -> str:
    return keys.token().secret.reveal()


@pytest.fixture
def served(services: Services) -> Iterator[Served]:  # noqa: F811  the fixture
    """Serve the API itself with a scripted engine."""
    with serving(services) as served:
        yield served


def port_of(server: Server) -> int:
    return int(server.url.rpartition(":")[2])


@contextmanager
def connected(server: Server) -> Iterator[socket.socket]:
    with socket.create_connection((LOOPBACK, port_of(server)), timeout=60) as made:
        yield made


class Reply:
    """A received response: its status, headers in lower case, and body."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        head, _, self.body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split(" ")[1]) if first else 0
        parted = (line.partition(": ") for line in lines)
        self.headers = {name.lower(): value for name, _, value in parted}

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["error"]["code"])


def head(
    server: Server,
    target: str = "/v1/models",
    *,
    method: str = "GET",
    token: str = "",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """Return the head of a request that asks to close the connection afterwards."""
    told = {"Host": f"127.0.0.1:{port_of(server)}", "Connection": "close"}
    if token:
        told["Authorization"] = f"Bearer {token}"
    told |= headers or {}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {it}" for name, it in told.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def read_all(connection: socket.socket) -> bytes:
    pieces = []
    with suppress(ConnectionResetError):  # the data received before the reset counts
        while piece := connection.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def read_until(connection: socket.socket, end: bytes) -> Reply:
    """Read one of several replies on a connection."""
    data = b""
    while not data.endswith(end) and (piece := connection.recv(65536)):
        data += piece
    return Reply(data)


def flood(connection: socket.socket, piece: bytes, *, pause_s: float = 0.0) -> None:
    """Send a piece again and again until the other side closes the connection.

    Args:
        pause_s: Seconds between the pieces, for a slow client; no other timing depends on it.
    """
    for _ in range(100_000_000 // len(piece)):
        try:
            connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            return
        time.sleep(pause_s)
    pytest.fail("all of it was taken")


def ask(server: Server, *args: Any, body: bytes = b"", **more: Any) -> Reply:
    """Send one request and read the whole reply."""
    if body:
        more["headers"] = {**(more.get("headers") or {}), "Content-Length": str(len(body))}
    with connected(server) as connection:
        # The server may refuse the request before all of it was sent.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(head(server, *args, **more) + body)
        return Reply(read_all(connection))


def noted(keys: ApiKeys, count: int) -> list[ApiUse]:
    """Return the uses once there are this many; each is recorded after its answer was sent."""
    until(lambda: len(keys.uses(100)) >= count)
    return keys.uses(100)
