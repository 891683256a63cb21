"""Chats of ChatGPT: `conversations.json` of the export that it sends its users.

A conversation is a tree under `mapping`, and `current_node` the end of the path that is shown.
There is no published description; the fields are those that exports of 2023 to 2026 have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.core.exchange import wording
from app.core.exchange.found import Broken, FoundChat, FoundMessage, FoundRole
from app.core.exchange.plain import as_dict, as_id, as_list, as_number, as_text, as_time

SOURCE = "ChatGPT"
_ROLES: Mapping[str, FoundRole] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}


def is_ours(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("mapping"), dict)


def read(value: Mapping[str, Any]) -> FoundChat:
    """One conversation. Raises Broken."""
    mapping = as_dict(value.get("mapping"))
    name = as_id(value.get("conversation_id")) or as_id(value.get("id"))
    name = name or as_id(value.get("current_node")) or next(iter(mapping), "")
    if not name:
        raise Broken("Its tree of messages is empty.")
    model = as_text(value.get("default_model_slug"))
    return FoundChat(
        source=SOURCE,
        id=name,
        title=as_text(value.get("title")),
        created=as_time(value.get("create_time")),
        updated=as_time(value.get("update_time")),
        messages=tuple(_message(key, as_dict(node), model) for key, node in mapping.items()),
        leaf=as_text(value.get("current_node")) or None,
        pinned=value.get("is_starred") is True,
        archived=value.get("is_archived") is True,
    )


def _message(key: str, node: Mapping[str, Any], usual_model: str) -> FoundMessage:
    message = as_dict(node.get("message"))
    role = _ROLES.get(as_text(as_dict(message.get("author")).get("role")), "system")
    metadata = as_dict(message.get("metadata"))
    text, reasoning = _told(as_dict(message.get("content")))
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    if role == "tool" and wording.picture() in text:
        role, text = "assistant", wording.picture()
    if hidden and role != "tool":
        text = reasoning = ""
    return FoundMessage(
        id=key,
        parent=as_text(node.get("parent")) or None,
        role=role,
        text=text,
        created=as_time(message.get("create_time")),
        reasoning=reasoning,
        reasoning_s=as_number(metadata.get("finished_duration_sec")),
        model=as_text(metadata.get("model_slug")) or usual_model,
        stopped=as_text(message.get("status")) == "finished_partial_completion",
    )


def _told(content: Mapping[str, Any]) -> tuple[str, str]:
    """What a message says, and what was reasoned."""
    match as_text(content.get("content_type")):
        case "thoughts":
            thoughts = [as_dict(it) for it in as_list(content.get("thoughts"))]
            told = (
                "\n\n".join(filter(None, (as_text(it.get("summary")), as_text(it.get("content")))))
                for it in thoughts
            )
            return "", "\n\n".join(told)
        case "reasoning_recap" | "model_editable_context":
            return "", ""
        case "code":
            language = as_text(content.get("language"))
            text = as_text(content.get("text"))
            return wording.fenced(text, "" if language == "unknown" else language), ""
        case "user_editable_context":
            about = (content.get("user_profile"), content.get("user_instructions"))
            return "\n\n".join(filter(None, map(as_text, about))), ""
    parts = [_part(part) for part in as_list(content.get("parts"))]
    return "\n\n".join(filter(None, parts)) or as_text(content.get("text")), ""


def _part(part: object) -> str:
    if isinstance(part, str):
        return as_text(part)
    kind = as_text(as_dict(part).get("content_type"))
    if "image" in kind:
        return wording.picture()
    if kind == "audio_transcription":
        return as_text(as_dict(part).get("text"))
    if "audio" in kind or "video" in kind:
        return wording.sound()
    return as_text(as_dict(part).get("text"))
