"""Time limits of lookups: slow answers are ended, and a redirect's body is not read."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from app.base.errors import ConnectionTimedOut
from app.models.hub.client import Hub
from app.net import Gate
from app.net import client as wire
from app.net.values.connections import LoggedConnection
from engines.errors import ServerBusy
from engines.openai import client as engine
from engines.openai.client import OpenAiClient

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
TRICKLES = {
    "the head": (b"HTTP/1.1 200 OK\r\nX-Long: ", b"a"),
    "a body with a length": (OK + b"Content-Length: 1000000\r\n\r\n", b" "),
    "a body to the end of the connection": (OK + b"\r\n", b" "),
    "chunks": (CHUNKED, b"1\r\n \r\n"),
    "the head of a chunk": (CHUNKED + b"1;", b"a"),
    "the end of chunks": (CHUNKED + b"0\r\nX-Long: ", b"a"),
}


@contextmanager
def trickling(first: bytes, again: bytes, pause_s: float = 0.02) -> Iterator[str]:
    """Serve an endless answer on a port of this computer.

    Args:
        first: The bytes to send at once.
        again: The bytes to send again and again until the client leaves.
        pause_s: Seconds between them.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(first)
            while not over.wait(pause_s):
                connection.sendall(again)

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                thread = threading.Thread(target=answer, args=(connection,))
                thread.start()
                answering.append(thread)

    answering: list[threading.Thread] = []
    accepting = threading.Thread(target=serve)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join()
        for thread in answering:
            thread.join()


def in_time(work: Callable[[], object]) -> None:
    """Check that the work ends long before the server would."""
    began = time.monotonic()
    work()
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(("first", "again"), TRICKLES.values(), ids=TRICKLES)
def test_a_look_up_at_the_hub_ends_in_time(
    gate: Gate,
    kept: list[LoggedConnection],
    monkeypatch: pytest.MonkeyPatch,
    first: bytes,
    again: bytes,
) -> None:
    monkeypatch.setattr(wire, "WITHIN_S", 0.2)
    with trickling(first, again) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)

        def look() -> None:
            with pytest.raises(ConnectionTimedOut):
                Hub(gate, lambda: None).repository("a/b")

        in_time(look)
    assert [it.result for it in kept] == ["failed"]


@pytest.mark.parametrize(("first", "again"), TRICKLES.values(), ids=TRICKLES)
def test_a_look_at_a_server_ends_in_time(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, first: bytes, again: bytes
) -> None:
    monkeypatch.setattr(engine, "LOOKUP_TOTAL_S", 0.2)
    with (
        trickling(first, again) as address,
        gate.lend("look at a server", address) as client,
    ):

        def look() -> None:
            with pytest.raises(ServerBusy, match="took too long"):
                OpenAiClient(client, address).models()

        in_time(look)


def test_the_body_of_a_redirect_is_left_alone(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client would read it to its end before it asks the next address."""
    head = b"HTTP/1.1 302 Found\r\nLocation: /other\r\n\r\n"
    with trickling(head, b"x" * (1 << 20), 0.0) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)

        def look() -> None:
            with pytest.raises(Exception, match="without an end"):
                Hub(gate, lambda: None).repository("a/b")

        in_time(look)


def test_what_comes_in_time_is_whole(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    body = OK + b'Content-Length: 15\r\n\r\n{"name": "ada"}'
    with trickling(body, b"") as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        assert Hub(gate, lambda: None).account_of("hf_secret") == "ada"
