"""Summaries that replace the older part of a chat in the prompt: pure.

A summary is attached to the last message that it covers, so all branches after that message share
it. It is valid as long as the messages it was made from are unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.chats.history.values.conversation import StoredMessage, as_message, sent_messages
from engines.types import Message

INTRODUCTION = "The conversation so far, in short:"
REQUEST = (
    "Sum up our conversation so far, with any summary at its beginning, so that you can go on with"
    " it from your summary alone. Keep names, numbers, decisions, code that still matters, open"
    " questions, and what I want of you. Write in the language of the conversation, {0} words at"
    " most, and write nothing but the summary."
)


@dataclass(frozen=True)
class Summary:
    """A text that replaces all messages of a path up to `message_id`.

    Attributes:
        model: The model that wrote it.
        tokens: The tokens that the model wrote for it.
        created: Seconds since 1970, UTC.
        covers: A hash of the messages it was made from; see `covered`.
    """

    message_id: str
    text: str
    model: str
    tokens: int
    created: float
    covers: str


@dataclass(frozen=True)
class ChatPrompt:
    """The messages of a prompt, and for each the id of its stored message, or "" if it has none."""

    messages: tuple[Message, ...]
    ids: tuple[str, ...]


def covered(path: Sequence[StoredMessage], message_id: str) -> str:
    """Hash all messages up to this one that an engine receives; "" if it is not among them."""
    return dict(_hashes(path)).get(message_id, "")


def in_effect(path: Sequence[StoredMessage], summaries: Iterable[Summary]) -> Summary | None:
    """Return the valid summary that covers the most of a path."""
    by_message = {summary.message_id: summary for summary in summaries}
    found = None
    for message_id, covers in _hashes(path):
        summary = by_message.get(message_id)
        if summary is not None and summary.covers == covers:
            found = summary
    return found


def summed_up(path: Sequence[StoredMessage], summary: Summary | None) -> tuple[StoredMessage, ...]:
    """Return the messages that a summary replaces; turns with a pinned message are not replaced."""
    old, _ = _split(path, summary)
    return tuple(message for turn in _turns(old) if not _is_pinned(turn) for message in turn)


def prompt_of(
    path: Sequence[StoredMessage], system_prompt: str, summary: Summary | None = None
) -> ChatPrompt:
    """Build the prompt of a path: system prompt, summary, pinned turns before it, and the rest.

    The summary is a system message, because templates accept it wherever they accept a system
    prompt.
    """
    heads = [system_prompt.strip()]
    if summary is not None:
        heads.append(f"{INTRODUCTION}\n{summary.text}")
    begin = [Message("system", text) for text in heads if text]
    old, rest = _split(path, summary)
    pinned = [message for turn in _turns(old) if _is_pinned(turn) for message in turn]
    turns = (*pinned, *rest)
    return ChatPrompt(
        (*begin, *(as_message(turn) for turn in turns)),
        (*("" for _ in begin), *(turn.id for turn in turns)),
    )


def _split(
    path: Sequence[StoredMessage], summary: Summary | None
) -> tuple[tuple[StoredMessage, ...], tuple[StoredMessage, ...]]:
    """Split the messages an engine receives into those that a summary covers and those after."""
    everything = sent_messages(path)
    ends = (
        at
        for at, message in enumerate(everything, 1)
        if summary and message.id == summary.message_id
    )
    end = next(ends, 0)
    return everything[:end], everything[end:]


def _turns(messages: Iterable[StoredMessage]) -> list[list[StoredMessage]]:
    """Group messages into turns, each a question with its answers."""
    turns: list[list[StoredMessage]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _is_pinned(turn: Iterable[StoredMessage]) -> bool:
    return any(message.pinned for message in turn)


def _hashes(path: Sequence[StoredMessage]) -> Iterable[tuple[str, str]]:
    """Yield the id of each message that an engine receives, with a hash of everything up to it."""
    from hashlib import sha256

    so_far = sha256()
    for message in sent_messages(path):
        so_far.update(f"{message.id}\0{message.role}\0{message.text}\0".encode(errors="replace"))
        yield message.id, so_far.hexdigest()
