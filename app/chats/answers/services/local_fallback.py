"""Keeps a chat on this computer as long as nobody has chosen a server for it."""

from __future__ import annotations

from collections.abc import Callable

from app.chats.answers.values.local_fallback import local_fallback
from app.models.library.services.index import ModelIndex
from app.models.library.values.entry import STARTER


class LocalFallback:
    """Chooses the model of chats without one of their own; may be used from any thread.

    leaves: as `app.chats.answers.values.local_fallback` has it.
    """

    def __init__(self, shelf: ModelIndex, leaves: Callable[[str], bool]) -> None:
        self._shelf = shelf
        self._leaves = leaves

    def model(self, usual: str) -> str:
        """Choose what answers where nobody has chosen a model and this is the usual one."""
        if usual == STARTER:
            return usual  # nothing is looked for
        return local_fallback(usual, self._shelf.everything(), self._leaves)

    def at_once(self, usual: str) -> str:
        """Do as `model`, by the models listed last: for a window, which cannot wait."""
        return local_fallback(usual, self._shelf.listed, self._leaves)
