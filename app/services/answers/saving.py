"""Saving an answer while it is being written, and at its end."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import Final

from app.core.chats.conversation import Failure, StoredMessage
from app.store.chats import ChatStore
from engines.errors import UserError

EVERY_S: Final = 0.25
REST: Final = 10
"""Times as long as a save has taken nothing is saved: with many answers at once a slow disk would
have more to do than it can.
"""


class Saving:
    """Of one answer, on its thread."""

    def __init__(self, chats: ChatStore) -> None:
        self._chats = chats
        self._due = monotonic() + EVERY_S

    @property
    def is_due(self) -> bool:
        return monotonic() > self._due

    def on_the_way(self, message: StoredMessage) -> None:
        """It may fail: the next one, or the last, holds everything."""
        began = monotonic()
        with suppress(UserError):
            self._chats.save_answer(message)
        now = monotonic()
        self._due = now + max(EVERY_S, REST * (now - began))

    def end(self, message: StoredMessage) -> tuple[StoredMessage, bool]:
        """The message as it was saved, or says why it could not be; and whether it was."""
        try:
            self._chats.save_answer(message)
        except UserError as error:
            return replace(message, state="failed", failure=Failure.of(error)), False
        return message, True
