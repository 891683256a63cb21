"""Keeping a chat on this computer as long as nobody has chosen a server for it."""

from __future__ import annotations

from collections.abc import Callable

from app.core.chats.local_fallback import staying
from app.core.models.entry import STARTER
from app.services.models.index import ModelIndex


class LocalFallback:
    """May be used from any thread. leaves: as `app.core.chats.local_fallback` has it."""

    def __init__(self, shelf: ModelIndex, leaves: Callable[[str], bool]) -> None:
        self._shelf = shelf
        self._leaves = leaves

    def model(self, called: str) -> str:
        """What answers in a chat without a model of its own, where this is the usual one."""
        if called == STARTER:
            return called  # nothing is looked for
        return staying(called, self._shelf.everything(), self._leaves)

    def at_once(self, called: str) -> str:
        """The same, for a window, which cannot wait: by the models that were listed last."""
        return staying(called, self._shelf.listed, self._leaves)
