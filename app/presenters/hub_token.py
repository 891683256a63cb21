"""The token for the Hub, for the window: where it would be kept, testing it and keeping it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.presenters.tasks import Tasks
from app.presenters.telling import telling
from app.services.tokens import HUB, Kept, Tokens

KEYRING = "keyring"


class HubToken(QObject):
    """The keyring may ask the user something before it answers, so it has a queue of its own.

    looked(warning): what its owner should know of where it would be kept, "" if it is kept well.
    kept(Kept). refused(error): in three parts. crashed(error): a bug of ours, told besides.
    """

    looked = Signal(str)
    kept = Signal(object)
    refused = Signal(Exception)
    crashed = Signal(Exception)

    def __init__(self, tokens: Tokens, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tokens = tokens
        self._tasks = tasks

    def look(self) -> None:
        """Emits looked, or refused."""
        self._tasks.run(
            lambda: self._tokens.status(HUB).warning or "",
            self.looked.emit,
            telling(self.refused.emit, self.crashed.emit),
            on=KEYRING,
        )

    def keep(self, token: str) -> None:
        """Test it and keep it; emits kept, or refused."""

        def work() -> Kept:
            return self._tokens.keep(HUB, token)

        self._tasks.run(
            work, self.kept.emit, telling(self.refused.emit, self.crashed.emit), on=KEYRING
        )
