"""Asks for an access token: opens the dialog, has the token tested, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.presenters.hub_token import HubToken
from app.services.tokens import Kept
from app.ui.models.discover.token_dialog import TokenDialog
from app.ui.notify import Notifier
from engines.errors import UserError


class TokenQuestion(QObject):
    """kept(): there is a new token."""

    kept = Signal()

    def __init__(
        self, token: HubToken, where: Callable[[], str], notifier: Notifier, window: QWidget
    ) -> None:
        """where: the address of the page on which tokens are made."""
        super().__init__(window)
        self._service = token
        self._where = where
        self._notifier = notifier
        self._window = window
        self._asked = False
        self._dialog: TokenDialog | None = None
        token.looked.connect(self._looked)
        token.kept.connect(self._kept)
        token.refused.connect(self._refused)
        token.crashed.connect(notifier.error)

    def ask(self) -> None:
        """Open the dialog, as soon as it is known where a token would be kept."""
        self._asked = True
        self._service.look()

    def _looked(self, warning: str) -> None:
        if not self._asked or self._dialog is not None:
            return
        self._asked = False
        kept = warning or self.tr("It is kept in the system’s keyring, never in a file.")
        dialog = TokenDialog(kept, bool(warning), self._window)
        dialog.save.connect(self._service.keep)
        dialog.where.connect(lambda: self._notifier.offer_to_open(self._where()))
        dialog.finished.connect(self._closed)
        self._dialog = dialog
        dialog.open()

    def _kept(self, kept: Kept) -> None:
        if self._dialog is not None:
            self._dialog.show_saved(kept.account, kept.why_untested, kept.status.warning)
        self.kept.emit()

    def _refused(self, error: UserError) -> None:
        self._asked = False
        if self._dialog is not None:
            self._dialog.show_problem(error)
        else:
            self._notifier.error(error)

    def _closed(self) -> None:
        self._dialog = None
