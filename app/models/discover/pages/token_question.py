"""The question for an access token: opens the dialog, tests the token, and shows the result."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.base.language import translated
from app.base.secret import SavedToken
from app.kit.notify import Notifier
from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import LineField
from app.kit.widgets.form import FormDialog
from app.kit.widgets.label import Label
from app.models.discover.presenters.hub_token import HubToken
from engines.errors import UserError


class TokenDialog(FormDialog):
    """The dialog for an access token; its owner answers with `show_saved` or `show_problem`.

    Args:
        storage: A sentence that says where the token will be stored.
        warns: Whether that sentence is a warning.
        save: Tests and stores the token.
        where: Opens the page on which tokens are created.
        parent: The window.
    """

    def __init__(
        self,
        storage: str,
        warns: bool,
        save: Callable[[str], object],
        where: Callable[[], object],
        parent: QWidget,
    ) -> None:
        def start() -> None:
            self.say(self.tr("Checking the token…"), "muted")
            save(self._field.words)

        help_text = self.tr("Where do I get one?")
        super().__init__(
            "tokenDialog",
            self.tr("Access token for huggingface.co"),
            UserAction("saveToken", "", self.tr("Test and save"), start),
            "cancelToken",
            problem="tokenResult",
            width=520,
            aside=UserAction("whereToken", "browse", help_text, where).button("link"),
            parent=parent,
        )
        words = self.tr(
            "It shows the Hub that you have accepted a model’s terms. Read access is "
            "enough. Hearth sends it to the Hub and to nobody else."
        )
        self._field = LineField("token", self.tr("Access token"), hint="hf_…", secret=True)
        self._storage = Label(storage, "caution" if warns else "small", name="tokenKept", wrap=True)
        parts = Label(words, wrap=True), self._field, self._storage, self.problem
        self.lay_out(*parts, first=self._field)
        self.save_if(lambda: self._field.words, self._field.textChanged)

    def show_saved(self, account: str | None, untested: str | None, warning: str | None) -> None:
        """Show that the token is stored.

        Args:
            account: The token's account; None if the token was not tested.
            untested: Why it was not tested.
            warning: What the user should know about the place where it is stored.
        """
        if account is not None:
            text = self.tr("Saved. The token belongs to {account}.").format(account=account)
        else:
            text = " ".join((self.tr("Saved."), translated(untested or "")))
        self.say(text, "good")
        self._storage.setText(translated(warning or "") or self._storage.text())
        self._field.clear()
        self._field.setEnabled(False)
        self.leave.redraw("", self.tr("Close"))
        self.leave.setFocus()

    def show_problem(self, error: UserError) -> None:
        """Show why the token was not stored, and let the user enter another."""
        super().show_problem(error)
        self._field.selectAll()


class TokenQuestion(QObject):
    """The question for an access token.

    Args:
        where: Returns the address of the page on which tokens are created.

    Signals:
        saved: A new token was stored.
    """

    saved = Signal()

    def __init__(
        self, token: HubToken, where: Callable[[], str], notifier: Notifier, window: QWidget
    ) -> None:
        super().__init__(window)
        self._service = token
        self._where = where
        self._notifier = notifier
        self._window = window
        self._dialog: TokenDialog | None = None

    def ask(self) -> None:
        """Open the dialog, once it is known where a token would be stored."""
        self._service.look(self._open, self._notifier.error)

    def _open(self, warning: str) -> None:
        if self._dialog is not None and self._dialog.is_open:
            return
        storage = translated(warning) or self.tr(
            "It is stored in the system’s keyring, never in a file."
        )

        def save(token: str) -> None:
            failed = dialog.failure_handler(self._notifier.error)
            self._service.keep(token, self._show_saved, failed)

        def show_where() -> None:
            self._notifier.offer_to_open(self._where())

        dialog = TokenDialog(storage, bool(warning), save, show_where, self._window)
        self._dialog = dialog
        dialog.open()

    def _show_saved(self, saved: SavedToken) -> None:
        if self._dialog is not None and self._dialog.is_open:
            self._dialog.show_saved(saved.account, saved.why_untested, saved.status.warning)
        self.saved.emit()
