"""The page of other servers: lists, adds and tests them, and lets the user choose their models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.theme import GRID
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.widgets.column_page import ColumnPage
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import PageHead
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.servers.pages.server_dialog import ServerDialog
from app.servers.pages.server_row import ServerRow
from engines.errors import UserError

if TYPE_CHECKING:
    from app.models.library.pages.chooser import ModelChooser
    from app.servers.values import ServerInfo, ServerProfile
    from app.window.presenters.window import WindowPresenters


class ServersPage(ColumnPage):
    """The list of servers. A model chosen here answers in the current chat."""

    def __init__(
        self,
        presenters: WindowPresenters,
        notifier: Notifier,
        navigation: Navigation,
        chooser: ModelChooser,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("serversPage", spacing=2 * GRID, parent=parent)
        self._servers = presenters.servers
        self._models = presenters.models
        self._notifier = notifier
        self._navigation = navigation
        self._chooser = chooser
        self._rows: dict[str, ServerRow] = {}
        self._dialog: ServerDialog | None = None
        self.column.addWidget(self._head())
        self._none = self._empty_part()
        self.column.addWidget(self._none)
        self._list = QVBoxLayout()
        self._list.setSpacing(2 * GRID)
        self.column.addLayout(self._list)
        self.column.addStretch(1)
        servers = self._servers
        servers.listed.connect(self._listed)
        servers.failed.connect(notifier.error)
        self._models.listed.connect(self.show_servers)
        self.show_servers()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._servers.look()
        self.show_servers()

    def add(self) -> None:
        """Open the dialog for a new server."""
        self._open(None)

    def show_servers(self) -> None:
        """Show the servers with their current data."""
        profiles, current = self._servers.profiles(), self._chooser.current()
        entries = [it for it in self._models.list() if it.on_server]
        empty(self._list)
        self._rows = {}
        for number, profile in enumerate(profiles, start=1):
            own = [it for it in entries if it.server == profile.id]
            row = ServerRow(number, profile, self._servers.where(profile), own, current)
            row.test.connect(lambda it=profile: self._test(it))
            row.change.connect(lambda it=profile: self._open(it))
            row.remove.connect(lambda it=profile: self._ask_to_remove(it))
            row.use.connect(self._use)
            self._list.addWidget(row)
            self._rows[profile.id] = row
        self._none.setVisible(not profiles)

    def _head(self) -> PageHead:
        add = LabelledButton("plus", self.tr("Add a server…"), "addServer")
        add.clicked.connect(self.add)
        head = PageHead(self.tr("Servers"), "serversBack", add)
        head.back.connect(self._navigation.go_to_chat)
        return head

    def _empty_part(self) -> QWidget:
        part = Panel("card", "noServers", margins=(3, 3, 3, 3), spacing=1.5)
        part.box.addWidget(Picture("server", "accent_text", 32))
        part.box.addWidget(Label(self.tr("Let another computer answer"), "title", wrap=True))
        part.box.addWidget(
            Label(
                self.tr(
                    "A vLLM of your team, an Ollama in the next room, a gateway of your "
                    "company: add its address, and its models appear in the model menu. "
                    "Chats with them show that text leaves this computer."
                ),
                name="noServersWords",
                wrap=True,
            )
        )
        add = LabelledButton(
            "plus", self.tr("Add a server…"), "addFirstServer", look="primary", tone="on_accent"
        )
        add.clicked.connect(self.add)
        part.box.addWidget(add, 0, Qt.AlignmentFlag.AlignLeft)
        return part

    def _use(self, model_id: str) -> None:
        self._chooser.use(model_id)
        self._navigation.go_to_chat()

    def _open(self, profile: ServerProfile | None) -> None:
        dialog = ServerDialog(profile, self._servers.key_variable, self.window())
        dialog.test.connect(self._test)
        dialog.save.connect(self._save)
        dialog.finished.connect(self._closed)
        self._dialog = dialog
        dialog.open()

    def _closed(self) -> None:
        self._dialog = None

    def _asks(self, profile_id: str) -> ServerDialog | None:
        """Return the dialog if it is open for this profile; then it shows the results."""
        dialog = self._dialog
        return dialog if dialog is not None and dialog.profile_id == profile_id else None

    def _test(self, profile: ServerProfile, key: str | None = None, take_key: bool = False) -> None:
        def tested(info: ServerInfo) -> None:
            dialog = self._asks(profile.id)
            if dialog is not None:
                dialog.show_found(info)
            elif profile.id in self._rows:
                self._rows[profile.id].show_found(info)
            self._models.look()

        self._servers.test(profile, key, take_key, tested, self._refusal(profile))

    def _save(self, profile: ServerProfile, key: str | None, take_key: bool) -> None:
        def saved(kept: ServerProfile, warning: str) -> None:
            dialog = self._asks(profile.id)
            if dialog is not None:
                dialog.accept()
            said = self.tr("{name} was saved.").format(name=kept.name)
            self._notifier.say(f"{said} {translated(warning)}".strip())
            self._test(kept)

        self._servers.save(profile, key, take_key, saved, self._refusal(profile))

    def _refusal(self, profile: ServerProfile) -> Callable[[Exception], None]:
        """Return a callback that shows an error in the dialog or row that it concerns."""
        return self._notifier.telling(lambda error: self._refused(profile.id, error))

    def _refused(self, profile_id: str, error: UserError) -> None:
        dialog = self._asks(profile_id)
        if dialog is not None:
            dialog.show_problem(error)
        elif profile_id in self._rows:
            self._rows[profile_id].show_problem(error)
        else:
            self._notifier.error(error)

    def _remove(self, profile: ServerProfile) -> None:
        self._servers.remove(profile, self._refusal(profile))

    def _listed(self) -> None:
        self.show_servers()
        self._models.look()

    def _ask_to_remove(self, profile: ServerProfile) -> None:
        lines = [
            self.tr("Remove {name}?").format(name=profile.name),
            self.tr(
                "Its key and its models are removed from Hearth. Chats with them stay, "
                "and can continue with another model."
            ),
        ]
        answers = [
            ("keepServer", self.tr("Keep it")),
            ("confirmRemoveServer", self.tr("Remove")),
        ]
        self._notifier.ask(
            lines,
            answers,
            lambda it: self._remove(profile) if it == "confirmRemoveServer" else None,
        )
