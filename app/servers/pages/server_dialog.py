"""The dialog for adding or editing a server, which can test it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.base.home import expand_home
from app.base.language import in_full
from app.kit.look.theme import GRID
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.tick_box import TickBox
from app.servers.pages.words import found, models
from engines.errors import ServerRefused, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.servers.values import ServerInfo, ServerProfile


class FileField(QWidget):
    """A field for the path of a certificate file.

    Signals:
        changed(): The path has changed.
    """

    changed = Signal()

    def __init__(
        self, name: str, title: str, hint: str, path: Path | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._title = title
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        self._line = QLineEdit(str(path) if path is not None else "")
        self._line.setObjectName(name)
        self._line.setAccessibleName(title)
        self._line.setPlaceholderText(hint)
        self._line.setClearButtonEnabled(True)
        self._line.textChanged.connect(self.changed)
        pick = IconButton(
            "folder", self.tr("Choose a file for “{title}”").format(title=title), f"{name}Pick"
        )
        pick.clicked.connect(self._pick)
        row.addWidget(self._line, 1)
        row.addWidget(pick)
        self.setFocusProxy(self._line)

    @property
    def path(self) -> Path | None:
        text = self._line.text().strip()
        return expand_home(text) if text else None

    def _pick(self) -> None:
        dialog = QFileDialog(
            self.window(),
            self._title,
            str(Path.home()),
            self.tr("Certificates (*.pem *.crt *.cer)"),
        )
        dialog.setObjectName("pickCertificate")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._line.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


class ServerDialog(Dialog):
    """The dialog for a server.

    The owner answers a signal with `show_found`, `show_problem` or `accept`.

    Signals:
        test(profile, key, take_key): The user wants to test the server.
        save(profile, key, take_key): The user wants to save the profile. A key of None keeps the
            stored one; take_key means that it may be sent to another origin than before.
    """

    test = Signal(object, object, bool)
    save = Signal(object, object, bool)

    def __init__(
        self,
        profile: ServerProfile | None,
        key_variable: Callable[[str], str],
        parent: QWidget | None = None,
    ) -> None:
        """Create the dialog.

        Args:
            profile: The profile to edit; None for a new one.
            key_variable: Returns the environment variable that holds the key of a server with this
                name; "" if there is none.
        """
        from app.servers.values import ServerProfile

        super().__init__("serverDialog", width=520, parent=parent)
        new = profile is None
        self.set_title(self.tr("Add a server") if new else self.tr("Edit a server"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._is_new = profile is None
        self._key_variable = key_variable
        self._before = profile or ServerProfile("", "", "", None, None)
        column = self.column
        column.addWidget(
            Label(
                self.tr(
                    "Any server with an OpenAI-compatible API. What you write to its "
                    "models is sent there; each such chat says so."
                ),
                wrap=True,
            )
        )
        column.addLayout(self._form())
        self._result = Label("", name="serverResult", wrap=True, selectable=True)
        self._result.hide()
        column.addWidget(self._result)
        column.addStretch(1)
        self._make_buttons()
        self._typed()
        self._name.setFocus()

    @property
    def profile_id(self) -> str:
        """The id of the profile that is edited; "" for a new one."""
        return self._before.id

    @property
    def key(self) -> str | None:
        """The key that the user typed; None keeps the stored one, "" removes it."""
        return self._key.text().strip() or ("" if self._forget.isChecked() else None)

    @property
    def takes_key(self) -> bool:
        """Whether the stored key may be sent to the new address."""
        return self._moved() and self._take.isChecked()

    def profile(self) -> ServerProfile:
        return replace(
            self._before,
            name=self._name.text().strip(),
            address=self._address.text().strip(),
            ca=self._ca.path,
            certificate=self._certificate.path,
        )

    def show_found(self, info: ServerInfo) -> None:
        lines = [found(info), *models(info, 4)]
        self._say("\n".join(lines), "good")
        self._wait(False)
        self._save.setFocus()

    def show_problem(self, error: UserError) -> None:
        self._say(in_full(error), "problem")
        self._wait(False)
        if isinstance(error, ServerRefused):
            self._key.setFocus()

    def _form(self) -> QVBoxLayout:
        form = QVBoxLayout()
        form.setSpacing(GRID // 2)
        before = self._before
        self._name = self._line("serverName", self.tr("Name"), before.name, self.tr("team"))
        self._address = self._line(
            "serverAddress", self.tr("Address"), before.address, "https://ai.example.org:8000"
        )
        none = self.tr("if it asks for one")
        kept = self.tr("leave empty to keep the current one")
        self._key_hint = none if self._is_new else kept
        self._key = self._line("serverKey", self.tr("Key"), "", self._key_hint)
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._forget = TickBox(self.tr("Remove the current key"), "forgetServerKey")
        if self._is_new:
            self._forget.hide()
        self._take = TickBox(
            self.tr("Use the current key for the new address, too"), "takeServerKey"
        )
        self._take.hide()
        self._key_note = Label("", "small", name="serverKeyNote", wrap=True)
        self._ca = FileField(
            "serverCa", self.tr("Own CA"), self.tr("a .pem file, if the system does not know it"),
            before.ca,
        )  # fmt: skip
        self._certificate = FileField(
            "serverCertificate", self.tr("Client certificate"),
            self.tr("a .pem file with certificate and key"), before.certificate,
        )  # fmt: skip
        fields: tuple[tuple[str, QWidget], ...] = (
            (self.tr("Name"), self._name),
            (self.tr("Address"), self._address),
            (self.tr("Key"), self._key),
            (self.tr("Own CA"), self._ca),
            (self.tr("Client certificate"), self._certificate),
        )
        for title, field in fields:
            heading = Label(title, "muted")
            heading.setContentsMargins(0, 0 if field is self._name else GRID // 2, 0, 0)
            form.addWidget(heading)
            form.addWidget(field)
            if field is self._key:
                for below in (self._key_note, self._take, self._forget):
                    form.addWidget(below)
        return form

    def _line(self, name: str, title: str, text: str, hint: str) -> QLineEdit:
        line = QLineEdit(text)
        line.setObjectName(name)
        line.setAccessibleName(title)
        line.setPlaceholderText(hint)
        line.textChanged.connect(self._typed)
        return line

    def _make_buttons(self) -> None:
        self._cancel = self._button("cancelServer", self.tr("Cancel"))
        self._cancel.clicked.connect(self.reject)
        self._test = self._button("testServer", self.tr("Test"))
        self._test.clicked.connect(self._try)
        self._save = self._button("saveServer", self.tr("Save"))
        self._save.setProperty("look", "primary")
        self._save.setDefault(True)
        self._save.clicked.connect(self._keep)
        self.add_buttons(self._cancel, self._save, aside=self._test)

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        return button

    def _typed(self) -> None:
        whole = bool(self._name.text().strip() and self._address.text().strip())
        for button in (self._test, self._save):
            button.setEnabled(whole)
        self._say_where_the_key_goes()

    def _say_where_the_key_goes(self) -> None:
        """Say where the key is sent, and offer to send a stored key to a new origin.

        A stored key was given for one origin; it goes to another one only if the user agrees.
        """
        variable = self._key_variable(self._name.text().strip())
        moved = self._moved() and not variable
        self._take.setVisible(moved)
        self._forget.setVisible(not self._is_new and not moved and not variable)
        self._key.setPlaceholderText(self.tr("enter it again") if moved else self._key_hint)
        if variable:
            words = self.tr(
                "The key comes from {variable} in the environment and is sent to this address."
            ).format(variable=variable)
        elif moved:
            words = self.tr(
                "The current key is for {origin} only: enter it again for this address, or "
                "agree below. Otherwise it is removed."
            ).format(origin=self._before.origin)
        else:
            words = self.tr("It is stored in the system’s keyring and sent to this server only.")
        if words != self._key_note.text():
            self._key_note.setText(words)
            self.fit()

    def _moved(self) -> bool:
        """Return whether the typed address has another origin than before."""
        from app.base.errors import AddressInvalid
        from app.servers.values import normalised_address, origin_of

        if self._is_new:
            return False
        try:
            return origin_of(normalised_address(self._address.text())) != self._before.origin
        except AddressInvalid:
            return False

    def _try(self) -> None:
        self._wait(True)
        self._say(self.tr("Testing the server…"), "muted")
        self.test.emit(self.profile(), self.key, self.takes_key)

    def _keep(self) -> None:
        self._wait(True)
        self.save.emit(self.profile(), self.key, self.takes_key)

    def _wait(self, waits: bool) -> None:
        for button in (self._test, self._save):
            button.setEnabled(not waits)

    def _say(self, text: str, look: str) -> None:
        self._result.setProperty("look", look)
        self._result.style().unpolish(self._result)
        self._result.style().polish(self._result)
        self._result.setText(text)
        self._result.show()
        self.fit()
