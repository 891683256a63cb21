"""Chats of Jan: a folder for each, with `thread.json` and `messages.jsonl`.

The fields are those of core/src/types/thread and core/src/types/message of janhq/jan. Versions of a
message are as web-app/src/lib/message-branching.ts stores them: `parentId` and `activeChildId` in
the metadata. Times are in milliseconds in older folders, in seconds in newer ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from app.exchange.values.json_values import (
    as_dict,
    as_id,
    as_list,
    as_number,
    as_text,
    as_time,
    from_json,
)
from engines.sentences import N_

SOURCE = "Jan"
_ROLES: Mapping[str, FoundRole] = {"user": "user", "assistant": "assistant", "system": "system"}
_HEADLESS = N_("Its thread.json, which has the title, is missing or damaged.")
_EXAMINED = 20
"""Lines read to recognise a file; the first can be damaged."""


def is_thread(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a thread of Jan."""
    return isinstance(value.get("assistants"), list) or value.get("object") == "thread"


def is_messages(text: str) -> bool:
    """Return whether one of the first lines of a text is a message of a thread."""
    if '"thread_id"' not in text:
        return False
    lines = (line for line in text.split("\n", _EXAMINED)[:_EXAMINED] if '"thread_id"' in line)
    return any("thread_id" in line and "role" in line for line in map(_line, lines))


def lines(text: str) -> tuple[list[Mapping[str, Any]], int]:
    """Read a file's messages, one a line, and count the lines that could not be read."""
    found = [_line(line) for line in text.split("\n") if line.strip()]
    whole = [message for message in found if message]
    return whole, len(found) - len(whole)


def read(
    thread: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], broken: int = 0
) -> FoundChat:
    """Read one thread.

    Args:
        thread: The content of its file; empty if the file is missing.
        messages: Its messages.
        broken: Number of lines that could not be read.

    Raises:
        Broken: The thread has no messages, or too many.
    """
    check_size(messages)
    if not messages and not broken:
        raise Broken(N_("Its messages.jsonl is missing or empty."))
    assistant = as_dict(next(iter(as_list(thread.get("assistants"))), None))
    model = as_text(as_dict(assistant.get("model")).get("id"))
    metadata = as_dict(thread.get("metadata"))
    first = messages[0] if messages else {}
    found = _messages(messages, model)
    return FoundChat(
        source=SOURCE,
        id=as_id(thread.get("id")) or as_id(first.get("thread_id")) or as_id(first.get("id")),
        title=as_text(thread.get("title")) or as_text(metadata.get("title")),
        created=as_time(thread.get("created")),
        updated=as_time(thread.get("updated")),
        messages=tuple(found),
        leaf=_shown_leaf(messages, found),
        system_prompt=as_text(assistant.get("instructions")),
        pinned=metadata.get("is_favorite") is True,
        damage=(
            *damaged(broken + sum(not _is_complete(message) for message in messages)),
            *(() if thread else (_HEADLESS,)),
        ),
    )


def _is_complete(message: Mapping[str, Any]) -> bool:
    has_content = isinstance(message.get("content"), str | list)
    return bool(as_text(message.get("role"))) and has_content


def _line(line: str) -> Mapping[str, Any]:
    try:
        return as_dict(from_json(line))
    except ValueError:
        return {}


def _is_branched(messages: Sequence[Mapping[str, Any]]) -> bool:
    return any(
        name in as_dict(message.get("metadata"))
        for message in messages
        for name in ("parentId", "activeChildId")
    )


def _messages(messages: Sequence[Mapping[str, Any]], usual_model: str) -> list[FoundMessage]:
    names = [f"{place}.{as_id(value.get('id'))}" for place, value in enumerate(messages)]
    known = {as_id(value.get("id")): name for value, name in zip(messages, names, strict=True)}
    found: list[FoundMessage] = []
    for name, value in zip(names, messages, strict=True):
        before = found[-1].id if found else None
        metadata = as_dict(value.get("metadata"))
        parent = known.get(as_id(metadata.get("parentId")))
        # A first question has an explicit null; a message that lost its link follows the one before
        # it.
        is_first = value.get("role") == "user" and metadata.get("parentId", "") is None
        if parent is None and not is_first:
            parent = before
        found.append(_message(name, parent, value, usual_model))
    return found


def _message(
    name: str, parent: str | None, value: Mapping[str, Any], usual_model: str
) -> FoundMessage:
    metadata = as_dict(value.get("metadata"))
    parts = [as_dict(part) for part in as_list(value.get("content"))]
    texts, reasoning = [as_text(value.get("content"))], []
    for part in parts:
        value_of = as_dict(part.get("text"))
        text = as_text(value_of.get("value")) or as_text(part.get("text"))
        kind = as_text(part.get("type"))
        if kind == "reasoning":
            reasoning.append(text)
        else:
            texts.append(wording.picture() if kind == "image_url" else text)
    text, inline = wording.without_reasoning("\n\n".join(filter(None, texts)))
    # The text of these files is given to the model beside the message.
    inline_files = as_list(metadata.get("inline_file_contents"))
    files = [as_text(as_dict(file).get("name")) for file in inline_files]
    calls = sum(part.get("type") == "tool_call" for part in parts)
    return FoundMessage(
        id=name,
        parent=parent,
        role=_ROLES.get(as_text(value.get("role")), "tool"),
        text="\n\n".join(filter(None, [*(wording.file(file) for file in files if file), text])),
        created=as_time(value.get("created_at")),
        reasoning="\n\n".join(filter(None, [*reasoning, inline])),
        model=as_text(metadata.get("modelId")) or usual_model,
        stopped=as_text(value.get("status")) == "stopped",
        tools=calls or len(as_list(metadata.get("tool_calls"))),
    )


def _shown_leaf(messages: Sequence[Mapping[str, Any]], found: Sequence[FoundMessage]) -> str | None:
    """Return the end of the path that Jan shows: at each fork the chosen version, or the newest."""
    if not _is_branched(messages):
        return None
    below: dict[str | None, list[int]] = {}
    for place, message in enumerate(found):
        below.setdefault(message.parent, []).append(place)
    step: str | None = None
    for _ in found:
        places = below.get(step)
        if not places:
            break
        chosen = _chosen(messages, step)
        newest = max(
            places, key=lambda place: (as_number(messages[place].get("created_at")), place)
        )
        step = found[
            next((place for place in places if messages[place].get("id") == chosen), newest)
        ].id
    return step


def _chosen(messages: Sequence[Mapping[str, Any]], above: str | None) -> str:
    """Return the id of the version shown below a message; "" if none was chosen."""
    if above is None:
        return ""
    place = int(above.partition(".")[0])
    return as_text(as_dict(messages[place].get("metadata")).get("activeChildId"))
