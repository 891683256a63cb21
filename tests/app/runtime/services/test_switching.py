"""One conversation on several engines: the guide, a server, and a worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.models.library.services.load_options import load_options_of
from app.models.library.values.entry import STARTER, STARTER_CHECKPOINT
from app.runtime.services.loaders import RemoteLoader
from app.runtime.services.runtime import Runtime
from app.runtime.services.vllm_loader import VllmLoader
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.errors import Action, Cancelled, EngineUnavailable
from engines.hardware import detect
from engines.memory.load_options import LoadOptions
from engines.remote.engine import RemoteEngine
from engines.types import Adapter, ChatRequest, LoadedModel, Message, Sampling, VllmPlan
from tests.engines.checkpoint_files import DRAFTER, TARGET
from tests.support.houses import CRASH, SERVED, House, a_house


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with a_house(tmp_path) as made:
        yield made


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
    # Each engine has read the whole conversation, including the others' answers.
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
    assert (house.load(SERVED), house.llama.closed) == ("remote", 0)
    assert house.runtime.loaded_model("llamacpp") is not None
    assert (house.load(STARTER), house.llama.closed) == ("llamacpp", 0)
    house.load(STARTER_CHECKPOINT)
    assert house.llama.closed == 1
    assert house.runtime.loaded_model("llamacpp") is None
    house.load(STARTER)
    assert house.worker.closed == 1
    assert house.runtime.loaded_model("vllm") is None
    assert house.runtime.loaded_model("remote") is not None


def test_only_who_needs_the_memory_waits_for_it(house: House) -> None:
    house.load(STARTER_CHECKPOINT)
    house.runtime.unload()
    assert house.worker.settled == 0, "the end of Hearth is not held up by a driver"
    house.load(STARTER_CHECKPOINT)
    house.load(STARTER)
    assert house.worker.settled == 1


def test_the_plan_of_a_checkpoint(house: House) -> None:
    house.load(STARTER_CHECKPOINT)
    plan = house.worker.plans[-1]
    assert (plan.model, plan.drafter, plan.draft_max) == (TARGET, DRAFTER, 2)
    entry = replace(house.library.find(STARTER_CHECKPOINT), drafter=TARGET)
    house.runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken()).close()
    assert house.worker.plans[-1].drafter is None
    assert "no smaller than the model" in house.worker.plans[-1].mtp_note


def test_a_checkpoint_starts_again_only_where_what_drafts_is_another(house: House) -> None:
    alone = replace(house.library.find(STARTER_CHECKPOINT), drafter=None)
    entries = {"with its drafter": house.library.find(STARTER_CHECKPOINT), "alone": alone}

    def starts(which: str, *modes: str) -> list[tuple[int, bool]]:
        del house.worker.plans[:]
        for mode in modes:
            options = load_options_of(Settings().changed("mtp", mode), "vllm")
            house.runtime.lease(entries[which], options, lambda _: None, CancelToken()).close()
        return [(it.draft_max, it.lookup) for it in house.worker.plans if isinstance(it, VllmPlan)]

    assert starts("with its drafter", "auto", "on", "off") == [(2, False), (0, False)]
    assert starts("alone", "off", "auto", "on", "auto") == [(0, False), (4, True), (0, False)]


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
    assert house.runtime.loaded_model("vllm") is None
    house.worker.lost = None
    assert house.ask(first.chat_id, "Now?", STARTER_CHECKPOINT).state == "complete"
    assert len(house.worker.plans) == 2


def test_a_cancelled_revival_stops_the_answer(house: House) -> None:
    first = house.ask(None, "Hello?", STARTER_CHECKPOINT)
    house.worker.lost = Cancelled()
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
    assert (house.runtime.loaded_model("vllm"), house.runtime.idle_s("vllm")) == (None, 0.0)
    assert house.ask(None, "Hello?", STARTER_CHECKPOINT).state == "complete"


def test_a_comparison_with_and_without_drafts_is_work(house: House) -> None:
    house.ask(None, "Hello?", STARTER_CHECKPOINT)
    house.seconds[0] = 300.0
    request = ChatRequest((Message("user", "Hello?"),), Sampling(temperature=0.0))
    entry = house.library.find(STARTER_CHECKPOINT)
    with house.runtime.lease(
        entry, LoadOptions(), lambda _: None, CancelToken(), exclusive=True
    ) as lease:
        lease.check_mtp(request, 2, CancelToken())
    assert house.runtime.idle_s("vllm") == 0.0
    assert not house.runtime.stop_idle("vllm", 60.0)


def test_another_adapter_alone_loads_nothing_anew(house: House, tmp_path: Path) -> None:
    entry = house.library.find(STARTER_CHECKPOINT)
    law = Adapter("law", tmp_path)

    def lease(load_options: LoadOptions) -> LoadedModel:
        with house.runtime.lease(entry, load_options, lambda _: None, CancelToken()) as lease:
            return lease.loaded

    first = lease(LoadOptions(parallel=2))
    assert lease(LoadOptions(parallel=2, adapters=(law,))) is first
    assert lease(LoadOptions(parallel=2)) is first
    assert house.worker.adapted == [("law",), ()]
    assert house.worker.closed == 0
    lease(LoadOptions(parallel=3, adapters=(law,)))
    assert house.worker.closed == 1, "more than adapters is another"


def test_an_engine_that_is_not_here_says_so(house: House) -> None:
    entry = house.library.find(STARTER_CHECKPOINT)
    loads = VllmLoader(lambda: house.worker, lambda: None, detect)
    with pytest.raises(EngineUnavailable) as caught:
        loads.open(entry)
    assert "not installed" in caught.value.why
    assert caught.value.action == Action("install", "vllm")
    runtime = Runtime(
        {"remote": RemoteLoader(lambda: RemoteEngine(lambda _: pytest.fail("asked")))}
    )
    with pytest.raises(EngineUnavailable):
        runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken())
