"""Tests that every engine passes: derive a class from `EngineContract` and give it an engine.

    class TestMyEngine(EngineContract):
        @pytest.fixture
        def engine(self) -> Iterator[LoadingEngine[Plan]]: ...   # nothing loaded; closed afterwards

        @pytest.fixture
        def plan(self) -> Plan: ...   # a small model that ends its answers

An ability that an engine lacks by its nature is an attribute of the class, false or None; fixtures
without a value here (`foreign`, `reasoned`, `tooled`, `broken`) skip their test, and without
`in_parts` the engine need not say how far it has read a prompt.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.base import LoadingEngine
from engines.cancel import CancelToken
from engines.errors import (
    AdapterUnknown,
    Cancelled,
    ContextFull,
    EngineError,
    MediaUnsupported,
    MessageTooLong,
    ModelNotFound,
)
from engines.types import (
    EngineStatus,
    Event,
    MediaKind,
    Medium,
    MtpReport,
    PromptProgress,
    PromptReady,
    ReasoningDelta,
    Sampling,
    TextDelta,
)
from tests.engines.asking import GREEDY, answer, ask, done_of, run, text_of
from tests.engines.contract_events import EventContract

__all__ = ["GREEDY", "EngineContract", "answer", "ask", "done_of", "run", "text_of"]


Plan = Any
"""The kind of plan that the engine takes."""


class EngineContract(EventContract):
    """The tests; the deriving class has the fixtures `engine` and `plan`."""

    tells_model = True
    """True if it knows the parameters and the size in bytes of its loaded model."""

    repeats_seeds = True
    """True if the same seed gives the same answer."""

    counts_cached = True
    """True if it reports exactly how many tokens of the prompt it found in its cache."""

    continues = True
    """True if it can continue an answer."""

    counts_exactly = True
    """True if it measures exactly as many tokens as the prompt has."""

    refuses_media = False
    """True if it refuses pictures or sounds itself when its model takes none."""

    answers_at_once = 1
    """The number of simultaneous answers; above one, it can be called while it answers."""

    after_cancel = 2
    """The events that may follow a cancel: one step under way, and Done."""

    has_worker = False
    """True if it computes in a separate process."""

    elsewhere = False
    """True if it computes outside this system."""

    cached_again = True
    """True if measuring between two prompts leaves their cache as it was."""

    def several(self, plan: Plan) -> Plan:
        """Return the plan for as many simultaneous answers as the engine gives."""
        return replace(plan, parallel=self.answers_at_once)

    @pytest.fixture
    def missing(self, plan: Plan, tmp_path: Path) -> Plan:
        """Return a plan for a model that does not exist."""
        return replace(plan, model=tmp_path / "no-such.gguf")

    @pytest.fixture
    def in_parts(self, plan: Plan) -> Plan | None:
        """A plan by which the engine reads 200 tokens in parts; None if it does not tell them."""
        return None

    @pytest.fixture
    def loaded(self, engine: LoadingEngine[Plan], plan: Plan) -> Iterator[LoadingEngine[Plan]]:
        engine.load(plan, lambda _: None, CancelToken())
        yield engine
        engine.close()

    def test_load_reports_the_model_and_its_progress(
        self, engine: LoadingEngine[Plan], plan: Plan
    ) -> None:
        progress: list[float] = []
        report = engine.load(plan, progress.append, CancelToken())
        assert report.context >= plan.context
        if self.tells_model:
            assert report.parameters > 0
            assert report.size_bytes > 0
        assert report.load_s > 0
        assert progress == sorted(progress)
        assert progress[-1] == 1.0

    def test_it_says_what_it_is_doing(self, engine: LoadingEngine[Plan], plan: Plan) -> None:
        assert engine.status().state == "stopped"
        seen: list[tuple[float, EngineStatus]] = []
        engine.load(plan, lambda share: seen.append((share, engine.status())), CancelToken())
        assert all(
            status.state == "loading" and share <= status.share <= 1.0
            for share, status in seen
            if share < 1.0
        )
        ready = engine.status()
        assert (ready.state, ready.words, ready.share) == ("ready", "", 0.0)
        assert ready.elsewhere == self.elsewhere
        assert (ready.process > 0) == self.has_worker
        events = engine.chat(ask("What is Hearth?"), CancelToken())
        next(events)
        assert engine.status().state == "ready", "also while it answers"
        events.close()
        engine.close()
        ended = engine.status()
        assert (ended.state, ended.process) == ("stopped", 0)
        assert ended.log or not self.has_worker, "what its worker wrote stays"

    def test_an_answer_is_prompt_then_deltas_then_done(self, loaded: LoadingEngine[Plan]) -> None:
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

    def test_it_says_how_far_it_has_read_a_long_prompt(
        self, engine: LoadingEngine[Plan], plan: Plan, in_parts: Plan | None
    ) -> None:
        """Reading can take minutes, and then nothing else shows that the engine is at work."""
        engine.load(in_parts or plan, lambda _: None, CancelToken())
        events = run(engine, ask("many words " * 100))
        ready = events[0]
        assert isinstance(ready, PromptReady)
        progress = [event for event in events if isinstance(event, PromptProgress)]
        assert events[1 : 1 + len(progress)] == progress, "all of it before the first word"
        assert {event.prompt_tokens for event in progress} <= {ready.prompt_tokens}
        counts = [ready.cached_tokens, *(event.read_tokens for event in progress)]
        assert counts == sorted(set(counts))
        assert counts[-1] < ready.prompt_tokens
        assert all(event.left_s is None or event.left_s > 0 for event in progress)
        assert len(progress) > 1 or in_parts is None
        engine.close()

    def test_greedy_answers_are_the_same_every_time(self, loaded: LoadingEngine[Plan]) -> None:
        request = ask("What is Hearth?")
        first = answer(loaded, request)
        assert first
        assert answer(loaded, request) == first

    def test_a_seed_can_be_repeated(self, loaded: LoadingEngine[Plan]) -> None:
        if not self.repeats_seeds:
            pytest.skip("this engine takes a seed as a wish")
        hot = Sampling(temperature=3.0, top_k=0, top_p=1.0, min_p=0.0)
        # From the same state of the cache: evaluated in another batch size, the last bits of the
        # logits differ, and a near tie may be decided differently.
        answer(loaded, ask("Tell me something.", sampling=hot, max_tokens=1))
        events = run(loaded, ask("Tell me something.", sampling=hot))
        again = replace(hot, seed=done_of(events).seed)
        assert answer(loaded, ask("Tell me something.", sampling=again)) == text_of(events)
        others = {
            answer(loaded, ask("Tell me something.", sampling=replace(hot, seed=seed)))
            for seed in range(3)
        }
        assert len(others) > 1

    def test_it_stops_at_the_number_of_tokens(self, loaded: LoadingEngine[Plan]) -> None:
        done = done_of(run(loaded, ask("What is Hearth?", max_tokens=3)))
        assert (done.finish_reason, done.usage.completion_tokens) == ("length", 3)

    def test_it_ends_before_a_stop_string(self, loaded: LoadingEngine[Plan]) -> None:
        whole = answer(loaded, ask("What is Hearth?"))
        stop = whole[len(whole) // 3 : len(whole) // 3 + 5]
        events = run(loaded, ask("What is Hearth?", stop=(stop,)))
        assert text_of(events) == whole[: whole.index(stop)]
        assert done_of(events).finish_reason == "stop"

    def test_a_second_turn_evaluates_only_what_is_new(self, loaded: LoadingEngine[Plan]) -> None:
        events = run(loaded, ask("What is Hearth?", max_tokens=None))
        first = done_of(events)
        second = done_of(run(loaded, ask("What is Hearth?", text_of(events), "Thank you!")))
        if not self.counts_cached:
            pytest.skip("this engine does not say what it had cached, to the token")
        held = first.usage.prompt_tokens + first.usage.completion_tokens
        assert held - 1 <= second.usage.cached_tokens <= held
        assert second.usage.cached_tokens < second.usage.prompt_tokens

    def test_the_system_prompt_is_part_of_the_prompt(self, loaded: LoadingEngine[Plan]) -> None:
        without = done_of(run(loaded, ask("Hello"))).usage.prompt_tokens
        with_it = done_of(run(loaded, ask("Hello", system="Answer in rhymes."))).usage
        assert with_it.prompt_tokens > without

    def test_a_begun_answer_goes_on(self, loaded: LoadingEngine[Plan]) -> None:
        if not self.continues:
            pytest.skip("this engine begins its answers anew")
        whole = answer(loaded, ask("What is Hearth?"))
        begun = answer(loaded, ask("What is Hearth?", max_tokens=6))
        rest = answer(loaded, ask("What is Hearth?", begun, max_tokens=18))
        assert begun + rest == whole

    def test_the_oldest_turns_leave_a_full_context(
        self, loaded: LoadingEngine[Plan], plan: Plan
    ) -> None:
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        events = run(loaded, ask(*turns, "And now?", system="Be brief."))
        usage = done_of(events).usage
        assert usage.left_out > 0
        assert usage.left_out % 2 == 0
        assert usage.prompt_tokens < usage.context
        assert isinstance(events[0], PromptReady)
        assert events[0].left_out == usage.left_out
        assert events[0].left == tuple(range(1, 1 + usage.left_out)), "the first is the system's"

    def test_what_is_pinned_stays(self, loaded: LoadingEngine[Plan], plan: Plan) -> None:
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        request = ask(*turns, "And now?")
        pinned = replace(request.messages[2], pinned=True)
        messages = (*request.messages[:2], pinned, *request.messages[3:])
        events = run(loaded, replace(request, messages=messages))
        assert isinstance(events[0], PromptReady)
        assert {0, 1, 4, 5} <= set(events[0].left)
        assert not {2, 3} & set(events[0].left), "a turn stays whole"

    def test_too_many_pins_are_said(self, loaded: LoadingEngine[Plan], plan: Plan) -> None:
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        request = ask(*turns, "And now?")
        messages = tuple(replace(message, pinned=True) for message in request.messages)
        with pytest.raises(ContextFull) as caught:
            run(loaded, replace(request, messages=messages))
        assert "pinned" in caught.value.what
        assert answer(loaded, ask("What is Hearth?"))

    def test_what_may_not_be_left_out_is_an_error(
        self, loaded: LoadingEngine[Plan], plan: Plan
    ) -> None:
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        with pytest.raises(ContextFull) as caught:
            run(loaded, ask(*turns, "And now?", overflow="stop"))
        assert f"{plan.context:,}" in caught.value.why
        assert caught.value.what
        assert caught.value.do
        assert answer(loaded, ask("What is Hearth?", overflow="stop"))

    def test_what_is_measured_is_what_is_asked(
        self, loaded: LoadingEngine[Plan], plan: Plan
    ) -> None:
        short = ask("What is Hearth?", "An app.", "Really?", system="Be brief.")
        turns = ["What is this? " * 8, "It is Hearth. " * 8] * (plan.context // 20)
        for request in (short, ask(*turns, "And now?")):
            measured = loaded.measure(request, CancelToken())
            ready = run(loaded, request)[0]
            assert isinstance(ready, PromptReady)
            if self.counts_exactly:
                assert (measured.prompt, measured.left) == (ready.prompt_tokens, ready.left)
            assert len(measured.lengths) == len(request.messages)
            assert abs(sum(measured.lengths) - measured.total) <= len(request.messages)
            assert measured.context == plan.context
        assert measured.total > measured.context

    def test_measuring_waits_for_no_answer_and_changes_none(
        self, loaded: LoadingEngine[Plan]
    ) -> None:
        request = ask("What is Hearth?", max_tokens=None)
        expected = run(loaded, request)
        other = loaded.measure(ask("Something else entirely?"), CancelToken())
        events = loaded.chat(request, CancelToken())
        seen = [next(events)]
        assert loaded.measure(ask("Something else entirely?"), CancelToken()) == other
        seen += list(events)
        assert text_of(seen) == text_of(expected)
        if self.cached_again and self.counts_cached:
            assert done_of(seen).usage.cached_tokens >= done_of(expected).usage.prompt_tokens - 1

    def test_without_a_model_nothing_is_measured(self, engine: LoadingEngine[Plan]) -> None:
        with pytest.raises(EngineError):
            engine.measure(ask("Hello"), CancelToken())

    def test_a_message_longer_than_the_context_is_refused(
        self, loaded: LoadingEngine[Plan], plan: Plan
    ) -> None:
        with pytest.raises(MessageTooLong):
            run(loaded, ask("many words " * plan.context))
        assert answer(loaded, ask("What is Hearth?"))

    def test_a_cancel_before_the_start_answers_nothing(self, loaded: LoadingEngine[Plan]) -> None:
        cancel = CancelToken()
        cancel.cancel()
        events = run(loaded, ask("What is Hearth?"), cancel)
        assert text_of(events) == ""
        assert done_of(events).finish_reason == "cancelled"

    def test_after_a_cancel_the_next_answer_is_as_ever(self, loaded: LoadingEngine[Plan]) -> None:
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
        assert len(seen) <= shown + self.after_cancel, "one more step may end, and Done follows"
        assert expected[0].startswith(text_of(seen))
        assert (answer(loaded, question), answer(loaded, follow_up)) == expected

    def test_an_answer_can_be_abandoned(self, loaded: LoadingEngine[Plan]) -> None:
        expected = answer(loaded, ask("What is Hearth?"))
        events = loaded.chat(ask("What is Hearth?"), CancelToken())
        next(event for event in events if isinstance(event, TextDelta))
        events.close()
        assert answer(loaded, ask("What is Hearth?")) == expected

    def test_it_gives_one_answer_at_a_time(self, loaded: LoadingEngine[Plan]) -> None:
        if self.answers_at_once > 1:
            pytest.skip("this engine gives several answers at once")
        events = loaded.chat(ask("What is Hearth?"), CancelToken())
        next(events)
        with pytest.raises(RuntimeError, match="busy"):
            next(loaded.chat(ask("Hello"), CancelToken()))
        assert text_of(list(events))

    def test_it_gives_several_answers_at_once(
        self, engine: LoadingEngine[Plan], plan: Plan
    ) -> None:
        if self.answers_at_once == 1:
            pytest.skip("this engine gives one answer at a time")
        most = self.answers_at_once
        report = engine.load(self.several(plan), lambda _: None, CancelToken())
        assert report.answers_at_once >= most
        request = ask("What is Hearth?")
        expected = answer(engine, request)
        streams = [engine.chat(request, CancelToken()) for _ in range(most)]
        begun = [[next(events)] for events in streams]
        if report.answers_at_once == most:
            with pytest.raises(RuntimeError, match="busy"):
                next(engine.chat(request, CancelToken()))
        with ThreadPoolExecutor(most) as pool:
            rest: list[list[Event]] = list(pool.map(list, streams))
        for first, others in zip(begun, rest, strict=True):
            assert text_of([*first, *others]) == expected
            assert done_of(others).usage.completion_tokens > 0
        engine.close()

    def test_it_says_how_full_its_cache_is_or_nothing(self, loaded: LoadingEngine[Plan]) -> None:
        assert answer(loaded, ask("What is Hearth?"))
        used = loaded.cache_used()
        assert used is None or 0 <= used <= 1
        loaded.close()
        assert loaded.cache_used() is None

    def test_an_adapter_that_is_not_there_is_refused(self, loaded: LoadingEngine[Plan]) -> None:
        with pytest.raises(AdapterUnknown) as caught:
            run(loaded, ask("What is Hearth?", adapter="law"))
        assert "“law”" in caught.value.what
        assert caught.value.why
        assert caught.value.do
        assert answer(loaded, ask("What is Hearth?"))

    def test_pictures_and_sounds_that_its_model_does_not_take_are_refused(
        self, engine: LoadingEngine[Plan], plan: Plan
    ) -> None:
        if not self.refuses_media:
            pytest.skip("this engine passes them on")
        report = engine.load(plan, lambda _: None, CancelToken())
        kinds: dict[MediaKind, bool | None] = {"image": report.sees, "audio": report.hears}
        refused = [kind for kind, takes in kinds.items() if takes is False]
        assert refused, "what it does not take is asked for here"
        for kind in refused:
            request = ask("What is it?")
            medium = Medium(kind, b"not looked at", "0" * 64)
            message = replace(request.messages[0], media=(medium,))
            with pytest.raises(MediaUnsupported) as raised:
                run(engine, replace(request, messages=(message,)))
            assert all((raised.value.what, raised.value.why, raised.value.do))
        assert answer(engine, ask("What is Hearth?"))

    def test_a_cancelled_load_leaves_nothing_loaded(
        self, engine: LoadingEngine[Plan], plan: Plan
    ) -> None:
        cancel = CancelToken()
        cancel.cancel()
        with pytest.raises(Cancelled):
            engine.load(plan, lambda _: None, cancel)
        assert engine.status().state == "stopped"
        with pytest.raises(EngineError):
            run(engine, ask("Hello"))

    def test_a_model_that_is_not_there_is_a_plain_error(
        self, engine: LoadingEngine[Plan], missing: Plan
    ) -> None:
        with pytest.raises(ModelNotFound) as caught:
            engine.load(missing, lambda _: None, CancelToken())
        assert caught.value.what
        assert caught.value.why
        assert caught.value.do

    def test_it_can_be_closed_and_loaded_again(
        self, loaded: LoadingEngine[Plan], plan: Plan
    ) -> None:
        expected = answer(loaded, ask("What is Hearth?"))
        loaded.close()
        loaded.close()
        with pytest.raises(EngineError):
            run(loaded, ask("Hello"))
        loaded.load(plan, lambda _: None, CancelToken())
        assert answer(loaded, ask("What is Hearth?")) == expected
