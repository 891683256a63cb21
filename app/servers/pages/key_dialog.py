"""The dialog that asks for a server's key after the server refused the request."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from app.base.language import translated
from app.kit.notify import Notifier
from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import LineField
from app.kit.widgets.form import FormDialog
from app.kit.widgets.label import Label
from app.servers.presenters import ServerList
from app.servers.values import ServerProfile

_tr = QCoreApplication.translate


def ask_for_key(
    server: str,
    servers: ServerList,
    notifier: Notifier,
    window: QWidget,
    done: Callable[[], object],
) -> None:
    """Ask for a server's key.

    Args:
        server: The server's name.
        servers: Stores the key.
        notifier: Shows errors after the dialog was closed.
        window: The window that the dialog belongs to.
        done: Called when the key is stored, or at once if there is no such server.
    """
    profile = next(
        (server_profile for server_profile in servers.profiles() if server_profile.name == server),
        None,
    )
    if profile is None:
        done()  # the server was removed or renamed meanwhile, and the next error says so
        return

    def save() -> None:
        servers.save(profile, key.words, False, saved, dialog.failure_handler(notifier.error))

    def saved(_: ServerProfile, warning: str) -> None:
        if warning:
            notifier.say(translated(warning))
        if dialog.is_open:
            dialog.accept()
            done()

    title = _tr("servers", "Key for {server}").format(server=server)
    action = UserAction("saveKey", "", _tr("servers", "Save and try again"), save)
    dialog = FormDialog(
        "keyDialog", title, action, "cancelKey", problem="keyProblem", width=440, parent=window
    )
    words = _tr("servers", "It is stored in the system’s keyring and sent to this server only.")
    key = LineField("key", _tr("servers", "Key"), secret=True)
    dialog.lay_out(Label(words, "small", wrap=True), key, dialog.problem, first=key)
    dialog.save_if(lambda: key.words, key.textChanged)
    dialog.open()
