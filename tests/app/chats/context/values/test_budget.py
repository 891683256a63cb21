"""The budget of a chat's context: its parts, estimates, and when a warning is due."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.chats.context.values.budget import ContextUse, bytes_per_token, estimate, use_of
from app.chats.context.values.summary import ChatPrompt
from app.chats.history.values.conversation import AnswerFacts, OverflowPolicy, StoredMessage
from engines.types import Measured, Message

MESSAGES = (
    Message("system", "s"),
    Message("user", "a" * 400),
    Message("assistant", "b" * 400),
    Message("user", "draft"),
)
PROMPT = ChatPrompt(MESSAGES, ("", "q", "a", ""))


def use(
    total: int = 300,
    prompt: int = 300,
    policy: OverflowPolicy = "leave_out",
    left: tuple[int, ...] = (),
    exact: bool = True,
) -> ContextUse:
    measured = Measured((5, 140, 140, 15), total, 100, 1000, left, prompt)
    return use_of(PROMPT, measured, exact=exact, policy=policy, draft="draft")


def test_parts_say_what_they_are() -> None:
    found = use(left=(1, 2))
    assert [part.place for part in found.parts] == ["system", "message", "message", "draft"]
    assert found.left == ("q", "a")
    assert found.tokens_of("message") == 0
    assert found.tokens_of("system") == 5
    assert use(left=(1, 2), policy="stop").left == (), "nothing is left out: nothing is sent"


def test_room_is_kept_for_the_answer() -> None:
    assert use(total=900).fits
    assert not use(total=901).fits


@pytest.mark.parametrize(
    ("policy", "total", "prompt", "told", "asks"),
    [
        ("leave_out", 900, 900, False, False),
        ("leave_out", 950, 500, False, True),
        ("leave_out", 950, 500, True, False),
        ("leave_out", 1200, 1000, True, True),
        ("compact", 950, 500, False, False),
        ("compact", 1200, 1000, False, True),
        ("stop", 900, 900, False, False),
        ("stop", 950, 500, True, True),
    ],
)
def test_when_a_warning_is_due(
    policy: OverflowPolicy, total: int, prompt: int, told: bool, asks: bool
) -> None:
    assert use(total, prompt, policy).asks_first(user_knows=told) is asks


def test_what_is_about_has_to_be_clearly_too_much() -> None:
    assert not use(950, 500, exact=False).asks_first(user_knows=False)
    assert use(1100, 500, exact=False).asks_first(user_knows=False)


def test_a_draft_counts_at_once() -> None:
    before = use()
    after = before.with_draft("draft" + " and more" * 40)
    assert 60 < after.total - before.total < 180
    assert not after.exact
    assert before.with_draft("draft") is before
    assert after.with_draft("draft").total == before.total


def test_an_estimate_leaves_out_as_an_engine_does() -> None:
    many = [Message("assistant" if at % 2 else "user", "word " * 40) for at in range(21)]
    found = estimate(many, 512, None, 4.0)
    assert found.total > 512 > found.prompt
    assert found.left == tuple(range(len(found.left)))
    assert estimate(many[:3], 512, None, 4.0).left == ()


def test_a_chat_says_how_long_its_tokens_are() -> None:
    answer = StoredMessage("a", "c", None, "assistant", "水" * 100, 0.0)
    counted = replace(answer, facts=AnswerFacts("m", "e", completion_tokens=150))
    assert bytes_per_token([counted]) == 2.0
    assert bytes_per_token([answer]) == 4.0


@pytest.mark.parametrize("policy", ["leave_out", "compact", "stop"])
@pytest.mark.parametrize("exact", [True, False])
def test_where_a_server_does_not_tell_its_context_nobody_is_warned(
    policy: OverflowPolicy, exact: bool
) -> None:
    """Hearth used to say that 37 of 0 tokens were too many, and sent nothing."""
    measured = estimate(MESSAGES, 0, None, 4.0)
    assert (measured.context, measured.left) == (0, ())
    unknown = use_of(PROMPT, measured, exact=exact, policy=policy, draft="draft")
    assert unknown.fits
    assert unknown.possible
    assert not unknown.asks_first(user_knows=False)
    assert not unknown.with_draft("x" * 500_000).asks_first(user_knows=False)
