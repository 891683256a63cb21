"""An answer in progress: the text delivered so far, and the time spent reasoning."""

from __future__ import annotations

from dataclasses import replace

from app.chats.answers.services.in_progress import GrowingAnswer
from app.chats.history.values.conversation import StoredMessage
from engines.types import ReasoningDelta, TextDelta, WasReasoning

EMPTY = StoredMessage("a", "c", "q", "assistant", "", 0.0, state="streaming")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_time_is_from_the_first_thought_to_the_first_word() -> None:
    clock = Clock()
    growing = GrowingAnswer(EMPTY, clock)
    clock.now += 7  # reading the prompt
    growing.add(ReasoningDelta("Hm, "))
    clock.now += 2
    assert growing.reasoning_s == 2
    growing.add(ReasoningDelta("so."))
    clock.now += 1
    growing.add(TextDelta("Yes"))
    clock.now += 60
    growing.add(TextDelta("!"))
    found = growing.with_text(EMPTY)
    assert (found.reasoning, found.text, found.reasoning_s) == ("Hm, so.", "Yes!", 3)


def test_one_that_was_stopped_while_it_thought() -> None:
    clock = Clock()
    growing = GrowingAnswer(EMPTY, clock)
    growing.add(ReasoningDelta("Hm"))
    clock.now += 4
    growing.end()
    clock.now += 9
    stopped = growing.with_text(EMPTY)
    assert stopped.reasoning_s == 4
    again = GrowingAnswer(stopped, clock)
    again.add(ReasoningDelta(", so."))
    clock.now += 1
    again.add(TextDelta("Yes"))
    found = again.with_text(stopped)
    assert (found.reasoning, found.text, found.reasoning_s) == ("Hm, so.", "Yes", 5)


def test_text_that_turns_out_to_be_reasoning() -> None:
    clock = Clock()
    growing = GrowingAnswer(EMPTY, clock)
    growing.add(TextDelta("Hm, "))
    clock.now += 3
    growing.add(TextDelta("so."))
    growing.add(WasReasoning())
    growing.add(TextDelta("Yes"))
    found = growing.with_text(EMPTY)
    assert (found.reasoning, found.text, found.reasoning_s) == ("Hm, so.", "Yes", 3)


def test_without_thoughts_no_time_is_counted() -> None:
    growing = GrowingAnswer(EMPTY, Clock())
    growing.add(TextDelta("Yes"))
    assert growing.with_text(EMPTY).reasoning_s == 0


def test_who_has_heard_a_part_is_told_that_part_alone() -> None:
    growing = GrowingAnswer(replace(EMPTY, text="So: ", reasoning="First. "), Clock())
    for event in (ReasoningDelta("Hm, "), ReasoningDelta("so."), TextDelta("Yes"), TextDelta("!")):
        growing.add(event)
    heard = [growing.with_text(EMPTY, count) for count in (0, 4, 7, 10, 11)]
    assert [(it.reasoning, it.text) for it in heard] == [
        ("First. ", "So: "),
        ("First. Hm, ", "So: "),
        ("First. Hm, so.", "So: "),
        ("First. Hm, so.", "So: Yes"),
        ("First. Hm, so.", "So: Yes!"),
    ]
    assert growing.with_text(EMPTY) == growing.with_text(EMPTY, 11)


def test_text_is_reasoning_only_for_who_has_heard_all_of_it() -> None:
    growing = GrowingAnswer(EMPTY, Clock())
    for event in (TextDelta("Hm, "), TextDelta("so."), WasReasoning(), TextDelta("Yes")):
        growing.add(event)
    heard = [growing.with_text(EMPTY, count) for count in (4, 7, 10)]
    assert [(it.reasoning, it.text) for it in heard] == [
        ("", "Hm, "),
        ("Hm, so.", ""),
        ("Hm, so.", "Yes"),
    ]
