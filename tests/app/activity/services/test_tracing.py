"""Sending spans to a collector: off by default, without texts, and without delaying answers."""

from __future__ import annotations

import socket  # noqa: TID251 - a port where nobody listens
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.activity.services import tracing
from app.activity.services.tracing import Tracing
from app.base.folder import DataFolder
from app.chats.answers.values.answers import AnswerOptions, Ended
from app.models.library.values.entry import STARTER
from app.settings.values.fields import Settings
from app.wiring.app import App, open_app
from engines.cancel import CancelToken
from engines.errors import EngineFailed
from tests.support.made_activity import made_record
from tests.support.trace_collector import TraceCollector
from tests.support.waiting import until

QUESTION = "Who is Rumpelstiltskin?"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "GATHER_S", 0.01)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with closing(open_app(DataFolder(tmp_path))) as made:
        yield made


def ask(app: App) -> str:
    """Ask the real guide a question and return its answer."""
    _, answer = app.chats.ask(None, QUESTION)
    options = AnswerOptions({"model": STARTER, "temperature": 0.0})
    events = app.answers.write(answer, Settings(), options, lambda _: None, CancelToken())
    *_, last = events
    assert isinstance(last, Ended)
    assert last.message.state == "complete"
    return last.message.text


def send_to(app: App, endpoint: str) -> None:
    app.settings.write(Settings(traces_endpoint=endpoint))


def test_nothing_is_sent_unless_a_collector_is_named(app: App) -> None:
    ask(app)
    assert app.ledger.connections(9) == []
    assert not [it for it in threading.enumerate() if it.name == "hearth-traces"]


def test_an_answer_arrives_as_a_span_without_its_text(app: App) -> None:
    with TraceCollector() as collector:
        send_to(app, collector.endpoint)
        text = ask(app)
        until(lambda: collector.spans)
        until(lambda: app.ledger.connections(9))
        [export] = collector.exports
    [span] = export.spans
    assert (export.path, export.headers["content-type"]) == ("/v1/traces", "application/json")
    assert span["name"] == f"chat {STARTER}"
    assert "Rumpelstiltskin" not in export.text
    assert text[:12] not in export.text
    [line] = app.ledger.connections(9)
    assert (line.purpose, line.host, line.result) == ("send traces", "127.0.0.1", "200")
    assert line.sent == len(export.text)


def test_what_is_left_is_sent_as_hearth_ends(tmp_path: Path) -> None:
    with TraceCollector() as collector:
        with closing(open_app(DataFolder(tmp_path))) as app:
            send_to(app, f"{collector.endpoint}/v1/traces")
            ask(app)
        assert len(collector.spans) == 1
        assert collector.exports[0].path == "/v1/traces"


def test_a_dead_collector_delays_no_answer(app: App) -> None:
    """The collector accepts the connection and never replies; the answers come all the same."""
    with TraceCollector(hold=threading.Event()) as collector:
        send_to(app, collector.endpoint)
        ask(app)
        until(lambda: collector.exports)
        for _ in range(3):
            ask(app)
        assert len(collector.exports) == 1, "the first one is still waited for, elsewhere"


def test_a_collector_that_is_not_there_is_told_once(
    app: App, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "PAUSE_S", 0.01)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        send_to(app, f"http://127.0.0.1:{free.getsockname()[1]}")
        ask(app)
        until(lambda: len(app.ledger.connections(9)) > 2)
    told = [it for it in caplog.records if "traces could not be sent" in it.message]
    assert len(told) == 1
    assert "cannot be reached" in told[0].message


def test_one_outside_is_not_asked_while_offline(app: App) -> None:
    app.settings.write(Settings(traces_endpoint="http://collector.example:4318", offline=True))
    ask(app)
    until(lambda: app.ledger.connections(9))
    assert {it.result for it in app.ledger.connections(9)} == {"refused"}


def test_what_could_not_be_sent_goes_when_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "PAUSE_S", 0.01)
    tries: list[bytes] = []

    def send(_endpoint: str, body: bytes) -> None:
        tries.append(body)
        if len(tries) < 3:
            raise EngineFailed("No.", "A test wants it.", "Try again.")

    with closing(Tracing(lambda: "http://here", send)) as made:
        made.add(made_record(20.0, 1))
        until(lambda: len(tries) == 3)
    assert b'"gen_ai.usage.output_tokens","value":{"intValue":"321"}' in tries[-1]
    assert len(tries) == 3, "and only once"


def test_a_collector_that_refuses_is_an_error_in_plain_words(app: App) -> None:
    from app.base.errors import CollectorRefused
    from app.net.monitoring import send_traces

    with TraceCollector(status=404) as collector, pytest.raises(CollectorRefused) as caught:
        send_traces(app.gate, collector.endpoint, b"{}")
    assert "404" in caught.value.why


def test_a_slow_collector_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "CLOSE_S", 0.05)
    held, asked = threading.Event(), threading.Event()

    def send(_endpoint: str, _body: bytes) -> None:
        asked.set()
        held.wait(20)

    made = Tracing(lambda: "http://here", send)
    made.add(made_record(20.0))
    asked.wait()
    made.close()
    held.set()
    made.add(made_record(21.0))  # no spans are accepted after the end
