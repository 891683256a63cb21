"""Chats as Markdown and JSON."""

from __future__ import annotations

import json

from app.core.chats.chat import Chat
from app.core.chats.conversation import StoredMessage
from app.core.exchange.export import as_json, as_markdown

CHAT = Chat("c", "On fire", 1.0, 2.0, "a")
PATH = (
    StoredMessage("q", "c", None, "user", "What burns?", 1.0),
    StoredMessage("a", "c", "q", "assistant", "Wood, so far", 2.0, "interrupted"),
)


def test_markdown_shows_who_said_what_and_what_was_cut_off() -> None:
    assert as_markdown(CHAT, PATH) == (
        "# On fire\n\n## You\n\nWhat burns?\n\n## Assistant (interrupted)\n\nWood, so far\n"
    )


def test_json_holds_every_message() -> None:
    value = json.loads(as_json(CHAT, PATH))
    assert value["title"] == "On fire"
    assert [message["id"] for message in value["messages"]] == ["q", "a"]
    assert value["messages"][1]["state"] == "interrupted"
