"""The tree of messages and the prompt made from one of its paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.chats.context.values.summary import prompt_of
from app.chats.history.values.conversation import StoredMessage, path_to
from engines.types import Message, Role


def message(name: str, parent: str | None, role: Role, text: str = "x") -> StoredMessage:
    return StoredMessage(name, "chat", parent, role, text, created=0.0)


TREE = (
    message("q1", None, "user", "one"),
    message("a1", "q1", "assistant", "first"),
    message("a2", "q1", "assistant", "second"),
    message("q2", "a2", "user", "two"),
    message("a3", "q2", "assistant", "third"),
)


def prompted(path: Sequence[StoredMessage], system_prompt: str = "") -> tuple[Message, ...]:
    return prompt_of(path, system_prompt).messages


def test_a_path_follows_one_branch() -> None:
    assert [m.id for m in path_to(TREE, "a3")] == ["q1", "a2", "q2", "a3"]
    assert [m.id for m in path_to(TREE, "a1")] == ["q1", "a1"]
    assert path_to(TREE, None) == ()


def test_a_path_through_a_loop_ends() -> None:
    loop = (message("a", "b", "user"), message("b", "a", "assistant"))
    assert [m.id for m in path_to(loop, "a")] == ["b", "a"]


def test_the_prompt_begins_with_the_system_prompt() -> None:
    prompt = prompted(path_to(TREE, "a2"), "  Be brief. ")
    assert prompt == (
        Message("system", "Be brief."),
        Message("user", "one"),
        Message("assistant", "second"),
    )


def test_a_question_without_an_answer_makes_way_for_the_next() -> None:
    path = (
        message("q1", None, "user", "lost"),
        message("a1", "q1", "assistant", ""),
        message("q2", "a1", "user", "asked again"),
        message("a2", "q2", "assistant", ""),
    )
    assert prompted(path) == (Message("user", "asked again"),)


def test_only_at_the_end_does_reasoning_without_an_answer_count() -> None:
    thought = replace(message("a1", "q1", "assistant", ""), reasoning="Hm")
    asked = message("q1", None, "user", "one")
    assert prompted((asked, thought))[-1] == Message("assistant", "", reasoning="Hm")
    assert prompted((asked, thought, message("q2", "a1", "user", "two"))) == (
        Message("user", "two"),
    )


def test_past_reasoning_goes_with_its_answer() -> None:
    answer = replace(TREE[1], reasoning="Hm")
    prompt = prompted((TREE[0], answer, message("q2", "a1", "user", "two")))
    assert prompt[1] == Message("assistant", "first", reasoning="Hm")


def test_an_answer_that_has_begun_is_the_last_message() -> None:
    assert prompted(path_to(TREE, "a3"))[-1] == Message("assistant", "third")
