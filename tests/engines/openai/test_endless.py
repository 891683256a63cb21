"""A server with an endless answer: Hearth hangs up, and keeps the good part of the answer."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, repeat

import httpx2
import pytest

from engines.cancel import CancelToken
from engines.dialect.tools import CallReader
from engines.errors import EngineError, ServerBusy, ServerFailed
from engines.openai import client as wire
from engines.openai.answering import answer
from engines.openai.client import MOST_EVENT, Events, OpenAiClient
from engines.openai.faults import message_in
from engines.types import Done, Event, TextDelta, Tool, ToolCall, ToolCallDelta
from engines.vllm.metrics import read_metrics
from engines.vllm.streams import Lines
from tests.engines.asking import ask
from tests.engines.openai.conftest import CHAT, Reach, Serve, run
from tests.support.openai_server import Reply, chunk
from tests.support.waiting import until

PIECE = b"x" * (1 << 16)
MOST_SENT = 160 << 20
"""The most bytes that a server may have written by then: the budgets, and the sockets' buffers."""
LOOK_UP = Tool("look_up", "", {"type": "object"})


class Flood:
    """Endless pieces, which are counted.

    Args:
        first: The piece before them.
        again: The piece that is repeated.
    """

    def __init__(self, first: bytes, again: bytes) -> None:
        self._pieces = chain([first], repeat(again))
        self.sent = 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self.sent += len(piece)
            if self.sent > 2 * MOST_SENT:
                raise OSError("nobody hung up")
            if piece:
                yield piece


def call(arguments: str, index: int = 0) -> bytes:
    function = {"name": "look_up", "arguments": arguments}
    return chunk({"tool_calls": [{"index": index, "id": "c", "function": function}]})


FLOODS = {
    "an object": Flood(b"{", PIECE),
    "an object behind blanks": Flood(b"\n\n  {", PIECE),
    "a page": Flood(b"<html>", PIECE),
    "lines of data without a blank one": Flood(b"", b"data: " + PIECE + b"\n"),
    "empty lines of data": Flood(b"", b"data:\n" * 10_000),
    "short lines of data": Flood(b"", b"data: a\r\n" * 10_000),
    "one line": Flood(b"data: ", PIECE),
    "a line of another name": Flood(b"event: ", PIECE),
    "a comment": Flood(b": ", PIECE),
    "large pieces": Flood(b"", chunk({"content": "y" * (1 << 20)})),
    "reasoning": Flood(b"", chunk({"reasoning": "y" * (1 << 18)})),
    "other reasoning": Flood(b"", chunk({"reasoning_content": "y" * (1 << 18)})),
    "reasoning in the text": Flood(chunk({"content": "<think>"}), chunk({"content": "y" * 99_999})),
    "blanks": Flood(b"", chunk({"content": " " * 99_999})),
    "the arguments of a call": Flood(call(""), call("z" * (1 << 16))),
    "calls": Flood(b"", b"".join(call("{}", at) for at in range(1000))),
    "calls without a number": Flood(b"", chunk({"tool_calls": [{"function": {"name": "a"}}]}) * 99),
    "names of calls": Flood(b"", chunk({"tool_calls": [{"id": "i" * 5_000_000}]})),
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_an_answer_without_an_end_is_hung_up_on(serve: Serve, reach: Reach, flood: Flood) -> None:
    server = serve()
    server.script(CHAT, Reply(flood, kind="text/event-stream"))
    with pytest.raises(ServerFailed):
        run(replace(ask("Hello"), tools=(LOOK_UP,)), reach(server))
    assert flood.sent < MOST_SENT


@pytest.mark.parametrize("again", [b"data: " + PIECE, b"data:\n" * 9999, call("z" * (1 << 16))])
def test_what_came_before_is_kept_and_the_error_says_what_happened(
    serve: Serve, reach: Reach, again: bytes
) -> None:
    server = serve()
    server.script(CHAT, Reply(Flood(chunk({"content": "Good."}), again), kind="text/event-stream"))
    events: list[Event] = []
    with pytest.raises(ServerFailed, match="larger than any answer") as caught:  # noqa: PT012
        for event in answer(ask("Hello"), reach(server), CancelToken()):
            events.append(event)  # noqa: PERF402
    assert "".join(it.text for it in events if isinstance(it, TextDelta)) == "Good."
    assert "kept" in caught.value.do


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_an_error_without_an_end_is_that_error(serve: Serve, reach: Reach, status: int) -> None:
    server, flood = serve(), Flood(b'{"error": "', PIECE)
    server.script(CHAT, Reply(flood, status=status))
    with pytest.raises(EngineError):
        run(ask("Hello"), reach(server))
    assert flood.sent < MOST_SENT


@pytest.mark.parametrize("path", ["/v1/models", "/metrics", "/tokenize", "/version"])
def test_what_is_looked_up_has_an_end(serve: Serve, client: httpx2.Client, path: str) -> None:
    server, flood = serve(), Flood(b'{"data": [', b'{"id": "a"},' * 1000)
    server.script(path, Reply(flood))
    looking = OpenAiClient(client, server.address)
    ask_there: dict[str, Callable[[], object]] = {
        "/v1/models": looking.models,
        "/metrics": lambda: looking.text("/metrics"),
        "/tokenize": lambda: looking.tokenize({"prompt": "a"}),
        "/version": looking.version,
    }
    with pytest.raises(ServerFailed):
        ask_there[path]()
    assert flood.sent < MOST_SENT


def test_what_unpacks_to_much_is_not_unpacked_whole(serve: Serve, client: httpx2.Client) -> None:
    server = serve()
    bomb = gzip.compress(b'{"data": [' + b" " * (512 << 20), compresslevel=1)
    server.script("/v1/models", Reply(bomb, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(ServerFailed, match="larger than any answer"):
        OpenAiClient(client, server.address).models()


def test_a_look_up_that_trickles_is_given_up(
    serve: Serve, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "LOOKUP_TOTAL_S", 0.3)
    server = serve()
    server.script("/v1/models", Reply(repeat(b" "), pace_s=0.05))
    with pytest.raises(ServerBusy, match="took too long"):
        OpenAiClient(client, server.address).models()


def test_names_and_numbers_that_cannot_be_are_left_out(serve: Serve, client: httpx2.Client) -> None:
    server = serve()
    rows = [
        {"id": "m" * 100_000},
        {"id": "good", "max_model_len": 10**4000, "meta": {"n_ctx": 10**30, "size": -1}},
        *({"id": f"m{at}"} for at in range(20_000)),
    ]
    server.script("/v1/models", Reply(json.dumps({"data": rows}).encode()))
    models = OpenAiClient(client, server.address).models()
    assert models[0].id == "good"
    assert (models[0].context, models[0].size_bytes) == (None, 0)
    assert len(models) == 10_000


@pytest.mark.parametrize("first", [b"data: a\n", b"{", b": "])
def test_a_stop_is_heard_while_nothing_whole_comes(
    serve: Serve, reach: Reach, first: bytes
) -> None:
    """It is slow enough that no budget ends it."""
    server = serve()
    slow = Reply(chain([first], repeat(b"data: b\n")), kind="text/event-stream", pace_s=0.02)
    server.script(CHAT, slow)
    cancel = CancelToken()

    def stop() -> None:
        until(server.chats)
        cancel.cancel()

    stopping = threading.Thread(target=stop)
    stopping.start()
    events = run(ask("Hello"), reach(server), cancel)
    stopping.join()
    assert isinstance(events[-1], Done)
    assert events[-1].finish_reason == "cancelled"


def test_an_event_counts_all_its_lines() -> None:
    events = Events()
    few = b"data:" + b"x" * 99 + b"\n"
    assert not list(events.feed(few * 100))
    with pytest.raises(ValueError, match="end"):
        list(events.feed(few * (MOST_EVENT // len(few))))


def test_events_of_any_number_pass() -> None:
    events = Events()
    many = b"data: " + b"x" * 99_000 + b"\n\n"
    assert sum(len(list(events.feed(many))) for _ in range(200)) == 200


def test_a_long_call_in_the_text_is_read_in_one_go() -> None:
    """Ten times as many pieces take about ten times as long, and not a hundred times."""

    def seconds(pieces: int) -> float:
        reader = CallReader()
        reader.feed('<tool_call>{"name": "a", "arguments": {"b": "')
        began = time.process_time()
        for _ in range(pieces):
            (piece,) = reader.feed("some")
            assert isinstance(piece, ToolCallDelta)
        *_, call = reader.feed('"}}</tool_') + reader.feed("call>")
        assert isinstance(call, ToolCall)
        assert len(call.arguments) > 4 * pieces
        return time.process_time() - began

    assert seconds(200_000) < 60 * max(seconds(20_000), 0.01)


def test_an_error_within_errors_is_read_to_a_depth() -> None:
    deep = '{"error":' * 600 + '"no"' + "}" * 600
    assert message_in(deep.encode()) == ""
    assert message_in(b'{"error": {"message": [{"detail": "no"}]}}') == "no"


@pytest.mark.parametrize("number", ["9" * 5000, ",", ",,,"])
def test_a_context_that_is_no_number_is_none(serve: Serve, reach: Reach, number: str) -> None:
    server = serve()
    said = f"This model's maximum context length is {number} tokens."
    error = Reply(json.dumps({"error": {"message": said}}).encode(), 400)
    server.script(CHAT, *[error] * 9)
    with pytest.raises(EngineError, match="does not fit"):
        run(ask("Hello"), reach(server))


def test_figures_of_a_worker_are_read_in_one_go() -> None:
    hostile = "vllm:a{\n" * 300_000 + "vllm:num_requests_running --e+\nvllm:x 1e999\n"
    metrics = read_metrics(hostile + 'vllm:num_requests_running{a="b"} 2.0\n')
    assert metrics["vllm:num_requests_running"] == 2


def test_a_line_of_a_process_that_does_not_end_is_cut() -> None:
    heard: list[str] = []
    lines = Lines(heard.append)
    for _ in range(100):
        lines.feed(PIECE)
    assert max(map(len, heard)) <= 2 * len(PIECE)
    assert sum(map(len, heard)) == 100 * len(PIECE)


def test_comments_alone_keep_no_answer_alive(
    serve: Serve, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "COMMENTS_S", 0.3)
    server = serve()
    server.script(CHAT, Reply(repeat(b": wait\n\n"), kind="text/event-stream", pace_s=0.02))
    with pytest.raises(ServerBusy, match="took too long"):
        run(ask("Hello"), reach(server))
