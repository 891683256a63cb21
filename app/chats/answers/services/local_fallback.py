"""Keeps a chat on this computer until the user chooses a server for it."""

from __future__ import annotations

from collections.abc import Callable

from app.chats.answers.values.local_fallback import local_fallback
from app.models.library.services.index import ModelIndex
from app.models.library.values.entry import STARTER


class LocalFallback:
    """Chooses the model for chats without one of their own; usable from any thread.

    Args:
        leaves: See `app.chats.answers.values.local_fallback`.
    """

    def __init__(self, shelf: ModelIndex, leaves: Callable[[str], bool]) -> None:
        self._shelf = shelf
        self._leaves = leaves

    def model(self, usual: str) -> str:
        """Choose the model for a chat without a chosen model, given the usual model."""
        if usual == STARTER:
            return usual  # skip listing the models
        return local_fallback(usual, self._shelf.everything(), self._leaves)

    def at_once(self, usual: str) -> str:
        """Do the same as `model` with the last list of models, for a window that cannot wait."""
        return local_fallback(usual, self._shelf.listed, self._leaves)
