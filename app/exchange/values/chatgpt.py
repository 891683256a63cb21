"""Chats of ChatGPT: `conversations.json` of the export that it sends its users.

Since 2026 it can be several files, `conversations-000.json` and so on. A conversation is a tree
under `mapping`, and `current_node` is the end of the shown path. OpenAI publishes no description.
The fields are those that two readers of such files use: docs/dev/chatgpt-spec.md and
convoviz/message_logic.py of mohamed-chs/chatgpt-history-export-to-md, and src/api.ts of
pionxzh/chatgpt-exporter. The meaning of `weight` is documented nowhere, so it is ignored.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
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

_MARK = re.compile("( ?)(\ue200([^\ue200\ue201]*)\ue201)")
_FOOTNOTE = re.compile(r" ?【\d{1,6}(?::\d{1,6})?†[^】\n]{0,200}】")
_STRAY = re.compile("[\ue200-\ue204]")


def readable(text: str, metadata: Mapping[str, Any]) -> str:
    """Return an answer with its marks replaced by links and names, or removed if there are none.

    A mark is between U+E200 and U+E201, its parts separated by U+E202: `cite` and the sources, or
    `entity` and a list of kind, name and more. For each mark, `content_references` in the message's
    metadata contain the mark as `matched_text` and the link shown instead as `alt`. This follows
    src/utils/citations.ts of pionxzh/chatgpt-exporter; older answers have footnotes such as
    【11†source】.
    """
    if "\ue200" in text:
        references = [
            as_dict(reference) for reference in as_list(metadata.get("content_references"))
        ]
        alternatives = {
            as_text(reference.get("matched_text")): as_text(reference.get("alt"))
            for reference in references
        }

        def instead(mark: re.Match[str]) -> str:
            text = alternatives.get(mark[2]) or _name(mark[3].split("\ue202"))
            return mark[1] + text if text else ""

        text = _MARK.sub(instead, text)
    return _STRAY.sub("", _FOOTNOTE.sub("", text))


def _name(parts: list[str]) -> str:
    """Return the text for a mark without a reference: a thing's name, or a link; else nothing."""
    if parts[0] == "entity" and len(parts) > 1:
        try:
            value = as_list(from_json(parts[1]))
        except ValueError:
            return "" if parts[1].startswith("[") else parts[1]
        return as_text(value[1]) if len(value) > 1 else ""
    if parts[0] == "url" and len(parts) > 2:
        return f"[{parts[1]}]({parts[2]})"
    return ""


SOURCE = "ChatGPT"
_ROLES: Mapping[str, FoundRole] = {"user": "user", "assistant": "assistant", "system": "system"}
_LINKS = Links("parent", "children")
_PYTHON = "python"
_CANVAS = "canmore.create_textdoc"
_SHOWN_RECIPIENTS = ("", "all", _PYTHON, _CANVAS)
"""The recipients of answers that are shown; an answer to any other is a tool call."""
_MOST_STEPS = 50
"""Most messages between thoughts and the message with their duration."""


def is_chat(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a conversation of ChatGPT."""
    return isinstance(value.get("mapping"), dict)


def read(value: Mapping[str, Any]) -> FoundChat:
    """Read one conversation. Raises Broken."""
    mapping = as_dict(value.get("mapping"))
    check_size(mapping)
    name = as_id(value.get("conversation_id")) or as_id(value.get("id"))
    name = name or as_id(value.get("current_node")) or next(iter(mapping), "")
    if not name:
        raise Broken(N_("It has no messages."))
    model = as_text(value.get("default_model_slug")) or as_text(value.get("model_slug"))
    messages = [_message(key, as_dict(node), model) for key, node in mapping.items()]
    leaf = as_text(value.get("current_node")) or None
    return FoundChat(
        source=SOURCE,
        id=name,
        title=as_text(value.get("title")),
        created=as_time(value.get("create_time")),
        updated=as_time(value.get("update_time")),
        messages=_timed(_LINKS.joined(messages, mapping, leaf)),
        leaf=leaf,
        pinned=value.get("is_starred") is True or as_time(value.get("pinned_time")) is not None,
        archived=value.get("is_archived") is True,
        damage=damaged(_damaged(mapping, leaf)),
    )


def _damaged(mapping: Mapping[str, Any], leaf: str | None) -> int:
    """Count the nodes that cannot be read, and those that are named but missing."""
    missing = _LINKS.above(mapping, leaf).keys() - mapping.keys()
    return len(missing) + sum(not _is_complete(node) for node in mapping.values())


def _is_complete(node: object) -> bool:
    if not isinstance(node, dict) or "message" not in node:
        return False
    message = node["message"]
    if message is None:
        return True  # the root has no message
    author, content = (as_dict(as_dict(message).get(field)) for field in ("author", "content"))
    return bool(as_text(author.get("role")) and content)


def _message(key: str, node: Mapping[str, Any], usual_model: str) -> FoundMessage:
    message = as_dict(node.get("message"))
    metadata = as_dict(message.get("metadata"))
    role, text, reasoning = _content_of(message, metadata)
    finish = as_dict(metadata.get("finish_details"))
    return FoundMessage(
        id=key,
        parent=as_text(node.get("parent")) or None,
        role=role,
        text=text,
        created=as_time(message.get("create_time")),
        reasoning=reasoning,
        reasoning_s=as_number(metadata.get("finished_duration_sec")),
        model=as_text(metadata.get("model_slug")) or usual_model,
        stopped=as_text(message.get("status")) == "finished_partial_completion"
        or as_text(finish.get("type")) == "interrupted",
    )


def _timed(messages: Sequence[FoundMessage]) -> tuple[FoundMessage, ...]:
    """Move the seconds of thinking from the message that follows the thoughts to the thoughts."""
    by_id = {message.id: message for message in messages}
    seconds: dict[str, float] = {}
    for message in messages:
        if message.reasoning_s <= 0 or message.text or message.reasoning:
            continue
        before, steps = by_id.get(message.parent or ""), 0
        while before is not None and not before.reasoning and steps < _MOST_STEPS:
            before, steps = by_id.get(before.parent or ""), steps + 1
            if before is not None and before.role == "user":
                before = None
        if before is not None and before.reasoning:
            seconds[before.id] = max(message.reasoning_s, seconds.get(before.id, 0.0))
    return tuple(
        replace(message, reasoning_s=seconds[message.id]) if message.id in seconds else message
        for message in messages
    )


def _content_of(
    message: Mapping[str, Any], metadata: Mapping[str, Any]
) -> tuple[FoundRole, str, str]:
    """Return a message's role, its text and its reasoning."""
    content = as_dict(message.get("content"))
    kind = as_text(content.get("content_type"))
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    if metadata.get("is_user_system_message") is True or kind == "user_editable_context":
        return "system", _instructions(content, metadata, hidden), ""
    if not message:
        return "system", "", ""
    role = _ROLES.get(as_text(as_dict(message.get("author")).get("role")), "tool")
    recipient = as_text(message.get("recipient"))
    if role == "tool":
        pictures = _pictures(content, metadata)
        return ("assistant", pictures, "") if pictures else ("tool", "", "")
    if role == "assistant" and recipient not in _SHOWN_RECIPIENTS:
        return "tool", "", ""
    if hidden:
        return role, "", ""
    text, reasoning = _texts_of(content)
    if role == "assistant":
        text = _document(content, text) if recipient == _CANVAS else readable(text, metadata)
    files = [_file(as_dict(file)) for file in as_list(metadata.get("attachments"))]
    return role, "\n\n".join(filter(None, [*files, text])), reasoning


def _instructions(content: Mapping[str, Any], metadata: Mapping[str, Any], hidden: bool) -> str:
    """Return the user's standing instructions to ChatGPT, without the words it puts around them."""
    about = as_dict(metadata.get("user_context_message_data"))
    texts = (about.get("about_user_message"), about.get("about_model_message"))
    if not any(texts) and not hidden:
        texts = (content.get("user_profile"), content.get("user_instructions"))
    return "\n\n".join(filter(None, map(as_text, texts))) or (
        "" if hidden else _texts_of(content)[0]
    )


def _pictures(content: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """Return placeholders for the pictures of a tool, which are shown as the model's answer."""
    run = as_dict(metadata.get("aggregate_result"))
    drawn = [
        as_dict(message).get("message_type") == "image" for message in as_list(run.get("messages"))
    ]
    parts = [_part(part) for part in as_list(content.get("parts")) if isinstance(part, dict)]
    count = sum(drawn) + parts.count(wording.picture())
    return "\n\n".join([wording.picture()] * count)


def _document(content: Mapping[str, Any], text: str) -> str:
    """Return the document that the model wrote on the canvas beside the chat."""
    raw = as_text(content.get("text")) or "".join(map(as_text, as_list(content.get("parts"))))
    try:
        document = as_dict(from_json(raw))
    except ValueError:
        return text
    kind, _, language = as_text(document.get("type")).partition("/")
    written = as_text(document.get("content"))
    return wording.fenced(written, language) if kind == "code" else written


def _texts_of(content: Mapping[str, Any]) -> tuple[str, str]:
    """Return the text of a message's content, and its reasoning."""
    match as_text(content.get("content_type")):
        case "thoughts":
            thoughts = [as_dict(thought) for thought in as_list(content.get("thoughts"))]
            texts = (
                "\n\n".join(
                    filter(None, (as_text(thought.get("summary")), as_text(thought.get("content"))))
                )
                for thought in thoughts
            )
            return "", "\n\n".join(texts)
        case "reasoning_recap" | "model_editable_context":
            return "", ""
        case "code":
            language = as_text(content.get("language"))
            text = as_text(content.get("text"))
            return wording.fenced(text, "" if language == "unknown" else language), ""
    parts = [_part(part) for part in as_list(content.get("parts"))]
    written = [as_dict(part).get("content_type") for part in as_list(content.get("parts"))]
    if "audio_transcription" in written:
        parts = [part for part in parts if part != wording.sound()]
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


def _file(value: Mapping[str, Any]) -> str:
    """Return a placeholder for an attached file; pictures have their own place among the parts."""
    name = as_text(value.get("name"))
    kind = as_text(value.get("mime_type")) or mimetypes.guess_type(name)[0] or ""
    return wording.file(name) if name and not kind.startswith("image/") else ""
