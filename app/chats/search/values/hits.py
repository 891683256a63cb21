"""A result of a search over all chats."""

from __future__ import annotations

from dataclasses import dataclass

from app.chats.history.values.chat import Chat


@dataclass(frozen=True)
class Hit:
    """One place in a chat where the words of a search stand.

    message_id: the message to open the chat at; None where the words stand in the title. snippet:
    the text around the words, on one line. marks: where the words begin and end in it, in
    characters.
    """

    chat: Chat
    message_id: str | None
    snippet: str
    marks: tuple[tuple[int, int], ...]
