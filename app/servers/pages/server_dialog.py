"""The dialog for adding or editing a server, which can test it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.home import expand_home
from app.kit.notify import Notifier
from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import LineField
from app.kit.widgets.form import FormDialog, field
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import column, row
from app.kit.widgets.picking import FILE, pick
from app.kit.widgets.tick_box import TickBox
from app.servers.pages.words import found, models
from app.servers.presenters import ServerList
from engines.errors import ServerRefused, UserError

if TYPE_CHECKING:
    from app.servers.values import ServerInfo, ServerProfile


class FileField(QWidget):
    """A field for the path of a certificate file."""

    def __init__(self, name: str, title: str, hint: str, path: Path | None) -> None:
        super().__init__()
        self._title = title
        self._line = LineField(name, title, str(path or ""), hint=hint, clears=True)
        words = self.tr("Choose a file for “{title}”").format(title=title)
        choose = UserAction(f"{name}Pick", "folder", words, self._pick)
        self.setLayout(row((self._line, 1), choose.icon_button()))
        self.setFocusProxy(self._line)

    @property
    def path(self) -> Path | None:
        """The chosen file; None if the field is empty."""
        text = self._line.words
        return expand_home(text) if text else None

    def _pick(self) -> None:
        def picked(paths: list[Path]) -> None:
            self._line.setText(str(paths[0]))

        kinds = (self.tr("Certificates (*.pem *.crt *.cer)"),)
        pick(self.window(), "pickCertificate", self._title, FILE, picked, filters=kinds)


class ServerDialog(FormDialog):
    """The dialog for a server."""

    def __init__(
        self,
        profile: ServerProfile | None,
        servers: ServerList,
        notifier: Notifier,
        saved: Callable[[ServerProfile, str], object],
        tested: Callable[[], object],
        parent: QWidget,
    ) -> None:
        """Create the dialog.

        Args:
            profile: The profile to edit; None for a new one.
            servers: Tests and saves it.
            notifier: Shows errors after the dialog was closed.
            saved: Called as the `done` of `ServerList.save`.
            tested: Called after a test that found the server.
            parent: The window.
        """
        from app.servers.values import ServerProfile

        new = profile is None
        attempt = UserAction("testServer", "", self.tr("Test"), self._start_test).button()
        super().__init__(
            "serverDialog",
            self.tr("Add a server") if new else self.tr("Edit a server"),
            UserAction("saveServer", "", self.tr("Save"), self._save),
            "cancelServer",
            problem="serverResult",
            width=520,
            aside=attempt,
            parent=parent,
        )
        self._try = attempt
        self._is_new = new
        self._before = profile or ServerProfile("", "", "", None, None)
        self._servers = servers
        self._saved = saved
        self._tested = tested
        self._refused = self.failure_handler(notifier.error)
        words = self.tr(
            "Any server with an OpenAI-compatible API. What you write to its "
            "models is sent there; each such chat says so."
        )
        form = self._form()
        self.lay_out(Label(words, wrap=True), form, self.problem, first=self._name)
        changes = self._name.textChanged, self._address.textChanged
        for change in changes:
            change.connect(self._explain_key)
        self.save_if(lambda: self._name.words and self._address.words, *changes)
        self._explain_key()

    @property
    def key(self) -> str | None:
        """The key that the user typed; None keeps the stored one, "" removes it."""
        return self._key.words or ("" if self._forget.isChecked() else None)

    @property
    def takes_key(self) -> bool:
        """True if the stored key may be sent to the new address."""
        return self._moved() and self._key_switch.isChecked()

    def profile(self) -> ServerProfile:
        """Return the profile as it is in the form."""
        return replace(
            self._before,
            name=self._name.words,
            address=self._address.words,
            ca=self._ca.path,
            certificate=self._certificate.path,
        )

    def check(self) -> None:
        """Enable *Test* and *Save* if the form is complete."""
        super().check()
        self._try.setEnabled(self.save.isEnabled())

    def show_found(self, info: ServerInfo) -> None:
        """Show what the test of the server found."""
        if self.is_open:
            self.say("\n".join([found(info), *models(info, 4)]), "good")
            self.wait(False)
            self.save.setFocus()
        self._tested()

    def show_problem(self, error: UserError) -> None:
        """Show why testing or saving failed, and move the focus to the field at fault."""
        super().show_problem(error)
        if isinstance(error, ServerRefused):
            self._key.setFocus()

    def _form(self) -> QVBoxLayout:
        before = self._before
        name, address, key = self.tr("Name"), self.tr("Address"), self.tr("Key")
        ca, certificate = self.tr("Own CA"), self.tr("Client certificate")
        hint = "https://ai.example.org:8000"
        self._name = LineField("serverName", name, before.name, hint=self.tr("team"))
        self._address = LineField("serverAddress", address, before.address, hint=hint)
        none = self.tr("if it asks for one")
        unchanged = self.tr("leave empty to keep the current one")
        self._key_hint = none if self._is_new else unchanged
        self._key = LineField("serverKey", key, hint=self._key_hint, secret=True)
        self._key_note = Label("", "small", name="serverKeyNote", wrap=True)
        words = self.tr("Use the current key for the new address, too")
        self._key_switch = TickBox(words, "takeServerKey")
        self._forget = TickBox(self.tr("Remove the current key"), "forgetServerKey")
        hint = self.tr("a .pem file, if the system does not know it")
        self._ca = FileField("serverCa", ca, hint, before.ca)
        hint = self.tr("a .pem file with certificate and key")
        self._certificate = FileField("serverCertificate", certificate, hint, before.certificate)
        return column(
            field(name, self._name, look="muted"),
            field(address, self._address, look="muted"),
            field(key, self._key, self._key_note, self._key_switch, self._forget, look="muted"),
            field(ca, self._ca, look="muted"),
            field(certificate, self._certificate, look="muted"),
        )

    def _explain_key(self) -> None:
        """Say where the key is sent, and offer to send a stored key to a new origin.

        A stored key was given for one origin; it goes to another one only if the user agrees.
        """
        variable = self._servers.key_variable(self._name.words)
        moved = self._moved() and not variable
        self._key_switch.setVisible(moved)
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

    def _start_test(self) -> None:
        self.wait(True)
        self.say(self.tr("Testing the server…"), "muted")
        self._servers.test(self.profile(), self.key, self.takes_key, self.show_found, self._refused)

    def _save(self) -> None:
        def saved(profile: ServerProfile, warning: str) -> None:
            self.finish()
            self._saved(profile, warning)

        self._servers.save(self.profile(), self.key, self.takes_key, saved, self._refused)
