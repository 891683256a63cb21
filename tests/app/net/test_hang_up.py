"""Hanging up ends requests that wait for a server, and has no other effect."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx2
import pytest

from app.net import Gate
from tests.app.net.conftest import PURPOSE, Reply, Server


class Slow:
    """A reply that is sent when the test allows it."""

    def __init__(self) -> None:
        self.asked, self.allowed = threading.Event(), threading.Event()

    def __call__(self) -> Reply:
        self.asked.set()
        self.allowed.wait(30)
        return Reply(b"late")


def get(gate: Gate, url: str) -> bytes:
    with gate.for_purpose(PURPOSE):
        return gate.client.get(url).content


def test_a_request_that_waits_ends_and_the_next_one_is_answered(gate: Gate, server: Server) -> None:
    hang_up_while_waiting(gate, server, server.url)


def test_an_encrypted_one_ends_too(
    gate: Gate, secure: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    hang_up_while_waiting(gate, secure, f"https://localhost:{secure.port}")


def hang_up_while_waiting(gate: Gate, server: Server, url: str) -> None:
    slow = Slow()
    server.replies["/slow"], server.replies["/quick"] = slow, Reply(b"here")
    assert get(gate, f"{url}/quick") == b"here"  # its connection is kept open and used again
    errors: list[Exception] = []

    def ask() -> None:
        try:
            get(gate, f"{url}/slow")
        except httpx2.HTTPError as error:
            errors.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        assert slow.asked.wait(30)
        gate.hang_up()
        asking.join(60)
        assert not asking.is_alive()
    finally:
        slow.allowed.set()
        asking.join()
    assert len(errors) == 1
    assert get(gate, f"{url}/quick") == b"here"


def test_nothing_happens_where_nothing_was_asked(gate: Gate) -> None:
    gate.hang_up()
