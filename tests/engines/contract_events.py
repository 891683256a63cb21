"""Tests of every engine's cancels, errors, reasoning, tools and letters; see `contract`."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from engines.base import Engine
from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.types import (
    ChatRequest,
    Done,
    Event,
    Message,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
)
from tests.engines.asking import answer, ask, done_of, run, text_of
from tests.support.waiting import until


class EventContract:
    """The part of `EngineContract` about events; it needs the fixture `loaded`."""

    cancel_s = 10.0
    """Seconds within which a cancel ends an answer, even on a busy computer."""

    @pytest.fixture
    def foreign(self) -> tuple[ChatRequest, str] | None:
        """Return a request, and its answer in letters of several bytes each."""
        return None

    @pytest.fixture
    def reasoned(self) -> ChatRequest | None:
        """Return a request for which the loaded model reasons before it answers."""
        return None

    @pytest.fixture
    def tooled(self) -> ChatRequest | None:
        """Return a request for which the loaded model calls the offered tool."""
        return None

    @pytest.fixture
    def broken(self, loaded: Engine) -> Callable[[], None] | None:
        """Return a function that makes the current answer fail."""
        return None

    @pytest.fixture
    def at_work(self, loaded: Engine) -> Callable[[], bool]:
        """Return a function that tells if an answer is still being computed."""
        return lambda: False

    def test_a_cancel_ends_the_work(self, loaded: Engine, at_work: Callable[[], bool]) -> None:
        cancel = CancelToken()
        seen: list[Event] = []
        begun = threading.Event()

        def write() -> None:
            for event in loaded.chat(ask("What is Hearth?", max_tokens=None), cancel):
                seen.append(event)
                if isinstance(event, TextDelta):
                    begun.set()
                    # The cancel comes in the middle of the answer, even if the engine is fast.
                    cancel.wait(60)

        writer = threading.Thread(target=write)
        writer.start()
        assert begun.wait(60)
        cancel.cancel()
        writer.join(self.cancel_s)
        assert not writer.is_alive()
        assert done_of(seen).finish_reason == "cancelled"
        until(lambda: not at_work(), self.cancel_s, "whatever computes goes on for nobody")

    def test_letters_of_several_bytes_stay_whole(
        self, loaded: Engine, foreign: tuple[ChatRequest, str] | None
    ) -> None:
        if foreign is None:
            pytest.skip("nothing makes this model write such letters")
        request, expected = foreign
        events = run(loaded, request)
        assert text_of(events) == expected
        deltas = [event.text for event in events if isinstance(event, TextDelta)]
        assert len(deltas) > 1, "it comes in pieces"
        assert not any("\ufffd" in text for text in deltas)

    def test_reasoning_comes_apart_from_the_answer(
        self, loaded: Engine, reasoned: ChatRequest | None
    ) -> None:
        if reasoned is None:
            pytest.skip("this model does not reason")
        events = run(loaded, reasoned)
        kinds = [type(event) for event in events if isinstance(event, ReasoningDelta | TextDelta)]
        assert ReasoningDelta in kinds
        assert kinds == sorted(kinds, key=lambda kind: kind is TextDelta), "it comes before"
        assert "<think>" not in text_of(events)
        assert 0 < done_of(events).usage.reasoning_tokens <= done_of(events).usage.completion_tokens

    def test_a_tool_that_is_offered_can_be_asked_for(
        self, loaded: Engine, tooled: ChatRequest | None
    ) -> None:
        if tooled is None:
            pytest.skip("this model asks for no tools")
        events = run(loaded, tooled)
        calls = [event for event in events if isinstance(event, ToolCall)]
        assert [call.name for call in calls] == [tooled.tools[0].name]
        assert isinstance(json.loads(calls[0].arguments), dict)
        assert done_of(events).finish_reason == "tool"

    def test_a_call_is_told_piece_by_piece(
        self, loaded: Engine, tooled: ChatRequest | None
    ) -> None:
        if tooled is None:
            pytest.skip("this model asks for no tools")
        events = run(loaded, tooled)
        (call,) = [event for event in events if isinstance(event, ToolCall)]
        pieces = [event for event in events if isinstance(event, ToolCallDelta)]
        assert {(it.index, it.name, it.id) for it in pieces} == {(0, call.name, call.id)}
        assert pieces[0].arguments == ""
        assert "".join(it.arguments for it in pieces) == call.arguments
        assert events.index(pieces[-1]) < events.index(call)

    def test_a_conversation_goes_on_with_what_a_tool_gave(
        self, loaded: Engine, tooled: ChatRequest | None
    ) -> None:
        if tooled is None:
            pytest.skip("this model asks for no tools")
        (call,) = [event for event in run(loaded, tooled) if isinstance(event, ToolCall)]
        turns = (
            *tooled.messages,
            Message("assistant", "", calls=(call,)),
            Message("tool", "It is eight.", tool=call.name, call_id=call.id),
        )
        told = replace(tooled, messages=turns, tool_choice="auto", max_tokens=8)
        assert loaded.measure(told, CancelToken()).total > (
            loaded.measure(tooled, CancelToken()).total
        )
        assert done_of(run(loaded, told)).usage.completion_tokens > 0

    def test_an_error_in_the_middle_leaves_what_was_written(
        self, loaded: Engine, broken: Callable[[], None] | None
    ) -> None:
        if broken is None:
            pytest.skip("nothing can break this engine from outside")
        expected = answer(loaded, ask("What is Hearth?", max_tokens=None))
        seen: list[Event] = []

        def write() -> None:
            for event in loaded.chat(ask("What is Hearth?", max_tokens=None), CancelToken()):
                seen.append(event)
                if isinstance(event, TextDelta) and len(seen) < 4:
                    broken()

        with pytest.raises(EngineError) as caught:
            write()
        assert text_of(seen), "it failed in the middle"
        assert expected.startswith(text_of(seen))
        assert not any(isinstance(event, Done) for event in seen)
        assert caught.value.what
        assert caught.value.why
        assert caught.value.do
        assert answer(loaded, ask("What is Hearth?", max_tokens=None)) == expected
