"""Pure decisions: the reusable part of the KV cache, the turns to leave out, and the seed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from engines.conversation import answer_room, cuts, pinned, removable, without
from engines.llamacpp.cache import reusable
from engines.llamacpp.sampling import actual_seed
from engines.types import Message, Sampling


def kept(held: str, prompt: str, first: int = 0, window: int = 0, recurrent: bool = False) -> int:
    return reusable(
        [ord(char) for char in held],
        [ord(char) for char in prompt],
        first_position=first,
        sliding_window=window,
        recurrent=recurrent,
    )


@pytest.mark.parametrize(
    ("held", "prompt", "expected"),
    [
        ("", "abc", 0),
        ("abc", "abcd", 3),
        ("abc", "abc", 2),
        ("abcdef", "abc", 2),
        ("abcdef", "abx", 2),
        ("abc", "xyz", 0),
    ],
)
def test_the_common_beginning_is_kept(held: str, prompt: str, expected: int) -> None:
    assert kept(held, prompt) == expected


@pytest.mark.parametrize(("first", "expected"), [(0, 6), (2, 6), (3, 0)])
def test_a_cut_needs_the_whole_window_before_it(first: int, expected: int) -> None:
    assert kept("abcdefgh", "abcdefX", first, window=4) == expected


def test_an_extension_needs_no_window() -> None:
    assert kept("abcdefgh", "abcdefghi", first=7, window=2) == 8


def test_a_recurrent_state_only_goes_forward() -> None:
    assert kept("abcd", "abcde", recurrent=True) == 4
    assert kept("abcd", "abcd", recurrent=True) == 0


def conversation(turns: int, system: bool = True) -> list[Message]:
    messages = [Message("system", "s")] if system else []
    for _ in range(turns):
        messages += [Message("user", "u"), Message("assistant", "a")]
    return [*messages, Message("user", "u")]


def test_system_prompt_and_last_question_stay() -> None:
    assert removable(conversation(2)) == range(1, 5)
    assert removable(conversation(2, system=False)) == range(4)
    assert removable([*conversation(2), Message("assistant", "begun")]) == range(1, 5)
    assert not removable(conversation(0))


def test_whole_turns_leave() -> None:
    messages = conversation(4)
    first, second = cuts(messages, [10] * 10, room=90, context=100)
    assert (first, second) == ((1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 6, 7, 8))
    assert cuts(messages, [10] * 10, room=10, context=100) == [second]
    assert without(messages, second) == (messages[0], messages[9])


def pin(messages: list[Message], *places: int) -> list[Message]:
    return [replace(m, pinned=at in places) for at, m in enumerate(messages)]


def test_a_pin_keeps_its_whole_turn() -> None:
    messages = pin(conversation(4), 4)
    assert pinned(messages) == [3, 4]
    (first, *_) = cuts(messages, [10] * 10, room=90, context=100)
    assert first == (1, 2, 5, 6)
    assert cuts(messages, [10] * 10, room=10, context=100) == [(1, 2, 5, 6, 7, 8)]


def test_where_everything_is_pinned_nothing_leaves() -> None:
    messages = pin(conversation(2), 1, 3)
    assert cuts(messages, [10] * 6, room=10, context=100) == [()]


def test_a_pin_of_what_stays_anyway_changes_nothing() -> None:
    messages = conversation(4)
    expected = cuts(messages, [10] * 10, room=90, context=100)
    assert cuts(pin(messages, 0, 9), [10] * 10, room=90, context=100) == expected


def test_the_cut_stays_while_the_conversation_grows() -> None:
    first = []
    for turns in range(10, 40):
        messages = conversation(turns)
        lengths = [7 + number % 5 for number in range(len(messages))]
        (left, *_) = cuts(messages, lengths, room=150, context=200)
        assert sum(lengths) - sum(lengths[at] for at in left) <= 150
        first.append(len(left))
    assert first == sorted(first)
    assert sum(before != after for before, after in pairwise(first)) < 8


def test_with_pins_the_cut_stays_as_well() -> None:
    seen = []
    for turns in range(10, 40):
        messages = pin(conversation(turns), 3, 8)
        lengths = [7 + number % 5 for number in range(len(messages))]
        (left, *_) = cuts(messages, lengths, room=150, context=200)
        assert not {3, 4, 7, 8} & set(left)
        assert sum(lengths) - sum(lengths[at] for at in left) <= 150
        seen.append(left)
    assert sum(before != after for before, after in pairwise(seen)) < 10


def test_room_for_an_answer() -> None:
    assert answer_room(8192, None) == 1024
    assert answer_room(512, None) == 128
    assert answer_room(8192, 50) == 50


def test_seeds() -> None:
    assert actual_seed(Sampling(seed=5)) == 5
    assert actual_seed(Sampling(seed=0xFFFFFFFF)) != 0xFFFFFFFF
    assert actual_seed(Sampling(seed=-1)) >= 0
    assert len({actual_seed(Sampling()) for _ in range(5)}) > 1
