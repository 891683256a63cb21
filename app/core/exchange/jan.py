"""Chats of Jan: a folder each, with `thread.json` and `messages.jsonl`.

Fields as Jan's `core/src/types/thread` and `core/src/types/message` have them. Times are in
milliseconds in older folders, in seconds in newer ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.core.exchange import wording
from app.core.exchange.found import FoundChat, FoundMessage, FoundRole
from app.core.exchange.plain import as_dict, as_id, as_list, as_text, as_time, from_json

SOURCE = "Jan"
_ROLES: Mapping[str, FoundRole] = {"user": "user", "assistant": "assistant", "system": "system"}


def is_thread(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("assistants"), list) or value.get("object") == "thread"


def is_messages(text: str) -> bool:
    """Whether a text begins with a line that is a message of a thread."""
    first = next((line for line in text[:200_000].split("\n") if line.strip()), "")
    try:
        value = as_dict(from_json(first))
    except ValueError:
        return False
    return "thread_id" in value and "role" in value


def lines(text: str) -> tuple[list[Mapping[str, Any]], int]:
    """The messages of a file, one a line, and how many lines could not be read."""
    found: list[Mapping[str, Any]] = []
    broken = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            value = from_json(line)
        except ValueError:
            value = None
        if isinstance(value, dict):
            found.append(value)
        else:
            broken += 1
    return found, broken


def read(
    thread: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], broken: int = 0
) -> FoundChat:
    """One thread; `thread` is empty where its file is missing. broken: lines that are lost."""
    assistant = as_dict(next(iter(as_list(thread.get("assistants"))), None))
    model = as_text(as_dict(assistant.get("model")).get("id"))
    first = messages[0] if messages else {}
    title = as_text(thread.get("title")) or as_text(as_dict(thread.get("metadata")).get("title"))
    return FoundChat(
        source=SOURCE,
        id=as_id(thread.get("id")) or as_id(first.get("thread_id")) or as_id(first.get("id")),
        title=title,
        created=as_time(thread.get("created")),
        updated=as_time(thread.get("updated")),
        messages=tuple(_in_a_row(messages, model)),
        system_prompt=as_text(assistant.get("instructions")),
        left_out={"damaged messages": broken} if broken else {},
    )


def _in_a_row(messages: Iterable[Mapping[str, Any]], usual_model: str) -> list[FoundMessage]:
    found: list[FoundMessage] = []
    for place, value in enumerate(messages):
        texts, reasoning = [as_text(value.get("content"))], []
        for part in map(as_dict, as_list(value.get("content"))):
            told = as_dict(part.get("text"))
            text = as_text(told.get("value")) or as_text(part.get("text"))
            kind = as_text(part.get("type"))
            if kind == "reasoning":
                reasoning.append(text)
            else:
                texts.append(wording.picture() if kind == "image_url" else text)
        text, inline, _ = wording.without_reasoning("\n\n".join(filter(None, texts)))
        metadata = as_dict(value.get("metadata"))
        found.append(
            FoundMessage(
                id=f"{place}.{as_id(value.get('id'))}",
                parent=found[-1].id if found else None,
                role=_ROLES.get(as_text(value.get("role")), "tool"),
                text=text,
                created=as_time(value.get("created_at")),
                reasoning="\n\n".join(filter(None, [*reasoning, inline])),
                model=as_text(metadata.get("modelId")) or usual_model,
                stopped=as_text(value.get("status")) == "stopped",
            )
        )
    return found
