"""Chats found in the files of other programs, before and after they are made fit for Hearth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from app.core.chats.chat import Chat
from app.core.chats.conversation import StoredMessage
from app.core.documents import Document

FoundRole = Literal["user", "assistant", "system", "tool"]


@dataclass(frozen=True)
class FoundMessage:
    """A message as another program has it.

    created: seconds since 1970; None where it is not known. reasoning_s: in seconds. model: by
    its name there. rating: 1 good, -1 bad, 0 none. stopped: it ended early. tools: how many calls
    and results of tools stood in it.
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

    source: the program's name. id: by which it is the same chat again; "" where it has none. leaf:
    the end of the path that is shown there; None for the newest message. left_out: what Hearth has
    no place for, in words, and how often it was there.
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


@dataclass(frozen=True)
class ReadyChat:
    """A chat as Hearth would store it. folder: the name of the one that it is to lie in.

    left_out: as in `FoundChat`. documents: the text of the files that are attached in it.
    """

    source: str
    chat: Chat
    messages: tuple[StoredMessage, ...]
    folder: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True)
class NotRead:
    """Something that could not be read. what: its name or place. why: a sentence."""

    what: str
    why: str


@dataclass(frozen=True)
class FileFound:
    """The chats of one file or folder, and what of it could not be read."""

    path: Path
    chats: tuple[ReadyChat, ...]
    not_read: tuple[NotRead, ...]


@dataclass(frozen=True)
class Imported:
    """The ids of the chats that an import brought.

    here: Hearth had them already. back: they were in the trash. folders: made for them.
    """

    new: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class Broken(Exception):
    """A chat cannot be read; the message is a sentence that says why."""


MOST_MESSAGES = 100_000
"""The most messages of a chat."""


def check_size(messages: Sized) -> None:
    """Refuse a chat of too many messages before time is spent on it. Raises Broken."""
    if len(messages) > MOST_MESSAGES:
        raise Broken(f"It has more than {MOST_MESSAGES:,} messages.")


FoundChats = Iterator[ReadyChat | NotRead]
