"""The token for the Hub, for the window: where it is stored, and how it is tested and stored."""

from __future__ import annotations

from collections.abc import Callable

from app.base.secret import SavedToken
from app.base.tokens import HUB, Tokens
from app.kit.tasks.tasks import Failed, Tasks

KEYRING = "keyring"


class HubToken:
    """The token, on a task queue of its own: the keyring can ask the user before it answers."""

    def __init__(self, tokens: Tokens, tasks: Tasks) -> None:
        self._tokens = tokens
        self._tasks = tasks

    def look(self, done: Callable[[str], object], failed: Failed) -> None:
        """Check where a token would be stored.

        Args:
            done: Receives a warning about that place; "" if it is safe.
        """
        self._tasks.run(lambda: self._tokens.status(HUB).warning or "", done, failed, on=KEYRING)

    def keep(self, token: str, done: Callable[[SavedToken], object], failed: Failed) -> None:
        """Test a token and store it."""
        self._tasks.run(lambda: self._tokens.save(HUB, token), done, failed, on=KEYRING)
