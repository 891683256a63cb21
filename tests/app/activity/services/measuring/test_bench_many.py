"""Benchmarks of many chats at once, with a scripted engine and a scripted server."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import httpx2
import pytest

from app.activity.services.measuring.bench_many import ManyBench, ManyResult, speeds_of
from app.activity.values.bench_results import BenchStep
from app.models.library.services.fitting import Fitting
from app.models.library.values.entry import ModelEntry
from app.runtime.services.loaders import LlamaLoader, RemoteLoader
from app.runtime.services.runtime import Runtime
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.hardware import detect
from engines.llamacpp.sizing.sizer import Sizer
from engines.remote.engine import RemoteEngine, Served
from engines.types import ChatRequest, Event
from tests.support.openai_server import DONE, OpenAiServer, chunk, refusal, stream
from tests.support.scripted import ScriptedEngine
from tests.support.services import Services

CHAT = "/v1/chat/completions"
TINY = ModelEntry("team:tiny", "tiny", Path("tiny"), engine="remote", server="s1", served="tiny")


class Meeting(ScriptedEngine):
    """A scripted engine whose answers wait for each other, so that they run together."""

    def __init__(self, together: int) -> None:
        super().__init__()
        self.together = threading.Barrier(together, timeout=60)

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        if (request.max_tokens or 0) > 1:
            self.together.wait()
        yield from super().chat(request, cancel)


def measured(
    runtime: Runtime, entry: ModelEntry, *counts: int, cancel: CancelToken | None = None
) -> list[BenchStep | ManyResult]:
    many, cancel = ManyBench(runtime), cancel or CancelToken()
    return list(many.measure(entry, Settings(mtp="off"), counts, 2, 1, lambda _: None, cancel))


def test_an_engine_that_can_is_asked_by_all_at_once(services: Services) -> None:
    engine = Meeting(3)
    engine.says = {"answers_at_once": 8}
    runtime = Runtime(
        {"llamacpp": LlamaLoader(lambda: engine, lambda: Fitting(detect, services.loads, Sizer()))}
    )
    *steps, result = measured(runtime, services.library.find("starter"), 3, 6)
    assert isinstance(result, ManyResult)
    assert len(steps) == 2
    assert [(it.chats, it.tokens) for it in result.levels] == [(3, 6), (6, 12)]
    assert (result.side_by_side, result.note) == (8, "All are answered at the same time.")


@pytest.fixture
def server() -> Iterator[OpenAiServer]:
    with OpenAiServer() as server:
        yield server


@pytest.fixture
def remote(server: OpenAiServer) -> Iterator[Runtime]:
    def lend(_: str) -> Served:
        return Served(httpx2.Client(trust_env=False), server.address)

    runtime = Runtime({"remote": RemoteLoader(lambda: RemoteEngine(lend))})
    yield runtime
    runtime.unload()


def test_a_server_is_asked_by_all_at_once(remote: Runtime) -> None:
    *_, result = measured(remote, TINY, 1, 5)
    assert isinstance(result, ManyResult)
    assert "the server decides" in result.note
    assert [it.chats for it in result.levels] == [1, 5]
    assert result.levels[1].tokens >= 5 * 2, "counted by the server's usage"
    one, five = speeds_of(result, "Tiny")
    assert (one.engine, one.model, one.at_once) == ("remote", "Tiny", 1)
    assert one.tokens_per_s == result.levels[0].decode_tok_s
    assert (five.at_once, five.tokens_per_s) == (5, result.levels[1].total_tok_s)


def test_the_first_error_of_one_ends_all(remote: Runtime, server: OpenAiServer) -> None:
    warm = stream(chunk({"content": "Yes."}), chunk({}, "stop"), DONE)
    server.script(CHAT, warm, refusal(500, "It broke."))
    server.pace_s = 0.05
    with pytest.raises(EngineError):
        measured(remote, TINY, 5)
    chats = [it for it in server.asked if it.path == CHAT]
    assert len(chats) > 1
    assert all(it.ended.wait(60) for it in chats), "the others were hung up"


def test_a_cancel_ends_it_without_a_result(services: Services) -> None:
    cancel = CancelToken()
    cancel.cancel()
    found = measured(services.runtime, services.library.find("starter"), 2, cancel=cancel)
    assert [type(it) for it in found] == [BenchStep]
