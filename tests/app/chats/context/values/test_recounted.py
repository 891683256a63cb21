"""Recounting a chat after its draft changes: only the draft is counted again."""

from __future__ import annotations

from app.chats.context.values.budget import use_of
from app.chats.context.values.summary import ChatPrompt
from engines.types import Measured, Message

PROMPT = ChatPrompt((Message("user", "One"), Message("assistant", "Two"), Message("user", "")),
                    ("q", "a", ""))  # fmt: skip
USE = use_of(
    PROMPT, Measured((7, 8, 5), 20, 50, 100, (), 20), exact=True, policy="leave_out", draft=""
)


def test_the_draft_is_added_to_what_is_known() -> None:
    now = USE.recounted("Three words more", 6)
    assert now is not None
    assert (now.total, now.prompt, now.draft, now.exact) == (26, 26, "Three words more", True)
    assert [part.tokens for part in now.parts] == [7, 8, 11]
    back = now.recounted("", -6)
    assert back == USE


def test_what_may_push_messages_out_is_measured_whole() -> None:
    assert USE.recounted("long", 30) is not None
    assert USE.recounted("longer", 31) is None
