"""The engine for servers, beyond the contract."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from engines.cancel import CancelToken
from engines.errors import MtpUnavailable, ServerUnreachable
from engines.openai.values import ServerInfo
from engines.remote.engine import RemoteEngine
from engines.types import EngineStatus, LoadedModel
from tests.engines.asking import ask, done_of, run
from tests.engines.remote.test_contract import engine_at, plan_for
from tests.support.openai_server import OpenAiServer, Reply, chunk, event


@pytest.fixture
def server() -> Iterator[OpenAiServer]:
    with OpenAiServer() as server:
        yield server


def load(engine: RemoteEngine, context: int = 0) -> LoadedModel:
    plan = replace(plan_for("tiny"), context=context)
    return engine.load(plan, lambda _: None, CancelToken())


def test_drafting_is_told_as_the_server_tells_it(server: OpenAiServer) -> None:
    engine = engine_at(server.address)
    assert load(engine).mtp == "none"
    server.drafts = True
    report = load(engine)
    assert (report.mtp, report.mtp_switch) == ("drafter", "server")
    done = done_of(run(engine, ask("Hello", mtp="off")))
    assert done.mtp.active, "it cannot be switched off from here"
    assert server.chats()[-1]["min_p"] == 0
    with pytest.raises(MtpUnavailable):
        engine.check_mtp(ask("Hello"), 2, CancelToken())
    engine.close()


@pytest.mark.parametrize(("kind", "word"), [("ollama", "cuts off"), ("openai", "left out")])
def test_a_server_that_does_not_tell_its_context(kind: str, word: str) -> None:
    with OpenAiServer(kind) as server:  # type: ignore[arg-type]
        engine = engine_at(server.address)
        report = load(engine)
        assert report.context == 0
        assert word in report.notes[0]
        told = load(engine, context=300)
        assert (told.context, told.notes) == (300, ())
        engine.close()


def test_a_switch_shows_in_the_prompts_that_the_server_writes(server: OpenAiServer) -> None:
    engine = engine_at(server.address)
    report = load(engine)
    assert (report.thinking, report.thinks) == ("switch", False)
    engine.close()


def test_a_template_that_always_reasons(server: OpenAiServer) -> None:
    same = Reply(b'{"tokens": [1, 2, 3]}')
    # It asks for one to see if the server counts tokens at all.
    server.script("/tokenize", same, same, same, same)
    server.script("/detokenize", Reply(b'{"prompt": "assistant\\n<think>\\n"}'))
    engine = engine_at(server.address)
    report = load(engine)
    assert (report.thinking, report.thinks) == ("always", True)
    engine.close()


def test_a_server_that_goes_away_is_said(server: OpenAiServer) -> None:
    with OpenAiServer() as other:
        engine = engine_at(other.address)
        load(engine)
    with pytest.raises(ServerUnreachable):
        run(engine, ask("Hello"))
    engine.close()


def test_a_server_without_a_usage_is_counted_by_its_text(server: OpenAiServer) -> None:
    pieces = (chunk({"content": "One two three four five "}), chunk({}, "stop"), event({}))
    server.script("/v1/chat/completions", Reply(pieces, kind="text/event-stream"))
    engine = engine_at(server.address)
    load(engine)
    usage = done_of(run(engine, ask("Hello"))).usage
    assert usage.completion_tokens > 0
    assert usage.prompt_tokens > 0
    engine.close()


def test_nothing_is_closed_beneath_answers(server: OpenAiServer) -> None:
    engine = engine_at(server.address)
    load(engine)
    one, two = (engine.chat(ask("What is Hearth?"), CancelToken()) for _ in range(2))
    next(one)
    next(two)
    with pytest.raises(RuntimeError, match="busy"):
        engine.close()
    one.close()
    assert done_of(list(two)).usage.completion_tokens > 0
    engine.close()


def test_what_was_learnt_is_told() -> None:
    import httpx2

    from engines.remote.engine import Served

    seen: list[ServerInfo] = []
    with OpenAiServer() as server:
        engine = RemoteEngine(
            lambda _: Served(
                httpx2.Client(trust_env=False), server.address, on_identified=seen.append
            )
        )
        load(engine)
        engine.close()
    assert [it.kind for it in seen] == ["vllm"]


def test_while_it_looks_at_a_server_it_is_loading(server: OpenAiServer) -> None:
    import httpx2

    from engines.remote.engine import Served

    seen: list[EngineStatus] = []
    engine = RemoteEngine(
        lambda _: Served(
            httpx2.Client(trust_env=False),
            server.address,
            on_identified=lambda _: seen.append(engine.status()),
        )
    )
    load(engine)
    assert seen == [EngineStatus("loading", elsewhere=True)]
    engine.close()
