"""The generators between the decoder and the window: they are few, and all are closed."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from pytestqt.qtbot import QtBot

from app.chats.answers.values.answers import AnswerOptions
from app.models.library.values.entry import STARTER
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.llamacpp.decoder import Decoding, DrawnRun
from engines.llamacpp.sampling import Greedy
from engines.types import TextDelta
from tests.support.desks import Desk, a_desk
from tests.support.houses import House, a_house

MOST = 5


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    with a_house(tmp_path) as house, a_desk(house, qtbot, tmp_path) as made:
        yield made


def generators() -> list[str]:
    """Return the names of the generators that run below the caller, innermost first."""
    found = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_flags & inspect.CO_GENERATOR:
            found.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return found


def test_a_token_passes_few_generators_from_the_decoder_to_the_window(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    deliver = Decoding.deliver

    def delivered(self: Decoding, run: DrawnRun, number: int) -> int:
        seen.append(generators())
        return deliver(self, run, number)

    monkeypatch.setattr(Decoding, "deliver", delivered)
    desk.until_ended(desk.ask(STARTER))
    assert len(seen) > 1
    for way in seen:
        assert way[0] == "Scheduler.tokens"
        assert way[-1] == "Answers.write", "who comes after it receives, and hands on no further"
        assert len(way) <= MOST, " → ".join(way)


def test_an_answer_that_is_left_in_the_middle_is_saved_and_lets_go_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[Greedy] = []

    def close(sampler: Greedy) -> None:
        closed.append(sampler)

    monkeypatch.setattr(Greedy, "close", close)
    with a_house(tmp_path) as house:
        chat_id = left_in_the_middle(house)
        stored = house.chats.path(chat_id)[-1]
        assert (stored.state, bool(stored.text)) == ("interrupted", True)
        assert len(closed) == 1
        assert not house.runtime.queue.in_use("llamacpp")
        assert house.ask(None, "And now?", STARTER).state == "complete"


def left_in_the_middle(house: House) -> str:
    _, answer = house.chats.ask(None, "What is Hearth?")
    options = AnswerOptions({"model": STARTER, "temperature": 0.0})
    events = house.answers.write(answer, Settings(), options, lambda _: None, CancelToken())
    next(event for event in events if isinstance(event, TextDelta))
    events.close()
    return answer.chat_id
