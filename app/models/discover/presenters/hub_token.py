"""The token for the Hub, for the window: where it is kept, testing and keeping it."""

from __future__ import annotations

from collections.abc import Callable

from app.base.secret import KeptToken
from app.base.tokens import HUB, Tokens
from app.kit.tasks.tasks import Failed, Tasks

KEYRING = "keyring"


class HubToken:
    """The token, on a queue of its own: the keyring may ask the user before it answers."""

    def __init__(self, tokens: Tokens, tasks: Tasks) -> None:
        self._tokens = tokens
        self._tasks = tasks

    def look(self, done: Callable[[str], object], failed: Failed) -> None:
        """Look where it would be kept; `done` is told what its owner should know of that place.

        That is "" if it is kept well.
        """
        self._tasks.run(lambda: self._tokens.status(HUB).warning or "", done, failed, on=KEYRING)

    def keep(self, token: str, done: Callable[[KeptToken], object], failed: Failed) -> None:
        """Test it and keep it."""
        self._tasks.run(lambda: self._tokens.keep(HUB, token), done, failed, on=KEYRING)
