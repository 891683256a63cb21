"""Which summary covers which part of a path, and the prompt that results."""

from __future__ import annotations

from dataclasses import replace

from app.chats.context.values.summary import (
    INTRODUCTION,
    Summary,
    covered,
    in_effect,
    prompt_of,
    summed_up,
)
from app.chats.history.values.conversation import StoredMessage
from engines.types import Message


def turns(count: int) -> tuple[StoredMessage, ...]:
    path: list[StoredMessage] = []
    for number in range(count):
        parent = path[-1].id if path else None
        path.append(StoredMessage(f"q{number}", "c", parent, "user", f"ask {number}", 0.0))
        path.append(StoredMessage(f"a{number}", "c", f"q{number}", "assistant", f"say {number}", 0))
    return tuple(path)


PATH = turns(4)


def summary(
    message_id: str, text: str = "short", path: tuple[StoredMessage, ...] = PATH
) -> Summary:
    return Summary(message_id, text, "m", 3, 0.0, covered(path, message_id))


def test_the_one_that_covers_most_is_in_effect() -> None:
    first, second = summary("a0"), summary("a2")
    assert in_effect(PATH, [second, first]) == second
    assert in_effect(PATH[:4], [second, first]) == first, "another branch, from the same beginning"
    assert in_effect(PATH[2:], [first, second]) is None


def test_a_change_makes_void_what_covers_it() -> None:
    first, second = summary("a0"), summary("a2")
    changed = tuple(replace(it, text="other") if it.id == "a1" else it for it in PATH)
    assert in_effect(changed, [first, second]) == first
    without = tuple(it for it in PATH if it.id not in {"q1", "a1"})
    assert in_effect(without, [first, second]) == first
    behind = (*PATH[:-1], replace(PATH[-1], text="other"))
    assert in_effect(behind, [first, second]) == second


def test_it_stands_for_what_it_covers() -> None:
    prompt = prompt_of(PATH, " Be brief. ", summary("a1"))
    assert prompt.messages[:2] == (
        Message("system", "Be brief."),
        Message("system", f"{INTRODUCTION}\nshort"),
    )
    assert [message.text for message in prompt.messages[2:]] == ["ask 2", "say 2", "ask 3", "say 3"]
    assert prompt.ids == ("", "", "q2", "a2", "q3", "a3")
    assert [it.id for it in summed_up(PATH, summary("a1"))] == ["q0", "a0", "q1", "a1"]


def test_a_pinned_turn_stays_beside_it() -> None:
    path = tuple(replace(it, pinned=it.id == "a0") for it in PATH)
    held = summary("a1", path=path)
    assert prompt_of(path, "", held).ids == ("", "q0", "a0", "q2", "a2", "q3", "a3")
    assert [it.id for it in summed_up(path, held)] == ["q1", "a1"]


def test_without_one_everything_is_asked() -> None:
    prompt = prompt_of(PATH, "")
    assert prompt.ids == tuple(it.id for it in PATH)
    assert summed_up(PATH, None) == ()
