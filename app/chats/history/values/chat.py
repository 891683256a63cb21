"""A chat as lists show it: without its messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.chats.history.values.conversation import OverflowPolicy
    from engines.types import MtpMode

TitledBy = Literal["text", "model", "user"]
"""The source of a title: the first question, the model, or the user, whose word is final."""

ChatMark = Literal["", "writing", "failed", "interrupted", "unread", "waiting"]
"""What a list shows of a chat besides its title: what goes on there, or how its answer ended."""

MARKS: tuple[ChatMark, ...] = ("writing", "failed", "interrupted", "unread", "waiting")
"""Those that can be seen, the strongest first."""

UNTITLED = "New chat"
_TITLE_LENGTH = 48


@dataclass(frozen=True)
class Chat:
    """A chat without its messages. leaf_id: the newest message of the path that is shown.

    mtp: how its switch stands; None in a chat from before there was one. folder_id: the folder it
    lies in. archived, deleted: when it was put away, in seconds since 1970. model, assistant_id,
    overflow: what holds in this chat; None as the settings say. draft: what was written and not
    sent. settings: the chat's own, by name.
    """

    id: str
    title: str
    created: float
    updated: float
    leaf_id: str | None
    mtp: MtpMode | None = None
    folder_id: str | None = None
    pinned: bool = False
    archived: float | None = None
    deleted: float | None = None
    titled_by: TitledBy = "text"
    model: str | None = None
    assistant_id: str | None = None
    overflow: OverflowPolicy | None = None
    draft: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class ListedChat(Chat):
    """A chat in a list. unread: an answer has ended while its user was elsewhere."""

    unread: bool = False
    mark: ChatMark = ""


def title_from(text: str) -> str:
    """A chat's first title: the first line of its first message, cut at a word."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = line.strip("#>*-` ")
    if len(line) <= _TITLE_LENGTH:
        return line or UNTITLED
    cut = line[:_TITLE_LENGTH]
    words = cut.rsplit(" ", 1)[0] if " " in cut else cut
    return words.rstrip(",.;:") + "…"
