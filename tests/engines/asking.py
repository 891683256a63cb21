"""Requests to an engine for tests, and helpers that read its events."""

from __future__ import annotations

from dataclasses import replace

from engines.base import Engine
from engines.cancel import CancelToken
from engines.types import ChatRequest, Done, Event, Message, Sampling, TextDelta

GREEDY = Sampling(temperature=0.0)


def ask(*texts: str, system: str = "", **options: object) -> ChatRequest:
    """Return a request from texts of user and assistant in turn, greedy by default."""
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
