"""Cancelling while a connection opens: waiting ends at once, and the connection is closed later."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.models.hub.limiter import Limiter
from app.models.hub.source import Source
from app.models.hub.transfer import Terms, transfer
from app.net import Gate
from app.net.values.connections import LoggedConnection
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.openai.answering import ServedModelAccess, answer
from engines.openai.client import OpenAiClient
from engines.remote.engine import RemoteEngine, Served
from engines.types import Event, ServedPlan
from tests.app.net.conftest import PURPOSE
from tests.engines.asking import ask, done_of
from tests.support.openai_server import OpenAiServer

PLAN = ServedPlan("x", "tiny", 512)


class Stuck:
    """Connections that open only when the test allows it, as if the host did not answer."""

    def __init__(self) -> None:
        self.asked, self.allowed = threading.Event(), threading.Event()
        self.opened: list[socket.socket] = []
        self._really = socket.create_connection

    def __call__(self, *args: Any, **more: Any) -> socket.socket:
        self.asked.set()
        assert self.allowed.wait(60)
        made = self._really(*args, **more)
        self.opened.append(made)
        return made

    def until_closed(self) -> None:
        """Let the connection open, which nobody waits for any more."""
        self.allowed.set()
        for thread in threading.enumerate():
            if thread.name == "hearth-request":
                thread.join(60)
        assert [it.fileno() for it in self.opened] == [-1]


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    stuck = Stuck()
    monkeypatch.setattr(socket, "create_connection", stuck)
    yield stuck
    stuck.allowed.set()


def test_a_cancel_ends_an_answer_whose_connection_does_not_open(
    stuck: Stuck, gate: Gate, kept: list[LoggedConnection]
) -> None:
    with OpenAiServer() as server, gate.lend("ask a server", server.address) as client:
        cancel, events = CancelToken(), list[Event]()
        via = ServedModelAccess(OpenAiClient(client, server.address), server.model)
        asking = threading.Thread(target=lambda: events.extend(answer(ask("Hi"), via, cancel)))
        asking.start()
        assert stuck.asked.wait(60)
        cancel.cancel()
        asking.join(60)
        assert not asking.is_alive()
        assert done_of(events).finish_reason == "cancelled"
        stuck.until_closed()
        assert not server.asked
    assert [it.result for it in kept] == ["cancelled"]


def test_a_cancel_ends_the_look_at_a_server_that_does_not_answer(stuck: Stuck, gate: Gate) -> None:
    ended: list[BaseException] = []
    with OpenAiServer() as server:
        engine = RemoteEngine(
            lambda _: Served(gate.lend("ask a server", server.address), server.address)
        )
        cancel = CancelToken()

        def load() -> None:
            try:
                engine.load(PLAN, lambda _: None, cancel)
            except Cancelled as error:
                ended.append(error)

        loading = threading.Thread(target=load)
        loading.start()
        assert stuck.asked.wait(60)
        cancel.cancel()
        loading.join(60)
        assert not loading.is_alive()
        assert len(ended) == 1
        stuck.until_closed()
        assert not server.asked


def test_a_cancel_ends_a_download_whose_connection_does_not_open(
    stuck: Stuck, gate: Gate, kept: list[LoggedConnection], tmp_path: Path
) -> None:
    ended: list[BaseException] = []
    with OpenAiServer() as server:
        source = Source(f"{server.address}/file", "", "file", 10, "0" * 64)
        cancel = CancelToken()

        def download() -> None:
            try:
                with gate.for_purpose("download a model"):
                    terms = Terms(Limiter(), connect_s=60.0)
                    transfer(gate.client, source, tmp_path / "file", terms, print, cancel)
            except Cancelled as error:
                ended.append(error)

        downloading = threading.Thread(target=download)
        downloading.start()
        assert stuck.asked.wait(60)
        cancel.cancel()
        downloading.join(60)
        assert not downloading.is_alive()
        assert len(ended) == 1
        stuck.until_closed()
        assert not server.asked
    assert [it.result for it in kept] == ["cancelled"]


def test_the_end_of_hearth_ends_a_connection_that_does_not_open(stuck: Stuck, gate: Gate) -> None:
    errors: list[Exception] = []

    def ask_it(url: str) -> None:
        try:
            with gate.for_purpose(PURPOSE):
                gate.client.get(url)
        except httpx2.HTTPError as error:
            errors.append(error)

    with OpenAiServer() as server:
        asking = threading.Thread(target=ask_it, args=(f"{server.address}/x",))
        asking.start()
        assert stuck.asked.wait(60)
        gate.hang_up()
        asking.join(60)
        assert not asking.is_alive()
        stuck.until_closed()
        assert not server.asked
    assert len(errors) == 1
