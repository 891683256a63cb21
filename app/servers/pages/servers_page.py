"""The page of other servers: lists, adds and tests them, and lets the user choose their models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.base.language import in_full, translated
from app.kit.look.theme import GRID
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.widgets.action import UserAction
from app.kit.widgets.card import ItemCard, empty_card
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.keyed_column import KeyedColumn
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import Part, at_start, at_top, column, fill, row
from app.kit.widgets.page_head import PageHead
from app.kit.widgets.picture import Picture
from app.servers.pages.server_dialog import ServerDialog
from app.servers.pages.words import found, models
from engines.errors import UserError

if TYPE_CHECKING:
    from app.models.library.pages.chooser import ModelChooser
    from app.models.library.presenters.models import Models
    from app.models.library.values.entry import ModelEntry
    from app.servers.presenters import Destination, ServerList
    from app.servers.values import ServerInfo, ServerProfile

_MOST = 8
"""The largest number of models in a server's row."""


class ListedServer(NamedTuple):
    """A server as the list shows it.

    Attributes:
        number: Its place, from 1.
        entries: Its models among those that the user can choose.
        current: The id or name of the model in use.
    """

    number: int
    profile: ServerProfile
    place: Destination
    entries: tuple[ModelEntry, ...]
    current: str


class ServerRow(ItemCard):
    """A server in the list: its name, its address, the result of its test, and its models."""

    def __init__(
        self,
        server: ListedServer,
        test: Callable[[], object],
        change: Callable[[], object],
        remove: Callable[[], object],
        use: Callable[[str], object],
    ) -> None:
        number, profile, place, entries, current = server
        name, leaves = profile.name, place.leaves
        super().__init__(
            f"server{number}", spoken=name, across=False, margins=(2.5, 2, 2, 2), spacing=1
        )
        words = self.tr("Edit {name}").format(name=name), self.tr("Remove {name}").format(name=name)
        self._test = test
        self._test_again = UserAction(
            f"testServer{number}", "again", self.tr("Test"), self._start
        ).button()
        buttons = (
            self._test_again,
            UserAction(f"changeServer{number}", "pencil", words[0], change).icon_button(),
            UserAction(f"removeServer{number}", "trash", words[1], remove).icon_button(),
        )
        address = ElidedLabel(profile.address, "small", f"serverAddress{number}")
        texts = column(Label(name, "title", wrap=True), address, spacing=2)
        picture = Picture("server", "accent_text", 24)
        where = self.tr("Text leaves this computer") if leaves else self.tr("On this computer")
        mark = Picture("leaves" if leaves else "check", "warn" if leaves else "good", 18)
        place_line = Label(where, "warn" if leaves else "good", name=f"serverPlace{number}")
        self._result = Label("", name=f"serverFound{number}", wrap=True, selectable=True)
        self._result.hide()
        lines: list[Part] = [
            self._model(entry, use, chosen=current in (entry.id, entry.name))
            for entry in entries[:_MOST]
        ]
        if len(entries) > _MOST:
            more = self.tr("And {count} more, in the model menu above a chat.")
            lines.append(Label(more.format(count=len(entries) - _MOST), "small", wrap=True))
        fill(
            self.box,
            row(at_top(picture), (texts, 1), *map(at_top, buttons), spacing=12),
            row(mark, (place_line, 1), spacing=6),
            self._result,
            column(*lines, spacing=4),
        )

    def show_found(self, info: ServerInfo) -> None:
        """Show what the test of the server found."""
        self._result.show_text("\n".join([found(info), *models(info)]), "")
        self._test_again.setEnabled(True)

    def show_problem(self, error: UserError) -> None:
        """Show why the test failed."""
        self._result.show_text(in_full(error), "problem")
        self._test_again.setEnabled(True)

    def _model(
        self, entry: ModelEntry, use: Callable[[str], object], *, chosen: bool
    ) -> QHBoxLayout:
        name = entry.name_at_server
        end: QWidget = Label(self.tr("In use"), "chosen")
        if not chosen:
            choose = UserAction(f"use-{entry.id}", "chat", self.tr("Use"), partial(use, entry.id))
            end = choose.button("quiet", spoken=self.tr("Use {name_of}").format(name_of=name))
        return row(Picture("box", "muted", 16), (ElidedLabel(name), 1), end)

    def _start(self) -> None:
        self._test_again.setEnabled(False)
        self._result.show_text(self.tr("Testing the server…"), "muted")
        self._test()


class ServersPage(PartPage):
    """The list of servers. A model chosen here answers in the current chat."""

    def __init__(
        self,
        servers: ServerList,
        models: Models,
        notifier: Notifier,
        navigation: Navigation,
        chooser: ModelChooser,
    ) -> None:
        super().__init__("serversPage")
        self._servers = servers
        self._models = models
        self._notifier = notifier
        self._navigation = navigation
        self._chooser = chooser
        words = self.tr("Add a server…")
        add = UserAction("addServer", "plus", words, self.add).button()
        words = self.tr(
            "A vLLM of your team, an Ollama in the next room, a gateway of your "
            "company: add its address, and its models appear in the model menu. "
            "Chats with them show that text leaves this computer."
        )
        first = UserAction("addFirstServer", "plus", add.text(), self.add).button("primary")
        title = self.tr("Let another computer answer")
        self._none = empty_card("noServers", "server", title, words, at_start(first))
        self._rows = KeyedColumn(lambda server: server.profile.id, self._row, spacing=2 * GRID)
        head = PageHead(self.tr("Servers"), "serversBack", navigation.go_to_chat, add)
        fill(self.column, head, self._none, self._rows.layout, 1)
        servers.listed.connect(self._listed)
        servers.failed.connect(notifier.error)
        models.listed.connect(self.show_servers)
        self.show_servers()

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh the list of servers."""
        super().showEvent(event)
        self._servers.refresh()
        self.show_servers()

    def add(self) -> None:
        """Open the dialog for a new server."""
        self._edit(None)

    def show_servers(self) -> None:
        """Show the servers with their current data."""
        servers, current = self._servers, self._chooser.current()
        entries = [entry for entry in self._models.list() if entry.on_server]
        rows = []
        for number, server in enumerate(servers.profiles(), start=1):
            models = tuple(entry for entry in entries if entry.server == server.id)
            rows.append(
                ListedServer(number, server, servers.destination_of(server), models, current)
            )
        self._rows.show(rows)
        self._none.setVisible(not rows)

    def _row(self, server: ListedServer) -> ServerRow:
        profile = server.profile
        return ServerRow(
            server,
            partial(self._test, profile),
            partial(self._edit, profile),
            partial(self._ask_to_remove, profile),
            self._use,
        )

    def _use(self, model_id: str) -> None:
        self._chooser.use(model_id)
        self._navigation.go_to_chat()

    def _edit(self, profile: ServerProfile | None) -> None:
        ServerDialog(
            profile, self._servers, self._notifier, self._saved, self._models.look, self.window()
        ).open()

    def _saved(self, profile: ServerProfile, warning: str) -> None:
        note = self.tr("{name} was saved.").format(name=profile.name)
        self._notifier.say(f"{note} {translated(warning)}".strip())
        self._test(profile)

    def _test(self, profile: ServerProfile) -> None:
        def tested(info: ServerInfo) -> None:
            if profile.id in self._rows.rows:
                self._rows.rows[profile.id].show_found(info)
            self._models.look()

        self._servers.test(profile, None, False, tested, self._refusal(profile))

    def _refusal(self, profile: ServerProfile) -> Callable[[Exception], None]:
        """Return a callback that shows an error in the server's row, if it has one."""

        def refused(error: UserError) -> None:
            row = self._rows.rows.get(profile.id)
            (row.show_problem if row else self._notifier.error)(error)

        return self._notifier.error_handler(refused)

    def _listed(self) -> None:
        self.show_servers()
        self._models.look()

    def _ask_to_remove(self, profile: ServerProfile) -> None:
        self._notifier.confirm(
            self.tr("Remove {name}?").format(name=profile.name),
            self.tr(
                "Its key and its models are removed from Hearth. Chats with them stay, "
                "and can continue with another model."
            ),
            ("confirmRemoveServer", self.tr("Remove")),
            ("keepServer", self.tr("Keep it")),
            lambda: self._servers.remove(profile, self._refusal(profile)),
        )
