"""A chat as a text that other programs and people can read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict

from app.core.conversation import Chat, StoredMessage

_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')
_LONGEST_NAME = 80
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


def file_name(title: str) -> str:
    """A title as the name of a file on any system, without an ending."""
    name = " ".join(_NOT_IN_NAMES.sub(" ", title).split())[:_LONGEST_NAME].strip(" .…")
    return name or "Chat"
