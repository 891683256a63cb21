"""Chats found in the files of other programs, before and after their conversion for Hearth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from app.chats.history.values.chat import Chat
from app.chats.history.values.conversation import StoredMessage
from app.documents.values.documents import Document
from engines.sentences import N_

FoundRole = Literal["user", "assistant", "system", "tool"]


@dataclass(frozen=True)
class FoundMessage:
    """A message as another program has it.

    Attributes:
        created: Seconds since 1970; None if unknown.
        reasoning_s: Seconds of reasoning.
        model: The model's name in that program.
        rating: 1 good, -1 bad, 0 none.
        stopped: Whether it ended early.
        tools: Number of tool calls and results in it.
    """

    id: str
    parent: str | None
    role: FoundRole
    text: str
    created: float | None = None
    reasoning: str = ""
    reasoning_s: float = 0.0
    model: str = ""
    rating: int = 0
    stopped: bool = False
    tools: int = 0


@dataclass(frozen=True)
class FoundChat:
    """A chat as another program has it.

    Attributes:
        source: The program's name.
        id: An id that identifies the chat in a later import; "" if it has none.
        created, updated: Seconds since 1970; None if unknown.
        leaf: The end of the path shown there; None for the newest message.
        left_out: Kinds of content that Hearth does not support, in words, with their number.
        damage: Sentences about damaged parts; the rest was read.
    """

    source: str
    id: str
    title: str
    created: float | None
    updated: float | None
    messages: tuple[FoundMessage, ...]
    leaf: str | None = None
    system_prompt: str = ""
    pinned: bool = False
    archived: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)
    damage: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadyChat:
    """A chat as Hearth would store it.

    Attributes:
        folder: Name of the folder to put it into.
        left_out, damage: As in `FoundChat`.
        documents: The text of its attached files.
    """

    source: str
    chat: Chat
    messages: tuple[StoredMessage, ...]
    folder: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    damage: tuple[str, ...] = ()


@dataclass(frozen=True)
class NotRead:
    """Something that could not be read, or only in part.

    Attributes:
        what: Its name or place.
        why: A sentence.
        partly: Whether the rest of it was read.
    """

    what: str
    why: str
    partly: bool = False


@dataclass(frozen=True)
class SkippedFile:
    """A skipped file of a folder or archive that does not seem to be a chat.

    Attributes:
        why: A sentence.
    """

    name: str
    why: str


@dataclass(frozen=True)
class FileFound:
    """The chats of one file or folder, its unread parts, and its skipped files."""

    path: Path
    chats: tuple[ReadyChat, ...]
    not_read: tuple[NotRead, ...]
    passed_over: tuple[SkippedFile, ...] = ()


@dataclass(frozen=True)
class Imported:
    """The ids of the chats that an import brought.

    Attributes:
        new: Chats that Hearth did not have.
        known: Chats that Hearth had already.
        restored: Chats that were in the trash.
        folders: Folders created for the chats.
    """

    new: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class Broken(Exception):
    """A chat cannot be read; the message is a sentence with the reason."""


@dataclass(frozen=True)
class Links:
    """The keys with which the messages of a tree name their parent and their children."""

    parent: str
    children: str

    def above(self, nodes: Mapping[str, object], leaf: str | None) -> dict[str, str | None]:
        """Return the parent of each message that exists or is named, or None if it has none.

        If a message is missing or damaged, its place is taken from the message that lists it as a
        child, so that the messages before and after it stay connected.

        Args:
            leaf: A message that the chat names as its end.
        """
        found: dict[str, str | None] = {leaf: None} if leaf else {}
        for name, node in nodes.items():
            own = node.get(self.parent) if isinstance(node, dict) else None
            found[name] = own if isinstance(own, str) and own else found.get(name)
            if found[name]:
                found.setdefault(str(found[name]), None)
            after = node.get(self.children) if isinstance(node, dict) else None
            for child in after if isinstance(after, list) else ():
                if isinstance(child, str) and not found.get(child):
                    found[child] = name
        return found

    def joined(
        self, messages: Iterable[FoundMessage], nodes: Mapping[str, object], leaf: str | None
    ) -> tuple[FoundMessage, ...]:
        """Return messages with their parents, and a placeholder for each missing one."""
        above = self.above(nodes, leaf)
        whole = (replace(message, parent=above.get(message.id)) for message in messages)
        missing = (
            FoundMessage(node, above[node], "system", "") for node in above if node not in nodes
        )
        return (*whole, *missing)


def damaged(messages: int) -> tuple[str, ...]:
    """Return a sentence saying how many messages of a chat could not be read, or nothing."""
    if not messages:
        return ()
    if messages == 1:
        return (N_("1 message is damaged or missing."),)
    return (N_("{messages} messages are damaged or missing.", messages=f"{messages:,}"),)


MOST_MESSAGES = 100_000
"""The most messages of a chat."""


def check_size(messages: Sized) -> None:
    """Refuse a chat with too many messages before time is spent on it. Raises Broken."""
    if len(messages) > MOST_MESSAGES:
        raise Broken(
            N_("It has more than {most_messages} messages.", most_messages=f"{MOST_MESSAGES:,}")
        )


FoundChats = Iterator[ReadyChat | NotRead]
