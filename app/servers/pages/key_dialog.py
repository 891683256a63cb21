"""The dialog that asks for a server's key after the server refused the request."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.base.language import in_full, translated
from app.kit.notify import Notifier
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.label import Label
from app.servers.presenters import ServerList
from engines.errors import UserError

_WIDTH = 440


class KeyDialog(Dialog):
    """The dialog for a server's key.

    The owner answers `save` with `accept` or `show_problem`.

    Signals:
        save(key): The user wants to store this key.
    """

    save = Signal(str)

    def __init__(self, server: str, parent: QWidget | None = None) -> None:
        super().__init__("keyDialog", width=_WIDTH, parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.set_title(self.tr("Key for {server}").format(server=server))
        self.column.addWidget(
            Label(
                self.tr("It is stored in the system’s keyring and sent to this server only."),
                "small",
                wrap=True,
            )
        )
        self._field = QLineEdit()
        self._field.setObjectName("key")
        self._field.setAccessibleName(self.tr("Key"))
        self._field.setEchoMode(QLineEdit.EchoMode.Password)
        self._field.textChanged.connect(self._typed)
        self.column.addWidget(self._field)
        self._problem = Label("", "problem", name="keyProblem", wrap=True, selectable=True)
        self._problem.hide()
        self.column.addWidget(self._problem)
        self.column.addStretch(1)
        cancel = self._button("cancelKey", self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self._save = self._button("saveKey", self.tr("Save and try again"))
        self._save.setProperty("look", "primary")
        self._save.setDefault(True)
        self._save.clicked.connect(self._keep)
        self.add_buttons(cancel, self._save)
        self._typed()
        self._field.setFocus()

    def show_problem(self, error: UserError) -> None:
        self._problem.setText(in_full(error))
        self._problem.show()
        self.fit()
        self._field.setEnabled(True)
        self._field.setFocus()
        self._typed()

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        return button

    def _typed(self) -> None:
        self._save.setEnabled(bool(self._field.text().strip()))

    def _keep(self) -> None:
        self._save.setEnabled(False)
        self._field.setEnabled(False)
        self.save.emit(self._field.text().strip())


def ask_for_key(
    server: str,
    servers: ServerList,
    notifier: Notifier,
    window: QWidget,
    then: Callable[[], object],
) -> None:
    """Ask for a server's key.

    Args:
        server: The server's name.
        then: Called when the key is stored, or at once if there is no such server.
    """
    profile = next((it for it in servers.profiles() if it.name == server), None)
    if profile is None:
        then()  # the server was removed or renamed meanwhile, and the next error says so
        return
    dialog = KeyDialog(server, window)
    closed: list[int] = []
    dialog.finished.connect(closed.append)

    def saved(_: object, warning: str) -> None:
        if warning:
            notifier.say(translated(warning))
        if not closed:
            dialog.accept()
            then()

    def refused(error: UserError) -> None:
        if closed:
            notifier.error(error)
        else:
            dialog.show_problem(error)

    failed = notifier.telling(refused)
    dialog.save.connect(lambda key: servers.save(profile, key, False, saved, failed))
    dialog.open()
