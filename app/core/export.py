"""A chat as a text that other programs and people can read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from app.core.conversation import Chat, StoredMessage

_SPEAKERS = {"user": "You", "assistant": "Assistant", "system": "System"}


def as_markdown(chat: Chat, path: Iterable[StoredMessage]) -> str:
    """The messages that the chat shows, under headings."""
    parts = [f"# {chat.title}"]
    for message in path:
        speaker = _SPEAKERS[message.role]
        state = "" if message.state == "complete" else f" ({message.state})"
        parts.append(f"## {speaker}{state}\n\n{message.text.strip()}".rstrip())
    return "\n\n".join(parts) + "\n"


def as_json(chat: Chat, messages: Iterable[StoredMessage]) -> str:
    """The whole tree with every branch and every fact, as it lies in the store."""
    value = {**asdict(chat), "messages": [asdict(message) for message in messages]}
    return json.dumps(value, indent=2, ensure_ascii=False)
