"""Joining the engine's events into batches for the window."""

from __future__ import annotations

from app.chats.answers.presenters.batches import joined
from app.chats.answers.values.answers import AnswerEvent, Ended
from app.chats.history.values.conversation import StoredMessage
from engines.types import (
    Done,
    MtpReport,
    PromptProgress,
    PromptReady,
    ReasoningDelta,
    TextDelta,
    Timing,
    Usage,
)

ENDED = Ended(StoredMessage("a", "c", "q", "assistant", "", 0.0))


def report(depth: int) -> MtpReport:
    return MtpReport("auto", active=True, reason="", depth=depth)


def test_neighbours_are_joined_in_their_order() -> None:
    events: list[AnswerEvent] = [
        PromptReady(1, 0),
        ReasoningDelta("a"),
        ReasoningDelta("b"),
        TextDelta("c"),
        report(1),
        TextDelta("d"),
        ReasoningDelta("e"),
    ]
    assert joined(events) == [
        PromptReady(1, 0),
        ReasoningDelta("ab"),
        TextDelta("cd"),
        ReasoningDelta("e"),
        report(1),
    ]


def test_of_the_progress_of_reading_only_the_last_is_kept() -> None:
    events: list[AnswerEvent] = [PromptProgress(1, 9), PromptProgress(5, 9), TextDelta("a")]
    assert joined(events) == [PromptProgress(5, 9), TextDelta("a")]


def test_of_the_reports_the_last_is_left_and_an_end_stays_the_end() -> None:
    done = Done("stop", Usage(1, 0, 1, 9), Timing(0, 0, 0, 0), report(3), 7)
    assert joined([report(1), TextDelta("x"), report(2), done, ENDED]) == [
        TextDelta("x"),
        report(3),
        ENDED,
    ]
    assert joined([ENDED]) == [ENDED]
    assert joined([]) == []
