"""Chats found in the files of other programs, before and after they are made fit for Hearth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from app.chats.history.values.chat import Chat
from app.chats.history.values.conversation import StoredMessage
from app.documents.values.documents import Document

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
    no place for, in words, and how often it was there. damage: sentences about the parts of it that
    are damaged, while the rest was read.
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
    """A chat as Hearth would store it. folder: the name of the one that it is to lie in.

    left_out, damage: as in `FoundChat`. documents: the text of the files that are attached in it.
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

    what: its name or place. why: a sentence. partly: the rest of it was read.
    """

    what: str
    why: str
    partly: bool = False


@dataclass(frozen=True)
class PassedOver:
    """A file of a folder or archive that seems to be no chat. why: a sentence."""

    name: str
    why: str


@dataclass(frozen=True)
class FileFound:
    """The chats of one file or folder, what of it could not be read, and what was passed over."""

    path: Path
    chats: tuple[ReadyChat, ...]
    not_read: tuple[NotRead, ...]
    passed_over: tuple[PassedOver, ...] = ()


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


@dataclass(frozen=True)
class Links:
    """The keys by which messages of a tree name each other: the one before, and those after."""

    parent: str
    children: str

    def above(self, nodes: Mapping[str, object], leaf: str | None) -> dict[str, str | None]:
        """Return the message before each that is there or is named, None for none.

        Where a message is missing or damaged, the one that lists it among its children tells where
        it was, so that nothing before it is parted from what follows. leaf: names one, too.
        """
        found: dict[str, str | None] = {leaf: None} if leaf else {}
        for name, node in nodes.items():
            own = node.get(self.parent) if isinstance(node, dict) else None
            found[name] = own if isinstance(own, str) and own else found.get(name)
            if found[name]:
                found.setdefault(str(found[name]), None)
            after = node.get(self.children) if isinstance(node, dict) else None
            for it in after if isinstance(after, list) else ():
                if isinstance(it, str) and not found.get(it):
                    found[it] = name
        return found

    def joined(
        self, messages: Iterable[FoundMessage], nodes: Mapping[str, object], leaf: str | None
    ) -> tuple[FoundMessage, ...]:
        """Return messages with the ones before them, and a stand-in for each that is missing."""
        above = self.above(nodes, leaf)
        whole = (replace(it, parent=above.get(it.id)) for it in messages)
        gone = (FoundMessage(it, above[it], "system", "") for it in above if it not in nodes)
        return (*whole, *gone)


def damaged(messages: int) -> tuple[str, ...]:
    """Say how many messages of a chat could not be read; nothing of none."""
    if not messages:
        return ()
    if messages == 1:
        return ("1 message is damaged or missing.",)
    return (f"{messages:,} messages are damaged or missing.",)


MOST_MESSAGES = 100_000
"""The most messages of a chat."""


def check_size(messages: Sized) -> None:
    """Refuse a chat of too many messages before time is spent on it. Raises Broken."""
    if len(messages) > MOST_MESSAGES:
        raise Broken(f"It has more than {MOST_MESSAGES:,} messages.")


FoundChats = Iterator[ReadyChat | NotRead]
