"""Clients that go while nothing is sent to them, and clients that close their sending side."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from app.api.http import api
from app.net.listening import PatientProtocol
from app.net.values.serving import LOOPBACK
from engines.types import PromptProgress
from tests.app.api.http.conftest import read_all
from tests.support.services import Services
from tests.support.serving import Served, serving
from tests.support.waiting import until

CHAT = {"model": "starter", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": CHAT,
    "/v1/messages": CHAT,
    "/v1/completions": {"model": "starter", "prompt": "Hi"},
    "/v1/responses": {"model": "starter", "input": "Hi"},
}
"""A request for an answer, by path."""


@pytest.fixture(autouse=True)
def probes_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probe at once, and leave neither a ping nor the wait for an early error to notice it."""
    monkeypatch.setattr(PatientProtocol, "ASK_S", 0.05)
    monkeypatch.setattr(PatientProtocol, "AGAIN_S", 0.05)
    monkeypatch.setattr(api, "PING_S", 1000.0)
    monkeypatch.setattr(api, "FIRST_ITEM_S", 1000.0)


@pytest.fixture
def silent(served: Served) -> Iterator[Served]:
    """A server whose engine reads a prompt until it is released or cancelled."""
    served.engine.pieces = (PromptProgress(1, 9), "Hello", " there")
    served.engine.hold = hold = threading.Event()
    yield served
    hold.set()


def ask(served: Served, path: str, tls: ssl.SSLContext | None = None, **more: Any) -> socket.socket:
    """Send a request on a connection of its own, and return that."""
    port = int(served.url.rpartition(":")[2])
    connection = socket.create_connection((LOOPBACK, port), timeout=60)
    if tls is not None:
        connection = tls.wrap_socket(connection, server_hostname="127.0.0.1")
    body = json.dumps(BODIES.get(path, {}) | more).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return connection


def go(connection: socket.socket, *, reset: bool) -> None:
    """Close a connection, either as a program does or with a reset, as if the program crashed."""
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def until_ended(served: Served, count: int) -> None:
    """Wait until so many requests have ended; each is recorded once nothing works on it."""
    until(lambda: len(served.keys.uses(100)) >= count)


def assert_next_is_answered(served: Served) -> None:
    """The engine writes one answer at a time, so the ones before have ended in the engine, too."""
    served.engine.hold = None
    with ask(served, "/v1/chat/completions") as connection:
        assert b"Hello there" in read_all(connection)


@pytest.mark.parametrize("reset", [False, True])
def test_a_gone_client_ends_its_silent_answer(silent: Served, reset: bool) -> None:
    """Otherwise two pings would pass, 30 seconds, and the next request would wait for them."""
    for count, path in enumerate(BODIES, 1):
        connection = ask(silent, path, stream=True)
        assert b"200 OK" in connection.recv(65536)
        go(connection, reset=reset)
        until_ended(silent, count)
    assert_next_is_answered(silent)


@pytest.mark.parametrize("reset", [False, True])
def test_an_encrypted_connection_shows_it_too(
    services: Services, tmp_path: Path, reset: bool
) -> None:
    authority = trustme.CA()
    pem = tmp_path / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with serving(services, certificate=pem, key=pem) as served:
        served.engine.pieces = (PromptProgress(1, 9), "Hello", " there")
        served.engine.hold = threading.Event()
        for count, path in enumerate(BODIES, 1):
            connection = ask(served, path, trusting, stream=True)
            assert b"200 OK" in connection.recv(65536)
            go(connection, reset=reset)
            until_ended(served, count)


def test_a_client_that_goes_before_its_turn_is_noticed(silent: Served) -> None:
    """Its stream has not begun, because an error could still come with a status of its own."""
    with ask(silent, "/v1/messages", stream=True) as first:
        assert b"200 OK" in first.recv(65536)
        for count, path in enumerate(BODIES, 1):
            ask(silent, path, stream=True).close()
            until_ended(silent, count)


def test_a_whole_answer_ends_with_its_client(silent: Served) -> None:
    ask(silent, "/v1/embeddings", model="starter", input="Hi").close()
    ask(silent, "/v1/rerank", model="starter", query="Hi", documents=["Hi"]).close()
    until_ended(silent, 2)
    for count, path in enumerate(BODIES, 3):
        ask(silent, path).close()
        until_ended(silent, count)
    assert_next_is_answered(silent)


class Pauses(threading.Event):
    """Lets a scripted engine go on after a short pause each time."""

    def wait(self, timeout: float | None = None) -> bool:
        super().wait(timeout)
        return True


def test_a_long_prompt_leaves_no_stream_silent(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's reports of progress are not sent, but they put off the pings."""
    monkeypatch.setattr(api, "PING_S", 0.2)
    served.engine.pieces = 100_000 * (PromptProgress(1, 9),)
    served.engine.hold = Pauses()
    with ask(served, "/v1/chat/completions", stream=True) as connection:
        data = b""
        while data.count(b": ping") < 2:
            data += connection.recv(65536)


def test_a_client_that_only_closes_its_sending_side_gets_its_stream(silent: Served) -> None:
    """A comment asks whether it is there; it is sent between two events and is no part of them."""
    hold = silent.engine.hold
    assert hold is not None
    for path in BODIES:
        hold.clear()
        with ask(silent, path, stream=True) as connection:
            data = connection.recv(65536)
            connection.shutdown(socket.SHUT_WR)
            while data.count(b"ping") < 6:
                data += connection.recv(65536)
            hold.set()
            data += read_all(connection)
        assert data.endswith(b"0\r\n\r\n")
        assert b"Hello" in data
        assert b" there" in data
        assert b"100 Continue" not in data
