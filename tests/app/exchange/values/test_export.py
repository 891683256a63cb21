"""Chats as Markdown and JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from app.chats.history.values.chat import Chat
from app.chats.history.values.conversation import Failure, StoredMessage
from app.exchange.values import chat_page
from app.exchange.values.export import ExportedChat, ExportOptions, as_json, as_markdown

CHAT = Chat("c", "On fire", 1.0, 2.0, "a")
PATH = (
    StoredMessage("q", "c", None, "user", "What burns?", 1.0),
    StoredMessage("a", "c", "q", "assistant", "Wood, so far", 2.0, "interrupted"),
)


def test_markdown_shows_who_said_what_and_what_was_cut_off() -> None:
    assert as_markdown(CHAT, PATH) == (
        "# On fire\n\n## You\n\nWhat burns?\n\n## Assistant (interrupted)\n\nWood, so far\n"
    )


def test_why_an_answer_failed_is_told() -> None:
    failure = Failure("E1", "The model could not be loaded.", "It is too large.", "Close others.")
    path = (PATH[0], replace(PATH[1], state="failed", text="", failure=failure))
    assert as_markdown(CHAT, path).endswith(
        "## Assistant (failed)\n\n> The model could not be loaded. It is too large. Close others.\n"
    )
    begun = (PATH[0], replace(path[1], text="Wood, so"))
    assert "Wood, so\n\n> The model could not be loaded." in as_markdown(CHAT, begun)
    page = chat_page.page([ExportedChat(CHAT, path)], ExportOptions("html"))
    assert "It is too large." in page


def test_json_holds_every_message() -> None:
    value = json.loads(as_json(CHAT, PATH))
    assert value["title"] == "On fire"
    assert [message["id"] for message in value["messages"]] == ["q", "a"]
    assert value["messages"][1]["state"] == "interrupted"
