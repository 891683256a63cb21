"""One conversation over several engines: the guide here, a server, and a worker of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2
import pytest

from app.core.conversation import StoredMessage
from app.core.models import STARTER, STARTER_CHECKPOINT, ModelEntry
from app.core.settings import Settings
from app.services.answers import AnswerOptions, Answers, Ended
from app.services.chat_layers import ChatLayers
from app.services.compacting import Compacting
from app.services.fitting import Fitting
from app.services.library import Library
from app.services.loads import LlamaLoads
from app.services.loads_remote import RemoteLoads
from app.services.loads_vllm import VllmLoads
from app.services.runtime import Runtime
from app.store.assistants import AssistantStore
from app.store.chat_settings import ChatSettingsStore
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.loads import LoadStore
from app.store.models import ModelStore
from app.store.summaries import SummaryStore
from app.wiring import STARTER as GUIDE
from app.wiring import STARTER_DRAFTER
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import Action, EngineFailed, EngineUnavailable, LoadCancelled
from engines.hardware import detect
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.sizing.sizer import Sizer
from engines.planner import Wishes
from engines.remote.engine import RemoteEngine, Served
from engines.types import ChatRequest, LoadedModel, Message, Sampling
from tests.engines.checkpoint_files import DRAFTER, TARGET
from tests.support.openai_server import OpenAiServer
from tests.support.scripted import ScriptedEngine

SERVED = "team:tiny"
CRASH = EngineFailed("vLLM stopped.", "Its process ended.", "Try again.")


class ScriptedWorker(ScriptedEngine):
    """revived: how often it was asked for. lost: why it cannot be brought back."""

    name = "vllm"
    lost: Exception | None = None
    revived = 0

    def revive(self, progress: Progress, cancel: CancelToken) -> LoadedModel:
        self.revived += 1
        if self.lost is not None:
            raise self.lost
        assert self._loaded is not None
        return self._loaded


class NotedLlama(LlamaCppEngine):
    closed = 0

    def close(self) -> None:
        self.closed += 1
        super().close()


@dataclass
class House:
    chats: ChatStore
    answers: Answers
    runtime: Runtime
    library: Library
    llama: NotedLlama
    worker: ScriptedWorker
    server: OpenAiServer
    seconds: list[float]

    def write(self, answer: StoredMessage, **options: object) -> StoredMessage:
        """options: of `AnswerOptions`."""
        chosen = AnswerOptions(**options)  # type: ignore[arg-type]
        events = list(self.answers.write(answer, Settings(), chosen, lambda _: None, CancelToken()))
        last = events[-1]
        assert isinstance(last, Ended)
        return last.message

    def ask(self, chat_id: str | None, text: str, model: str) -> StoredMessage:
        return self.write(self.chats.ask(chat_id, text)[1], model=model)

    def load(self, model: str) -> None:
        entry = self.library.find(model)
        self.runtime.load(entry, Wishes(), lambda _: None, CancelToken())


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    database = Database(tmp_path / "chats.db")
    seconds = [0.0]
    further = (
        ModelEntry(
            STARTER_CHECKPOINT, "Guide for vLLM", TARGET, builtin=True, drafter=DRAFTER,
            engine="vllm", source="builtin",
        ),
        ModelEntry(
            SERVED, "tiny on team", Path("tiny"), source="server", engine="remote", server="p1",
            served="tiny", context=512,
        ),
    )  # fmt: skip
    library = Library(ModelStore(database), GUIDE, STARTER_DRAFTER, None, lambda: further)
    llama, worker = NotedLlama(), ScriptedWorker()
    with OpenAiServer("vllm", context=512) as server:

        def lend(profile: str) -> Served:
            assert profile == "p1"
            return Served(httpx2.Client(trust_env=False), server.address)

        runtime = Runtime(
            {
                "llamacpp": LlamaLoads(llama, Fitting(detect, LoadStore(database), Sizer())),
                "vllm": VllmLoads(lambda: worker, lambda: "cpu", detect),
                "remote": RemoteLoads(lambda: RemoteEngine(lend)),
            },
            lambda: seconds[0],
        )
        chats = ChatStore(database)
        layers = ChatLayers(ChatSettingsStore(database), AssistantStore(database))
        compacting = Compacting(SummaryStore(database), runtime)
        answers = Answers(chats, library, runtime, layers, compacting)
        yield House(chats, answers, runtime, library, llama, worker, server, seconds)
        runtime.unload()
    database.close()


def test_one_chat_over_three_engines(house: House) -> None:
    first = house.ask(None, "What is Hearth?", STARTER)
    chat = first.chat_id
    house.chats.set_mtp(chat, "off")
    second = house.ask(chat, "And on a server?", SERVED)
    third = house.ask(chat, "And in a worker?", STARTER_CHECKPOINT)
    again = house.write(house.chats.answer_again(chat, third.id), model=STARTER)
    said = [it.facts.engine for it in (first, second, third, again) if it.facts]
    assert said == ["llamacpp", "remote", "vllm", "llamacpp"]
    assert all(it.state == "complete" and it.text for it in (first, second, third, again))
    # Each engine has read the whole conversation, whoever wrote it.
    assert [it["content"] for it in house.server.chats()[-1]["messages"]] == [
        "What is Hearth?", first.text, "And on a server?",
    ]  # fmt: skip
    assert [it.text for it in house.worker.requests[-1].messages][-3:] == [
        "And on a server?", second.text, "And in a worker?",
    ]  # fmt: skip
    path = house.chats.path(chat)
    assert [it.role for it in path] == ["user", "assistant"] * 3
    assert path[-1].id == again.id
    branches = {it.id for it in house.chats.messages(chat) if it.parent_id == third.parent_id}
    assert branches == {third.id, again.id}
    assert house.chats.mtp(chat) == "off"


def test_what_lies_here_shares_the_memory_and_a_server_takes_none(house: House) -> None:
    house.load(STARTER)
    house.load(SERVED)
    assert (house.runtime.engine_name, house.llama.closed) == ("remote", 0)
    assert house.runtime.held("llamacpp") is not None
    house.load(STARTER)
    assert (house.runtime.engine_name, house.llama.closed) == ("llamacpp", 0)
    house.load(STARTER_CHECKPOINT)
    assert house.llama.closed == 1
    assert house.runtime.held("llamacpp") is None
    house.load(STARTER)
    assert house.worker.closed == 1
    assert house.runtime.held("vllm") is None
    assert house.runtime.held("remote") is not None


def test_the_plan_of_a_checkpoint(house: House) -> None:
    house.load(STARTER_CHECKPOINT)
    plan = house.worker.plans[-1]
    assert (plan.model, plan.drafter, plan.draft_max) == (TARGET, DRAFTER, 2)
    entry = replace(house.library.find(STARTER_CHECKPOINT), drafter=TARGET)
    house.runtime.load(entry, Wishes(), lambda _: None, CancelToken())
    assert house.worker.plans[-1].drafter is None
    assert "another model" in house.worker.plans[-1].mtp_note


def test_a_crash_keeps_what_was_written_and_the_next_message_begins_anew(house: House) -> None:
    house.worker.error = CRASH
    failed = house.ask(None, "Hello?", STARTER_CHECKPOINT)
    assert (failed.state, failed.text) == ("failed", "Hello there")
    assert failed.failure is not None
    assert (failed.failure.what, failed.failure.do) == (CRASH.what, CRASH.do)
    house.worker.error = None
    assert house.ask(failed.chat_id, "And now?", STARTER_CHECKPOINT).state == "complete"
    assert (house.worker.revived, len(house.worker.plans)) == (1, 1)


def test_a_worker_that_cannot_be_brought_back_is_started_from_nothing(house: House) -> None:
    first = house.ask(None, "Hello?", STARTER_CHECKPOINT)
    house.worker.lost = CRASH
    failed = house.ask(first.chat_id, "Again?", STARTER_CHECKPOINT)
    assert failed.state == "failed"
    assert house.runtime.held("vllm") is None
    house.worker.lost = None
    assert house.ask(first.chat_id, "Now?", STARTER_CHECKPOINT).state == "complete"
    assert len(house.worker.plans) == 2


def test_a_cancelled_revival_stops_the_answer(house: House) -> None:
    first = house.ask(None, "Hello?", STARTER_CHECKPOINT)
    house.worker.lost = LoadCancelled()
    assert house.ask(first.chat_id, "Again?", STARTER_CHECKPOINT).state == "stopped"


def test_idle_time_counts_from_the_last_answer(house: House) -> None:
    house.ask(None, "Hello?", STARTER_CHECKPOINT)
    house.seconds[0] = 59.0
    assert not house.runtime.stop_idle("vllm", 60.0)
    house.ask(None, "Hello?", STARTER_CHECKPOINT)
    house.seconds[0] = 118.0
    assert not house.runtime.stop_idle("vllm", 60.0)
    assert house.runtime.idle_s("vllm") == 59.0
    house.seconds[0] = 119.0
    assert house.runtime.stop_idle("vllm", 60.0)
    assert house.worker.closed == 1
    assert (house.runtime.held("vllm"), house.runtime.idle_s("vllm")) == (None, 0.0)
    assert house.ask(None, "Hello?", STARTER_CHECKPOINT).state == "complete"


def test_a_comparison_with_and_without_drafts_is_work(house: House) -> None:
    house.ask(None, "Hello?", STARTER_CHECKPOINT)
    house.seconds[0] = 300.0
    request = ChatRequest((Message("user", "Hello?"),), Sampling(temperature=0.0))
    house.runtime.check_mtp(request, 2, CancelToken())
    assert house.runtime.idle_s("vllm") == 0.0
    assert not house.runtime.stop_idle("vllm", 60.0)


def test_an_engine_that_is_not_here_says_so(house: House) -> None:
    entry = house.library.find(STARTER_CHECKPOINT)
    loads = VllmLoads(lambda: house.worker, lambda: None, detect)
    with pytest.raises(EngineUnavailable) as caught:
        loads.open(entry)
    assert "not installed" in caught.value.why
    assert caught.value.action == Action("install", "vllm")
    runtime = Runtime({"remote": RemoteLoads(lambda: RemoteEngine(lambda _: pytest.fail("asked")))})
    with pytest.raises(EngineUnavailable):
        runtime.load(entry, Wishes(), lambda _: None, CancelToken())
