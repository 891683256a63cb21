"""The log of requests, from all sources and with all endings."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from app.chats.answers.values.answers import AnswerOptions
from app.models.library.values.entry import STARTER, ModelEntry
from app.runtime.services.lease import Lease
from app.runtime.services.request_log import RequestLog
from app.runtime.values.request_records import SPAN_S, RequestRecord, TokenCounts
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineFailed
from engines.memory.load_options import LoadOptions
from engines.types import (
    ChatRequest,
    Done,
    Event,
    Message,
    MtpReport,
    PromptReady,
    Sampling,
    TextDelta,
    Timing,
    ToolCall,
    ToolCallDelta,
    Usage,
)
from tests.support.houses import SERVED, House, a_house
from tests.support.services import Services

ASK = ChatRequest((Message("user", "A secret question"),), Sampling(seed=3), max_tokens=64)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with a_house(tmp_path) as made:
        yield made


def lease(services: Services, cancel: CancelToken | None = None) -> Lease:
    entry = services.library.find(STARTER)
    return services.runtime.lease(entry, LoadOptions(), lambda _: None, cancel or CancelToken())


def only(services: Services) -> RequestRecord:
    [record] = services.runtime.requests.requests()
    return record


def test_an_answer_is_noted_with_its_tokens_and_times(services: Services) -> None:
    services.engine.pieces = ["Hello", " there", "!"]
    services.engine.reports = [MtpReport("on", True, "", depth=2, drafted=8, accepted=5)]
    with lease(services) as model:
        list(model.chat(ASK, CancelToken()))
    record = only(services)
    assert (record.model, record.engine, record.end) == (STARTER, "llamacpp", "stop")
    assert record.tokens == TokenCounts(5, 2, 3, 0, 8, 5)
    assert record.first is not None
    assert record.last is not None
    assert record.ended is not None
    assert record.asked <= record.begun <= record.first <= record.last <= record.ended
    assert record.operation == "chat"
    assert record.sampled is not None
    assert (record.sampled.seed, record.sampled.max_tokens) == (3, 64)
    assert "secret" not in repr(record)


def test_whoever_asks_is_counted(house: House) -> None:
    """It covers the window's chat, an answer without the store, and one on a server."""
    house.ask(None, "What is Hearth?", STARTER)
    options = AnswerOptions({"model": STARTER, "temperature": 0.0})
    messages = (Message("user", "Hi"),)
    list(house.answers.once(messages, Settings(), options, lambda _: None, CancelToken()))
    house.ask(None, "Hi", SERVED)
    totals = house.runtime.requests.totals()
    assert {name: sum(it.ends.values()) for name, it in totals.items()} == {
        (STARTER, "llamacpp"): 2,
        (SERVED, "remote"): 1,
    }
    of_guide = totals[STARTER, "llamacpp"]
    assert of_guide.tokens.generated > 10
    assert sum(of_guide.to_first.counts) == 2
    assert of_guide.to_first.sum >= of_guide.queued.sum + of_guide.reading.sum - 1e-6


def test_an_answer_that_runs_shows_what_it_has_written_so_far(services: Services) -> None:
    services.engine.hold = threading.Event()
    with lease(services) as model, closing(model.chat(ASK, CancelToken())) as events:
        next(it for it in events if isinstance(it, TextDelta))
        running = only(services)
        assert (running.ended, running.end) == (None, None)
        assert running.tokens == TokenCounts(prompt=5, cached=2, generated=1)
        assert services.runtime.requests.totals()[STARTER, "llamacpp"].tokens.generated == 1
        services.engine.hold.set()
        list(events)
    assert only(services).end == "stop"


def test_one_that_is_left_or_cancelled_is_noted_as_cancelled(services: Services) -> None:
    with lease(services) as model:
        events = model.chat(ASK, CancelToken())
        next(events)
        events.close()
        cancel = CancelToken()
        cancel.cancel()
        list(model.chat(ASK, cancel))
    assert [it.end for it in services.runtime.requests.requests()] == ["cancelled", "cancelled"]


def test_one_whose_engine_fails_is_noted_as_an_error(services: Services) -> None:
    services.engine.error = EngineFailed("It broke.", "A test wants it.", "Try again.")
    with suppress(EngineFailed), lease(services) as model:
        list(model.chat(ASK, CancelToken()))
    assert (only(services).end, only(services).error) == ("error", EngineFailed.code)
    assert only(services).tokens.generated == 2


def test_a_bug_counts_as_an_error_too(services: Services) -> None:
    services.engine.error = ZeroDivisionError("a bug")
    with suppress(ZeroDivisionError), lease(services) as model:
        list(model.chat(ASK, CancelToken()))
    assert (only(services).end, only(services).error) == ("error", "ZeroDivisionError")


def test_vectors_and_ranks_are_requests_as_well(services: Services) -> None:
    with lease(services) as model:
        assert len(model.embed(["one", "two"], CancelToken()).vectors) == 2
        model.rerank("which?", ["a", "bc", "def"], CancelToken())
        list(model.chat(ChatRequest((), prompt="Once"), CancelToken()))
    noted = services.runtime.requests.requests()
    assert [(it.operation, it.end, it.tokens.prompt) for it in noted] == [
        ("embeddings", "stop", 2),
        ("rerank", "stop", 3),
        ("text_completion", "stop", 5),
    ]
    assert [it.sampled is None for it in noted] == [True, True, False]


def test_who_waits_is_listed_until_the_model_is_there(services: Services) -> None:
    log = services.runtime.requests
    cancel = CancelToken()
    with lease(services):
        waits = threading.Event()
        failed: list[BaseException] = []

        def wait() -> None:
            waits.set()
            try:
                lease(services, cancel).close()
            except Cancelled as error:
                failed.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        waits.wait()
        while not log.waiting():
            pass
        [waiting] = log.waiting()
        assert (waiting.model, waiting.engine) == (STARTER, "llamacpp")
        cancel.cancel()
        thread.join()
    assert len(failed) == 1
    assert log.waiting() == ()
    assert log.requests() == (), "nothing was asked of a model"


def test_time_in_the_queue_belongs_to_the_first_request_of_a_lease() -> None:
    now = [100.0]
    log = RequestLog(lambda: now[0], lambda: 1_000.0 + now[0])
    admission = log.admission(ModelEntry("m", "M", Path("m")), 98.0)
    admission.granted()
    now[0] = 103.0
    for _ in range(2):
        list(log.answered(scripted(now), ASK, admission))
    first, second = log.requests()
    assert (first.asked, first.begun, first.first, first.ended) == (98.0, 100.0, 104.0, 105.0)
    assert first.asked_at == 1_098.0
    assert (second.asked, second.begun, second.first) == (105.0, 105.0, 106.0)
    assert log.totals()["m", "llamacpp"].gaps.sum == 2.0


def test_an_answer_that_is_only_a_call_has_a_first_token() -> None:
    now = [0.0]
    log = RequestLog(lambda: now[0])
    call = ToolCallDelta(0, "look_up", "1", "{"), ToolCall("look_up", "{}", "1")
    admission = log.admission(ModelEntry("m", "M", Path("m")), 0.0)
    list(log.answered(scripted(now, pieces=call), ASK, admission))
    [record] = log.requests()
    assert (record.first, record.last) == (1.0, 2.0)


def test_a_total_that_was_told_never_becomes_less() -> None:
    """A piece of text is not always a token, so the final count may be lower."""
    now = [0.0]
    log = RequestLog(lambda: now[0])
    admission = log.admission(ModelEntry("m", "M", Path("m")), 0.0)
    events = log.answered(scripted(now, generated=1), ASK, admission)
    for _ in range(3):
        next(events)
    assert log.totals()["m", "llamacpp"].tokens.generated == 2
    list(events)
    assert log.totals()["m", "llamacpp"].tokens.generated == 2
    list(log.answered(scripted(now, generated=1), ASK, admission))
    assert log.totals()["m", "llamacpp"].tokens.generated == 2, "1 and 1"


def test_old_requests_are_forgotten_and_the_totals_are_not() -> None:
    now = [0.0]
    log = RequestLog(lambda: now[0])
    list(log.answered(scripted(now), ASK, log.admission(ModelEntry("m", "M", Path("m")), 0.0)))
    now[0] += SPAN_S + 10.0
    assert log.requests() == ()
    assert log.totals()["m", "llamacpp"].ends == {"stop": 1}


def test_who_listens_hears_of_each_end() -> None:
    heard: list[RequestRecord] = []
    now = [0.0]
    log = RequestLog(lambda: now[0])
    log.on_end(heard.append)
    list(log.answered(scripted(now), ASK, log.admission(ModelEntry("m", "M", Path("m")), 0.0)))
    assert heard == list(log.requests())


def scripted(
    now: list[float],
    generated: int = 2,
    pieces: tuple[Event, ...] = (TextDelta("a"), TextDelta("b")),
) -> Generator[Event, None, None]:
    """Yield the events of an answer with these pieces, one each second."""
    yield PromptReady(5, 2)
    for piece in pieces:
        now[0] += 1.0
        yield piece
    mtp = MtpReport("off", False, "")
    yield Done("stop", Usage(5, 2, generated, 512), Timing(0, 0, 0, 0), mtp, 7)
