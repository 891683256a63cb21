"""A result of a search over all chats."""

from __future__ import annotations

from dataclasses import dataclass

from app.chats.history.values.chat import Chat


@dataclass(frozen=True)
class Hit:
    """One place in a chat that contains the words of a search.

    Attributes:
        message_id: The message to open the chat at; None if the words are in the title.
        snippet: The text around the words, on one line.
        marks: Where the words begin and end in the snippet, in characters.
    """

    chat: Chat
    message_id: str | None
    snippet: str
    marks: tuple[tuple[int, int], ...]
