"""Chats that Hearth itself exported as JSON: every branch and every fact is restored."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from app.chats.history.values.chat import Chat
from app.chats.history.values.conversation import AnswerFacts, Failure, StoredMessage
from app.documents.values.documents import attachment_from, document_from, source_from
from app.exchange.values.found import Broken, ReadyChat, check_size, damaged
from app.exchange.values.json_values import as_dict, as_list, as_number, as_text, as_time
from app.exchange.values.thread import folder_for, made_id
from app.settings.values.fields import fields
from engines.sentences import N_
from engines.types import MtpReport

T = TypeVar("T")

SOURCE = "Hearth"
_ID = re.compile(r"[0-9a-f]{32}")
_STATES = ("complete", "stopped", "interrupted", "failed")
_MTP = ("off", "auto", "on")
_OVERFLOW = ("leave_out", "compact", "stop")
_EMPTY = N_("It has no messages.")
_TITLED = ("text", "model", "user")


def is_chat(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a chat that Hearth exported."""
    return "leaf_id" in value and isinstance(value.get("messages"), list)


def read(value: Mapping[str, Any]) -> ReadyChat:
    """Read one chat. Raises Broken."""
    stored_id = as_text(value.get("id"))
    if not stored_id:
        raise Broken(N_("It has no id."))
    chat_id = stored_id if _ID.fullmatch(stored_id) else made_id(SOURCE, stored_id)
    check_size(as_list(value.get("messages")))
    read = [_message(chat_id, as_dict(message)) for message in as_list(value.get("messages"))]
    messages = _in_order([message for message in read if message is not None])
    if not messages:
        raise Broken(N_("None of its messages has an author and an id.") if read else _EMPTY)
    broken = read.count(None)
    known = {message.id for message in messages}
    leaf = _named(chat_id, value.get("leaf_id"))
    created = as_time(value.get("created")) or messages[0].created
    chat = Chat(
        id=chat_id,
        title=as_text(value.get("title")) or "Chat",
        created=created,
        updated=as_time(value.get("updated")) or created,
        leaf_id=leaf if leaf in known else messages[-1].id,
        mtp=_one_of(_MTP, value.get("mtp")),
        pinned=value.get("pinned") is True,
        archived=as_time(value.get("archived")),
        titled_by=_one_of(_TITLED, value.get("titled_by")) or "user",
        model=as_text(value.get("model")) or None,
        assistant_id=as_text(value.get("assistant_id")) or None,
        overflow=_one_of(_OVERFLOW, value.get("overflow")),
        draft=as_text(value.get("draft")),
        settings=_settings(as_dict(value.get("settings"))),
    )
    folder = " ".join(as_text(value.get("folder")).split())[:100]
    documents = _each(document_from, value.get("documents"))
    lost_parts = _count_lost(as_list(value.get("messages")), messages)
    lost_parts += len(as_list(value.get("documents"))) - len(documents)
    damage = (
        (N_("Parts of its files are damaged: {lost}.", lost=f"{lost_parts:,}"),)
        if lost_parts
        else ()
    )
    return ReadyChat(
        SOURCE,
        chat,
        messages,
        folder or folder_for(SOURCE),
        documents=documents,
        damage=(*damaged(broken), *damage),
    )


def _count_lost(values: Sequence[object], messages: Sequence[StoredMessage]) -> int:
    """Count the files and parts of files that messages name but that could not be read."""
    named = sum(
        len(as_list(as_dict(message).get(name)))
        for message in values
        for name in ("attachments", "sources")
    )
    return max(
        0, named - sum(len(message.attachments) + len(message.sources) for message in messages)
    )


def _message(chat_id: str, value: Mapping[str, Any]) -> StoredMessage | None:
    """Read a message; return None if it has no author or no id."""
    role = as_text(value.get("role"))
    if role not in ("user", "assistant") or not as_text(value.get("id")):
        return None
    state = as_text(value.get("state"))
    failure = as_dict(value.get("failure"))
    return StoredMessage(
        id=_named(chat_id, value.get("id")) or "",
        chat_id=chat_id,
        parent_id=_named(chat_id, value.get("parent_id")),
        role="user" if role == "user" else "assistant",
        text=as_text(value.get("text")),
        created=as_time(value.get("created")) or 1.0,
        state=_one_of(_STATES, state) or "interrupted",
        reasoning=as_text(value.get("reasoning")),
        facts=_facts(as_dict(value.get("facts"))),
        failure=Failure(*(as_text(failure.get(field)) for field in ("code", "what", "why", "do")))
        if failure
        else None,
        reasoning_s=as_number(value.get("reasoning_s")),
        rating=max(-1, min(1, int(as_number(value.get("rating"))))),
        pinned=value.get("pinned") is True,
        asked=as_text(value.get("asked")),
        attachments=_each(attachment_from, value.get("attachments")),
        sources=_each(source_from, value.get("sources")),
    )


def _each(read: Callable[[Mapping[str, Any]], T], values: object) -> tuple[T, ...]:
    """Read each value, and leave out those that make no sense."""
    found = []
    for value in as_list(values):
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
            found.append(read(value))
    return tuple(found)


def _in_order(messages: Sequence[StoredMessage]) -> tuple[StoredMessage, ...]:
    """Order messages so that each comes once, after its parent; those without one become roots."""
    by_id = {message.id: message for message in reversed(messages)}
    found: dict[str, StoredMessage] = {}
    waiting: dict[str, list[StoredMessage]] = {}
    for message in (message for message in messages if by_id[message.id] is message):
        parent = message.parent_id
        if parent in by_id and parent not in found:
            waiting.setdefault(parent or "", []).append(message)
            continue
        free = [message if parent in by_id else replace(message, parent_id=None)]
        while free:
            current = free.pop()
            found[current.id] = current
            free += reversed(waiting.pop(current.id, []))
    # The rest are cycles.
    unplaced = [replace(message, parent_id=None) for group in waiting.values() for message in group]
    return (*found.values(), *unplaced)


def _named(chat_id: str, value: object) -> str | None:
    stored_id = as_text(value)
    if not stored_id:
        return None
    return stored_id if _ID.fullmatch(stored_id) else made_id(chat_id, stored_id)


def _one_of(allowed: Sequence[str], value: object) -> Any:
    return value if value in allowed else None


def _settings(values: Mapping[str, Any]) -> dict[str, object]:
    """Select the settings that this Hearth knows, with values that it accepts from the user."""
    found: dict[str, object] = {}
    for name, value in values.items():
        known = fields().get(name)
        try:
            if known is not None:
                found[name] = known.read(value)
        except ValueError:
            continue
    return found


def _facts(values: Mapping[str, Any]) -> AnswerFacts | None:
    if not values:
        return None
    report = as_dict(values.get("mtp"))
    mode = _one_of(_MTP, report.get("mode"))
    mtp = MtpReport(**{**_plain(MtpReport, report), "mode": mode}) if mode else None
    return AnswerFacts(**{**_plain(AnswerFacts, values), "mtp": mtp})


def _plain(kind: type[AnswerFacts | MtpReport], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a dataclass, each with a value of its type, whatever was given."""
    read = {
        "int": lambda value: int(as_number(value)),
        "float": as_number,
        "bool": lambda value: value is True,
        "float | None": lambda value: None if value is None else as_number(value),
        "tuple[str, ...]": lambda value: tuple(as_text(item) for item in as_list(value)),
    }
    return {
        field.name: read.get(str(field.type), as_text)(values.get(field.name))
        for field in dataclasses.fields(kind)
    }
