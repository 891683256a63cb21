"""The question for an access token: opens the dialog, tests the token, and shows the result."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.base.language import in_full, translated
from app.base.secret import SavedToken
from app.kit.notify import Notifier
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.models.discover.presenters.hub_token import HubToken
from engines.errors import UserError


class TokenDialog(Dialog):
    """The dialog for an access token; its owner answers with `show_saved` or `show_problem`.

    Args:
        kept: A sentence that says where the token will be stored.
        warns: Whether that sentence is a warning.

    Signals:
        save: The token to test and store.
        where: The user wants to open the page on which tokens are created.
    """

    save = Signal(str)
    where = Signal()

    def __init__(self, kept: str, warns: bool, parent: QWidget | None = None) -> None:
        super().__init__("tokenDialog", width=520, parent=parent)
        self.set_title(self.tr("Access token for huggingface.co"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        column = self.column
        column.addWidget(
            Label(
                self.tr(
                    "It shows the Hub that you have accepted a model’s terms. One that may only "
                    "read is enough. It goes to the Hub and to nobody else."
                ),
                wrap=True,
            )
        )
        self._field = QLineEdit()
        self._field.setObjectName("token")
        self._field.setAccessibleName(self.tr("Access token"))
        self._field.setPlaceholderText("hf_…")
        self._field.setEchoMode(QLineEdit.EchoMode.Password)
        self._field.textChanged.connect(self._typed)
        column.addWidget(self._field)
        self._kept = Label(kept, "caution" if warns else "small", name="tokenKept", wrap=True)
        column.addWidget(self._kept)
        self._result = Label("", name="tokenResult", wrap=True)
        self._result.hide()
        column.addWidget(self._result)
        column.addStretch(1)
        self._make_buttons()
        self._typed()

    def show_saved(self, account: str | None, untested: str | None, warning: str | None) -> None:
        """Show that the token is stored.

        Args:
            account: The token's account; None if the token was not tested.
            untested: Why it was not tested.
            warning: What the user should know about the place where it is stored.
        """
        if account is not None:
            said = self.tr("Saved. The token belongs to {account}.").format(account=account)
        else:
            said = " ".join((self.tr("Saved."), translated(untested or "")))
        self._say(said, "good")
        self._kept.setText(translated(warning or "") or self._kept.text())
        self._field.clear()
        self._cancel.setText(self.tr("Close"))
        self._cancel.setAccessibleName(self.tr("Close"))
        self._cancel.setFocus()

    def show_problem(self, error: UserError) -> None:
        self._say(in_full(error), "problem")
        self._save.setEnabled(True)
        self._field.setEnabled(True)
        self._field.setFocus()
        self._field.selectAll()

    def _make_buttons(self) -> None:
        where = LabelledButton(
            "browse", self.tr("Where do I get one?"), "whereToken", look="link", tone="accent_text"
        )
        where.clicked.connect(self.where)
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setObjectName("cancelToken")
        self._cancel.setAccessibleName(self.tr("Cancel"))
        self._cancel.clicked.connect(self.reject)
        self._save = QPushButton(self.tr("Test and save"))
        self._save.setObjectName("saveToken")
        self._save.setAccessibleName(self.tr("Test and save"))
        self._save.setProperty("look", "primary")
        self._save.setDefault(True)
        self._save.clicked.connect(self._start)
        self.add_buttons(self._cancel, self._save, aside=where)

    def _typed(self) -> None:
        self._save.setEnabled(bool(self._field.text().strip()))

    def _start(self) -> None:
        self._save.setEnabled(False)
        self._field.setEnabled(False)
        self._say(self.tr("Checking the token…"), "muted")
        self.save.emit(self._field.text().strip())

    def _say(self, text: str, look: str) -> None:
        self._result.setProperty("look", look)
        self._result.style().unpolish(self._result)
        self._result.style().polish(self._result)
        self._result.setText(text)
        self._result.show()
        self.fit()


class TokenQuestion(QObject):
    """The question for an access token.

    Args:
        where: Returns the address of the page on which tokens are created.

    Signals:
        kept: A new token was stored.
    """

    kept = Signal()

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
        if self._dialog is not None:
            return
        kept = translated(warning) or self.tr(
            "It is stored in the system’s keyring, never in a file."
        )
        dialog = TokenDialog(kept, bool(warning), self._window)
        dialog.save.connect(self._save)
        dialog.where.connect(lambda: self._notifier.offer_to_open(self._where()))
        dialog.finished.connect(self._closed)
        self._dialog = dialog
        dialog.open()

    def _save(self, token: str) -> None:
        self._service.keep(token, self._kept, self._notifier.telling(self._refused))

    def _kept(self, kept: SavedToken) -> None:
        if self._dialog is not None:
            self._dialog.show_saved(kept.account, kept.why_untested, kept.status.warning)
        self.kept.emit()

    def _refused(self, error: UserError) -> None:
        if self._dialog is not None:
            self._dialog.show_problem(error)
        else:
            self._notifier.error(error)

    def _closed(self) -> None:
        self._dialog = None
