"""A chat without its messages, as lists show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from engines.sentences import N_

if TYPE_CHECKING:
    from app.chats.history.values.conversation import OverflowPolicy
    from engines.types import MtpMode

TitledBy = Literal["text", "model", "user"]
"""Who wrote the title: the first question, the model, or the user, whose title is final."""

ChatMark = Literal["", "writing", "failed", "interrupted", "unread", "waiting"]
"""The mark that a list shows beside a title: activity in the chat, or how its answer ended."""

MARKS: tuple[ChatMark, ...] = ("writing", "failed", "interrupted", "unread", "waiting")
"""The visible marks, the strongest first."""

UNTITLED = N_("New chat")
_TITLE_LENGTH = 48


@dataclass(frozen=True)
class Chat:
    """A chat without its messages.

    Attributes:
        created, updated: Seconds since 1970.
        leaf_id: The newest message of the path that is shown.
        mtp: The chat's MTP switch; None for a chat older than the switch.
        folder_id: The folder that contains the chat.
        archived, deleted: When the chat was put away, in seconds since 1970.
        model, assistant_id, overflow: The chat's own choice; None follows the settings.
        draft: Text that was written but not sent.
        settings: The chat's own settings, by name.
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
    """A chat in a list.

    Attributes:
        unread: Whether an answer has ended while the user was elsewhere.
    """

    unread: bool = False
    mark: ChatMark = ""


def title_from(text: str) -> str:
    """Return a chat's first title: the first line of its first message, cut at a word."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = line.strip("#>*-` ")
    if len(line) <= _TITLE_LENGTH:
        return line or UNTITLED
    cut = line[:_TITLE_LENGTH]
    words = cut.rsplit(" ", 1)[0] if " " in cut else cut
    return words.rstrip(",.;:") + "…"
