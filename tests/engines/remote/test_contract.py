"""The contract of engines, on a scripted server and on a real llama-server if there is one."""

from __future__ import annotations

import os
import socket  # noqa: TID251 - a free port for the server
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from engines.base import Engine
from engines.openai.values import ServerKind
from engines.remote.engine import RemoteEngine, Served
from engines.types import ChatRequest, ServedPlan, Tool
from tests.engines.asking import ask, done_of, run, text_of
from tests.engines.contract import EngineContract
from tests.support.openai_server import DONE, OpenAiServer, chunk, stream
from tests.support.paths import ROOT
from tests.support.waiting import until

STARTER = ROOT / "resources" / "starter" / "starter.gguf"
BINARY = os.environ.get("HEARTH_LLAMA_SERVER", "")
CONTEXT = 512
CHAT = "/v1/chat/completions"


def plan_for(model: str) -> ServedPlan:
    return ServedPlan("s1", model, CONTEXT)


def engine_at(address: str) -> RemoteEngine:
    def lend(_: str) -> Served:
        return Served(httpx2.Client(trust_env=False, verify=False), address, local=True)

    return RemoteEngine(lend)


class RemoteContract(EngineContract):
    """The contract for servers, which decide for themselves what they keep for the next turn."""

    elsewhere = True
    cached_again = False
    answers_at_once = 4

    def several(self, plan: ServedPlan) -> ServedPlan:
        return plan  # the server sets it

    @pytest.fixture
    def missing(self, plan: ServedPlan, tmp_path: Path) -> ServedPlan:
        return plan_for("no-such-model")

    def test_a_second_turn_evaluates_only_what_is_new(self, loaded: Engine) -> None:
        events = run(loaded, ask("What is Hearth?", max_tokens=None))
        second = done_of(run(loaded, ask("What is Hearth?", text_of(events), "Thank you!")))
        assert second.usage.cached_tokens < second.usage.prompt_tokens


class ScriptedContract(RemoteContract):
    """The contract on a server that answers with a model of words."""

    kind: ServerKind

    @pytest.fixture
    def server(self) -> Iterator[OpenAiServer]:
        with OpenAiServer(self.kind, context=CONTEXT, pace_s=0.001) as server:
            yield server

    @pytest.fixture
    def engine(self, server: OpenAiServer) -> Iterator[Engine]:
        engine = engine_at(server.address)
        yield engine
        engine.close()

    @pytest.fixture
    def plan(self) -> ServedPlan:
        return plan_for("tiny")

    @pytest.fixture
    def foreign(self, server: OpenAiServer) -> tuple[ChatRequest, str]:
        text = "Grüße 😀 日本語"
        whole = chunk({"content": text[:5]}) + chunk({"content": text[5:]}) + chunk({}, "stop")
        server.script(CHAT, stream(*(bytes([byte]) for byte in whole + DONE)))
        return ask("Greet me"), text

    @pytest.fixture
    def reasoned(self, server: OpenAiServer) -> ChatRequest:
        pieces = (chunk({"content": it}) for it in ("<thi", "nk>Well", ".</think>", "Yes."))
        server.script(CHAT, stream(*pieces, chunk({}, "stop"), DONE))
        return ask("Well?", thinking=True)

    @pytest.fixture
    def tooled(self, server: OpenAiServer) -> ChatRequest:
        call = {"index": 0, "id": "a", "function": {"name": "clock", "arguments": "{}"}}
        server.script(CHAT, stream(chunk({"tool_calls": [call]}), chunk({}, "tool_calls"), DONE))
        return ask("How late is it?", tools=(Tool("clock", "The time", {"type": "object"}),))

    @pytest.fixture
    def broken(self, server: OpenAiServer) -> Callable[[], None]:
        """Script a second answer that waits in the middle; return a function that makes it fail."""
        server.script(CHAT, server.chat, server.dying)
        return server.dies.set

    @pytest.fixture
    def at_work(self, server: OpenAiServer) -> Callable[[], bool]:
        return lambda: not all(it.ended.is_set() for it in server.asked)


class TestScriptedVllm(ScriptedContract):
    kind = "vllm"
    tells_model = False


class TestScriptedLlamaServer(ScriptedContract):
    kind = "llama-server"

    @pytest.fixture
    def in_parts(self, plan: ServedPlan) -> ServedPlan:
        return plan


@pytest.fixture(scope="module")
def llama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("llama") / "log"
    words = [BINARY, "-m", str(STARTER), "--host", "127.0.0.1", "--port", str(port), "-np", "1"]
    with log.open("wb") as to:
        server = subprocess.Popen(
            [*words, "-c", str(CONTEXT), "-t", "2"], stdout=to, stderr=subprocess.STDOUT
        )
    try:
        address = f"http://127.0.0.1:{port}"
        until(lambda: _is_well(address), failure="the server does not start")
        yield address
    finally:
        server.terminate()
        server.wait()


def _is_well(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/health", trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False


@pytest.mark.skipif(not BINARY, reason="HEARTH_LLAMA_SERVER names no llama-server")
class TestLlamaServer(RemoteContract):
    @pytest.fixture
    def engine(self, llama_server: str) -> Iterator[Engine]:
        engine = engine_at(llama_server)
        yield engine
        engine.close()

    @pytest.fixture
    def plan(self) -> ServedPlan:
        return plan_for(str(STARTER))

    @pytest.fixture
    def at_work(self, llama_server: str) -> Callable[[], bool]:
        def busy() -> bool:
            slots = httpx2.get(f"{llama_server}/slots", trust_env=False).json()
            return any(slot["is_processing"] for slot in slots)

        return busy
