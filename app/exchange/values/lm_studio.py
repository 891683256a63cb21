"""Chats of LM Studio: a `….conversation.json` for each, in its folder of conversations.

A message has versions, one of them selected. An answer can have steps; those in the style
"thinking" are reasoning. LM Studio is closed and publishes no description of the format, so the
fields are those that other programs reading or writing such files agree on. How it stores tool
calls is uncertain: parts with the types that its SDK uses for them are counted wherever they occur.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.exchange.values import wording
from app.exchange.values.found import (
    Broken,
    FoundChat,
    FoundMessage,
    FoundRole,
    check_size,
    damaged,
)
from app.exchange.values.json_values import as_dict, as_id, as_list, as_number, as_text, as_time
from engines.sentences import N_

SOURCE = N_("LM Studio")
_SYSTEM_PROMPT = "llm.prediction.systemPrompt"
_MARKS = ("perChatPredictionConfig", "usePerChatPredictionConfig", "lastUsedModel")
_EXAMINED = 20
"""Messages checked to recognise a file; some of them can be damaged."""
_TOOLS = ("toolCallRequest", "toolCallResult")


def is_chat(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a chat of LM Studio."""
    messages = as_list(value.get("messages"))
    if any(isinstance(as_dict(message).get("versions"), list) for message in messages[:_EXAMINED]):
        return True
    return any(name in value for name in _MARKS)


def read(value: Mapping[str, Any]) -> FoundChat:
    """Read one conversation. Raises Broken."""
    if not isinstance(value.get("messages"), list):
        raise Broken(N_("Its list of messages is missing or damaged."))
    messages = _messages(value)
    created = as_time(value.get("createdAt"))
    # The file has no id of its own; no two chats begin in the same millisecond.
    name = as_id(value.get("createdAt"))
    if created is None or not name:
        name = "\n".join([as_text(value.get("name")), *(message.text for message in messages[:4])])
    if not messages:
        raise Broken(N_("It has no messages."))
    return FoundChat(
        source=SOURCE,
        id=name,
        title=as_text(value.get("name")),
        created=created,
        updated=as_time(value.get("assistantLastMessagedAt"))
        or as_time(value.get("userLastMessagedAt")),
        messages=messages,
        leaf=_last_selected(value),
        system_prompt=_system_prompt(value),
        pinned=value.get("pinned") is True,
        damage=damaged(_damaged(value)),
    )


def _messages(value: Mapping[str, Any]) -> tuple[FoundMessage, ...]:
    model = as_text(as_dict(value.get("lastUsedModel")).get("identifier"))
    found: list[FoundMessage] = []
    parent: str | None = None
    check_size(as_list(value.get("messages")))
    for place, message in enumerate(as_list(value.get("messages"))):
        check_size(as_list(as_dict(message).get("versions")))
        check_size(found)
        versions = as_list(as_dict(message).get("versions"))
        for number, version in enumerate(versions):
            found.append(_version(f"{place}.{number}", parent, as_dict(version), model))
        if versions:
            parent = f"{place}.{_selected(as_dict(message))}"
    return tuple(found)


def _damaged(value: Mapping[str, Any]) -> int:
    """Count the messages without a readable selected version."""
    messages = map(as_dict, as_list(value.get("messages")))
    return sum(
        not versions or not _is_complete(as_dict(versions[_selected(message)]))
        for message in messages
        for versions in [as_list(message.get("versions"))]
    )


def _is_complete(version: Mapping[str, Any]) -> bool:
    content = version.get("steps") if "steps" in version else version.get("content")
    if not as_text(version.get("role")) or not isinstance(content, list | str):
        return False
    return isinstance(content, str) or all(_is_part(as_dict(part)) for part in content)


def _is_part(part: Mapping[str, Any]) -> bool:
    """Return whether a part or a step of a version has the content that its type needs."""
    match as_text(part.get("type")):
        case "":
            return False
        case "text":
            return isinstance(part.get("text"), str)
        case "contentBlock":
            inner = part.get("content")
            return isinstance(inner, list | str) and all(_is_part(as_dict(part)) for part in inner)
    return True


def _selected(message: Mapping[str, Any]) -> int:
    count = len(as_list(message.get("versions")))
    return min(max(0, int(as_number(message.get("currentlySelected")))), max(0, count - 1))


def _last_selected(value: Mapping[str, Any]) -> str | None:
    messages = as_list(value.get("messages"))
    return f"{len(messages) - 1}.{_selected(as_dict(messages[-1]))}" if messages else None


def _version(
    name: str, parent: str | None, version: Mapping[str, Any], usual_model: str
) -> FoundMessage:
    role = as_text(version.get("role"))
    texts, reasoning = [_text(version.get("content"))], []
    model, stopped, tools = usual_model, False, 0
    model = as_text(as_dict(version.get("senderInfo")).get("senderName")) or model
    for step in map(as_dict, as_list(version.get("steps"))):
        if as_text(step.get("type")) != "contentBlock":
            continue
        tools += sum(as_dict(part).get("type") in _TOOLS for part in as_list(step.get("content")))
        style = as_dict(step.get("style"))
        if as_text(style.get("type")) == "thinking":
            reasoning.append(_text(step.get("content")))
        else:
            texts.append(_text(step.get("content")))
        info = as_dict(step.get("genInfo"))
        model = as_text(info.get("identifier")) or model
        stopped = as_text(as_dict(info.get("stats")).get("stopReason")) == "userStopped"
    text, inline = wording.without_reasoning("\n\n".join(filter(None, texts)))
    known: dict[str, FoundRole] = {"user": "user", "assistant": "assistant", "system": "system"}
    return FoundMessage(
        id=name,
        parent=parent,
        role=known.get(role, "tool"),
        text=text,
        reasoning="\n\n".join(filter(None, [*reasoning, inline])),
        model=model,
        stopped=stopped,
        tools=tools,
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return as_text(content)
    parts = []
    for part in map(as_dict, as_list(content)):
        if as_text(part.get("type")) == "text":
            parts.append(as_text(part.get("text")))
        elif as_text(part.get("type")) == "file":
            name = as_text(part.get("fileName")) or as_text(part.get("fileIdentifier"))
            is_picture = as_text(part.get("fileType")) == "image"
            parts.append(wording.picture(name) if is_picture else wording.file(name))
    return "\n\n".join(filter(None, parts))


def _system_prompt(value: Mapping[str, Any]) -> str:
    fields = as_list(as_dict(value.get("perChatPredictionConfig")).get("fields"))
    for field in map(as_dict, fields):
        if field.get("key") == _SYSTEM_PROMPT and as_text(field.get("value")):
            return as_text(field.get("value"))
    return as_text(value.get("systemPrompt"))
