"""Chats of Open WebUI: the JSON of “Export chats”, a list of objects with `chat` and `history`.

The fields are those of src/lib/components/chat/Chat.svelte, of its importer in
chat/Settings/DataControls.svelte and of backend/open_webui/models/chats.py in
open-webui/open-webui. The `history` is inside the `chat`; older exports have it without a `chat`
around it. Reasoning and tool calls are in the text or, in newer answers, in `output`, as items of
OpenAI's Responses API.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.exchange.values import wording
from app.exchange.values.found import (
    Broken,
    FoundChat,
    FoundMessage,
    FoundRole,
    Links,
    check_size,
    damaged,
)
from app.exchange.values.json_values import as_dict, as_id, as_list, as_number, as_text, as_time
from engines.sentences import N_

_OPENS, _CLOSES = "<details type=", "</details>"
_KIND = re.compile(r"<details type=[\"'](reasoning|tool_calls|code_interpreter)[\"']")
_DURATION = re.compile(r"\bduration=[\"']([\d.]{1,9})[\"']")
_SUMMARY = re.compile(r"\s*<summary>[^<]*</summary>")


@dataclass(frozen=True)
class Unfolded:
    """A text with the blocks of reasoning and tools removed.

    Attributes:
        text: The remaining text.
        seconds: Seconds of reasoning.
        tools: Number of blocks about tools.
    """

    text: str
    reasoning: str = ""
    seconds: float = 0.0
    tools: int = 0


def unfolded(text: str) -> Unfolded:
    """Remove the folded blocks from a text, except those quoted as code. Takes linear time.

    They are `<details type="reasoning" duration="…">`, "tool_calls" and "code_interpreter", as
    backend/open_webui/utils/middleware.py of open-webui/open-webui writes them.
    """
    pieces: list[str] = []
    reasoning: list[str] = []
    seconds, tools, fences = 0.0, 0, 0
    done = place = 0
    while (place := text.find(_OPENS, place)) >= 0:
        head_end = text.find(">", place)
        end = text.find(_CLOSES, head_end)
        if head_end < 0 or end < 0:
            break
        fences += text.count("```", done, place)
        kind = _KIND.match(text, place)
        pieces.append(text[done:place])
        if kind is None or fences % 2:
            done, place = place, place + len(_OPENS)
            continue
        inside = text[head_end + 1 : end]
        if summary := _SUMMARY.match(inside):
            inside = inside[summary.end() :]
        if kind[1] == "reasoning":
            reasoning.append(_unquoted(inside))
            duration = _DURATION.search(text, place, head_end)
            seconds += _number(duration[1]) if duration else 0.0
        elif kind[1] == "code_interpreter":
            pieces.append(html.unescape(inside).strip("\n") + "\n\n")
        else:
            tools += 1
        done = place = end + len(_CLOSES)
        while done < len(text) and text[done] in "\n\r":
            done += 1
    pieces.append(text[done:])
    return Unfolded("".join(pieces), "\n\n".join(filter(None, reasoning)), seconds, tools)


def _unquoted(text: str) -> str:
    lines = html.unescape(text).strip().split("\n")
    return "\n".join(line.removeprefix("> ").removeprefix(">") for line in lines).strip()


def _number(digits: str) -> float:
    return float(digits) if digits.replace(".", "", 1).isdigit() else 0.0


SOURCE = N_("Open WebUI")
_ROLES: Mapping[str, FoundRole] = {"user": "user", "assistant": "assistant", "system": "system"}


_LINKS = Links("parentId", "childrenIds")


def is_chat(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a chat of Open WebUI."""
    chat = as_dict(value.get("chat"))
    if isinstance(chat.get("history"), dict) or isinstance(chat.get("messages"), list):
        return True
    return isinstance(as_dict(value.get("history")).get("messages"), dict)


def read(value: Mapping[str, Any]) -> FoundChat:
    """Read one chat. Raises Broken."""
    chat = as_dict(value.get("chat")) or value
    history = as_dict(chat.get("history"))
    tree = as_dict(history.get("messages"))
    check_size(tree or as_list(chat.get("messages")))
    if tree:
        leaf = as_text(history.get("currentId")) or None
        own = (_message(key, as_dict(value)) for key, value in tree.items())
        messages = _LINKS.joined(own, tree, leaf)
    else:
        messages = _in_a_row(as_list(chat.get("messages")))
        leaf = None
    if not messages:
        raise Broken(N_("It has no messages."))
    return FoundChat(
        source=SOURCE,
        id=as_id(value.get("id")) or as_id(chat.get("id")) or messages[0].id,
        title=as_text(value.get("title")) or as_text(chat.get("title")),
        created=as_time(value.get("created_at")) or as_time(chat.get("timestamp")),
        updated=as_time(value.get("updated_at")),
        messages=messages,
        leaf=leaf,
        system_prompt=as_text(as_dict(chat.get("params")).get("system"))
        or as_text(chat.get("system")),
        pinned=value.get("pinned") is True,
        archived=value.get("archived") is True,
        damage=damaged(_damaged(tree, as_list(chat.get("messages")), leaf)),
    )


def _damaged(tree: Mapping[str, Any], row: list[Any], leaf: str | None) -> int:
    """Count the messages that cannot be read, and those that are named but missing."""
    broken = sum(not _is_complete(as_dict(message)) for message in (tree.values() if tree else row))
    return broken + len(_LINKS.above(tree, leaf).keys() - tree.keys())


def _is_complete(value: Mapping[str, Any]) -> bool:
    has_content = isinstance(value.get("content"), str | list) or isinstance(
        value.get("output"), list
    )
    return bool(as_text(value.get("role"))) and has_content


def _in_a_row(messages: list[Any]) -> tuple[FoundMessage, ...]:
    """Read the messages of an older export, which has no tree."""
    found: list[FoundMessage] = []
    for place, value in enumerate(messages):
        parent = found[-1].id if found else None
        name = as_id(as_dict(value).get("id")) or f"message {place}"
        found.append(_message(name, {**as_dict(value), "parentId": parent}))
    return tuple(found)


def _message(key: str, value: Mapping[str, Any]) -> FoundMessage:
    content = unfolded(_content(value.get("content")))
    output = [as_dict(item) for item in as_list(value.get("output"))]
    text, inline = wording.without_reasoning(content.text)
    text = text if text.strip() else _texts(output, "message")
    reasoning = "\n\n".join(filter(None, [content.reasoning, inline]))
    thoughts = [item for item in output if item.get("type") == "reasoning"]
    files = [_file(as_dict(file)) for file in as_list(value.get("files"))]
    return FoundMessage(
        id=key,
        parent=as_text(value.get("parentId")) or None,
        role=_ROLES.get(as_text(value.get("role")), "tool"),
        text="\n\n".join(filter(None, [*files, text])),
        created=as_time(value.get("timestamp")),
        reasoning=reasoning or _texts(output, "reasoning"),
        reasoning_s=content.seconds
        or sum(as_number(thought.get("duration")) for thought in thoughts),
        model=as_text(value.get("modelName")) or as_text(value.get("model")),
        rating=_rating(as_dict(value.get("annotation")).get("rating")),
        stopped=value.get("done") is False,
        tools=content.tools or sum(item.get("type") == "function_call_output" for item in output),
    )


def _texts(output: list[Mapping[str, Any]], kind: str) -> str:
    """Join the texts of all output items of one kind."""
    items = [item for item in output if item.get("type") == kind]
    parts = [
        part
        for item in items
        for name in ("summary", "content")
        for part in as_list(item.get(name))
    ]
    return "\n\n".join(filter(None, (as_text(as_dict(part).get("text")) for part in parts)))


def _content(content: object) -> str:
    if isinstance(content, str):
        return as_text(content)
    parts = map(as_dict, as_list(content))
    texts = (
        wording.picture() if "image" in as_text(part.get("type")) else as_text(part.get("text"))
        for part in parts
    )
    return "\n\n".join(filter(None, texts))


def _file(value: Mapping[str, Any]) -> str:
    name = as_text(value.get("name"))
    return wording.picture(name) if value.get("type") == "image" else wording.file(name)


def _rating(value: object) -> int:
    number = as_number(value)
    return (number > 0) - (number < 0)
