"""What every engine does, as tests: derive a class from `EngineContract` and give it an engine.

class TestMyEngine(EngineContract):
    @pytest.fixture
    def engine(self) -> Iterator[Engine]: ...     # nothing loaded; closed afterwards

    @pytest.fixture
    def plan(self) -> LoadPlan: ...               # a small model that ends its answers
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.base import Engine
from engines.cancel import CancelToken
from engines.errors import (
    ContextFull,
    EngineError,
    LoadCancelled,
    MessageTooLong,
    ModelNotFound,
)
from engines.types import (
    ChatRequest,
    Done,
    Event,
    LoadPlan,
    Message,
    MtpReport,
    PromptReady,
    ReasoningDelta,
    Sampling,
    TextDelta,
)

GREEDY = Sampling(temperature=0.0)


def ask(*texts: str, system: str = "", **options: object) -> ChatRequest:
    """A request from texts of user and assistant in turn; greedy, if nothing else is said."""
    messages = [Message("system", system)] if system else []
    for number, text in enumerate(texts):
        messages.append(Message("assistant" if number % 2 else "user", text))
    return replace(ChatRequest(tuple(messages), GREEDY, max_tokens=24), **options)  # type: ignore[arg-type]


def run(engine: Engine, request: ChatRequest, cancel: CancelToken | None = None) -> list[Event]:
    return list(engine.chat(request, cancel or CancelToken()))


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def done_of(events: list[Event]) -> Done:
    assert isinstance(events[-1], Done)
    return events[-1]


def answer(engine: Engine, request: ChatRequest) -> str:
    return text_of(run(engine, request))


class EngineContract:
    """The fixtures `engine` and `plan` come from the class that derives from this one."""

    @pytest.fixture
    def loaded(self, engine: Engine, plan: LoadPlan) -> Iterator[Engine]:
        engine.load(plan, lambda _: None, CancelToken())
        yield engine
        engine.close()

    def test_load_reports_the_model_and_its_progress(self, engine: Engine, plan: LoadPlan) -> None:
        progress: list[float] = []
        report = engine.load(plan, progress.append, CancelToken())
        assert report.context >= plan.context
        assert report.parameters > 0
        assert report.size_bytes > 0
        assert report.load_s > 0
        assert progress == sorted(progress)
        assert progress[-1] == 1.0

    def test_an_answer_is_prompt_then_deltas_then_done(self, loaded: Engine) -> None:
        events = run(loaded, ask("What is Hearth?"))
        assert isinstance(events[0], PromptReady)
        between = [event for event in events[1:-1] if not isinstance(event, MtpReport)]
        assert all(isinstance(event, TextDelta | ReasoningDelta) for event in between)
        assert all(event.text for event in between)  # type: ignore[union-attr]
        done = done_of(events)
        assert done.usage.prompt_tokens == events[0].prompt_tokens
        assert done.usage.cached_tokens == events[0].cached_tokens
        assert 0 < done.usage.completion_tokens <= 24
        assert done.timing.ttft_s > 0
        assert done.timing.decode_tok_s > 0

    def test_greedy_answers_are_the_same_every_time(self, loaded: Engine) -> None:
        request = ask("What is Hearth?")
        first = answer(loaded, request)
        assert first
        assert answer(loaded, request) == first

    def test_a_seed_can_be_repeated(self, loaded: Engine) -> None:
        hot = Sampling(temperature=3.0, top_k=0, top_p=1.0, min_p=0.0)
        # From the same state of the cache: evaluated in another batch size, the last bits of the
        # logits differ, and a near tie may fall the other way.
        answer(loaded, ask("Tell me something.", sampling=hot, max_tokens=1))
        events = run(loaded, ask("Tell me something.", sampling=hot))
        again = replace(hot, seed=done_of(events).seed)
        assert answer(loaded, ask("Tell me something.", sampling=again)) == text_of(events)
        others = {
            answer(loaded, ask("Tell me something.", sampling=replace(hot, seed=seed)))
            for seed in range(3)
        }
        assert len(others) > 1

    def test_it_stops_at_the_number_of_tokens(self, loaded: Engine) -> None:
        done = done_of(run(loaded, ask("What is Hearth?", max_tokens=3)))
        assert (done.finish_reason, done.usage.completion_tokens) == ("length", 3)

    def test_it_ends_before_a_stop_string(self, loaded: Engine) -> None:
        whole = answer(loaded, ask("What is Hearth?"))
        stop = whole[len(whole) // 3 : len(whole) // 3 + 5]
        events = run(loaded, ask("What is Hearth?", stop=(stop,)))
        assert text_of(events) == whole[: whole.index(stop)]
        assert done_of(events).finish_reason == "stop"

    def test_a_second_turn_evaluates_only_what_is_new(self, loaded: Engine) -> None:
        events = run(loaded, ask("What is Hearth?", max_tokens=None))
        first = done_of(events)
        second = done_of(run(loaded, ask("What is Hearth?", text_of(events), "Thank you!")))
        held = first.usage.prompt_tokens + first.usage.completion_tokens
        assert held - 1 <= second.usage.cached_tokens <= held
        assert second.usage.cached_tokens < second.usage.prompt_tokens

    def test_the_system_prompt_is_part_of_the_prompt(self, loaded: Engine) -> None:
        without = done_of(run(loaded, ask("Hello"))).usage.prompt_tokens
        with_it = done_of(run(loaded, ask("Hello", system="Answer in rhymes."))).usage
        assert with_it.prompt_tokens > without

    def test_a_begun_answer_goes_on(self, loaded: Engine) -> None:
        whole = answer(loaded, ask("What is Hearth?"))
        begun = answer(loaded, ask("What is Hearth?", max_tokens=6))
        rest = answer(loaded, ask("What is Hearth?", begun, max_tokens=18))
        assert begun + rest == whole

    def test_the_oldest_turns_leave_a_full_context(self, loaded: Engine, plan: LoadPlan) -> None:
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        events = run(loaded, ask(*turns, "And now?", system="Be brief."))
        usage = done_of(events).usage
        assert usage.left_out > 0
        assert usage.left_out % 2 == 0
        assert usage.prompt_tokens < usage.context
        assert isinstance(events[0], PromptReady)
        assert events[0].left_out == usage.left_out
        assert events[0].left == tuple(range(1, 1 + usage.left_out)), "the first is the system's"

    def test_what_is_pinned_stays(self, loaded: Engine, plan: LoadPlan) -> None:
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        request = ask(*turns, "And now?")
        pinned = replace(request.messages[2], pinned=True)
        messages = (*request.messages[:2], pinned, *request.messages[3:])
        events = run(loaded, replace(request, messages=messages))
        assert isinstance(events[0], PromptReady)
        assert {0, 1, 4, 5} <= set(events[0].left)
        assert not {2, 3} & set(events[0].left), "a turn stays whole"

    def test_too_many_pins_are_said(self, loaded: Engine, plan: LoadPlan) -> None:
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        request = ask(*turns, "And now?")
        messages = tuple(replace(message, pinned=True) for message in request.messages)
        with pytest.raises(ContextFull) as caught:
            run(loaded, replace(request, messages=messages))
        assert "pinned" in caught.value.what
        assert answer(loaded, ask("What is Hearth?"))

    def test_what_may_not_be_left_out_is_an_error(self, loaded: Engine, plan: LoadPlan) -> None:
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        with pytest.raises(ContextFull) as caught:
            run(loaded, ask(*turns, "And now?", overflow="stop"))
        assert f"{plan.context:,}" in caught.value.why
        assert caught.value.what
        assert caught.value.do
        assert answer(loaded, ask("What is Hearth?", overflow="stop"))

    def test_what_is_measured_is_what_is_asked(self, loaded: Engine, plan: LoadPlan) -> None:
        short = ask("What is Hearth?", "An app.", "Really?", system="Be brief.")
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        for request in (short, ask(*turns, "And now?")):
            measured = loaded.measure(request)
            ready = run(loaded, request)[0]
            assert isinstance(ready, PromptReady)
            assert (measured.prompt, measured.left) == (ready.prompt_tokens, ready.left)
            assert len(measured.lengths) == len(request.messages)
            assert abs(sum(measured.lengths) - measured.total) <= len(request.messages)
            assert measured.context == plan.context
        assert measured.total > measured.context

    def test_measuring_waits_for_no_answer_and_changes_none(self, loaded: Engine) -> None:
        request = ask("What is Hearth?", max_tokens=None)
        expected = run(loaded, request)
        other = loaded.measure(ask("Something else entirely?"))
        events = loaded.chat(request, CancelToken())
        seen = [next(events)]
        assert loaded.measure(ask("Something else entirely?")) == other
        seen += list(events)
        assert text_of(seen) == text_of(expected)
        assert done_of(seen).usage.cached_tokens >= done_of(expected).usage.prompt_tokens - 1

    def test_without_a_model_nothing_is_measured(self, engine: Engine) -> None:
        with pytest.raises(EngineError):
            engine.measure(ask("Hello"))

    def test_a_message_longer_than_the_context_is_refused(
        self, loaded: Engine, plan: LoadPlan
    ) -> None:
        with pytest.raises(MessageTooLong):
            run(loaded, ask("many words " * plan.context))
        assert answer(loaded, ask("What is Hearth?"))

    def test_a_cancel_before_the_start_answers_nothing(self, loaded: Engine) -> None:
        cancel = CancelToken()
        cancel.cancel()
        events = run(loaded, ask("What is Hearth?"), cancel)
        assert text_of(events) == ""
        assert done_of(events).finish_reason == "cancelled"

    def test_after_a_cancel_the_next_answer_is_as_ever(self, loaded: Engine) -> None:
        question, follow_up = ask("What is Hearth?"), ask("What is Hearth?", "An app.", "Really?")
        expected = answer(loaded, question), answer(loaded, follow_up)
        cancel = CancelToken()
        other_thread = threading.Thread(target=cancel.cancel)
        seen: list[Event] = []
        for event in loaded.chat(question, cancel):
            seen.append(event)
            if isinstance(event, TextDelta) and not cancel.cancelled:
                other_thread.start()
                other_thread.join()
                shown = len(seen)
        assert done_of(seen).finish_reason == "cancelled"
        assert len(seen) <= shown + 2, "one more step may end, and Done follows"
        assert expected[0].startswith(text_of(seen))
        assert (answer(loaded, question), answer(loaded, follow_up)) == expected

    def test_an_answer_can_be_abandoned(self, loaded: Engine) -> None:
        expected = answer(loaded, ask("What is Hearth?"))
        events = loaded.chat(ask("What is Hearth?"), CancelToken())
        next(event for event in events if isinstance(event, TextDelta))
        events.close()
        assert answer(loaded, ask("What is Hearth?")) == expected

    def test_it_gives_one_answer_at_a_time(self, loaded: Engine) -> None:
        events = loaded.chat(ask("What is Hearth?"), CancelToken())
        next(events)
        with pytest.raises(RuntimeError, match="busy"):
            next(loaded.chat(ask("Hello"), CancelToken()))
        assert text_of(list(events))

    def test_a_cancelled_load_leaves_nothing_loaded(self, engine: Engine, plan: LoadPlan) -> None:
        cancel = CancelToken()
        cancel.cancel()
        with pytest.raises(LoadCancelled):
            engine.load(plan, lambda _: None, cancel)
        with pytest.raises(EngineError):
            run(engine, ask("Hello"))

    def test_a_model_that_is_not_there_is_a_plain_error(
        self, engine: Engine, plan: LoadPlan, tmp_path: Path
    ) -> None:
        with pytest.raises(ModelNotFound) as caught:
            engine.load(
                replace(plan, model=tmp_path / "no-such.gguf"), lambda _: None, CancelToken()
            )
        assert caught.value.what
        assert caught.value.why
        assert caught.value.do

    def test_it_can_be_closed_and_loaded_again(self, loaded: Engine, plan: LoadPlan) -> None:
        expected = answer(loaded, ask("What is Hearth?"))
        loaded.close()
        loaded.close()
        with pytest.raises(EngineError):
            run(loaded, ask("Hello"))
        loaded.load(plan, lambda _: None, CancelToken())
        assert answer(loaded, ask("What is Hearth?")) == expected
