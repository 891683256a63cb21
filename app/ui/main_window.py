"""The window: sidebar, header and pages side by side, and the commands that span them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.core.conversation import UNTITLED
from app.core.settings import Settings
from app.core.window_state import WindowState
from app.services.window import WindowServices
from app.ui.actions import commands
from app.ui.arrivals import Arrivals
from app.ui.chat.chat_page import ChatPage
from app.ui.chat.guide_banner import GuideBanner
from app.ui.chat.header import Header
from app.ui.connections.connections_page import ConnectionsPage
from app.ui.going_online import GoingOnline
from app.ui.icons import app_icon
from app.ui.models.chooser import ModelChooser
from app.ui.models.models_page import ModelsPage, Part
from app.ui.notify import Notifier
from app.ui.onboarding.download_strip import DownloadStrip
from app.ui.settings.settings_dialog import SettingsDialog
from app.ui.shortcuts_dialog import ShortcutsDialog
from app.ui.sidebar.exporter import Exporter
from app.ui.sidebar.sidebar import Sidebar


class MainWindow(QMainWindow):
    """Wires the parts together; what they do is theirs.

    report: makes the text of a report about a bug of ours.
    """

    def __init__(self, services: WindowServices, report: Callable[[BaseException], str]) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Hearth")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(520, 420)
        self.resize(1120, 760)
        self._services = services
        settings = services.settings
        self.notifier = Notifier(self, report, services.log_file, lambda: services.is_offline)
        self._chooser = ModelChooser(services.models, settings, self.notifier, self)
        self._exporter = Exporter(services.chats, self.notifier, self)
        self._sidebar = Sidebar()
        self._header = Header()
        self._page = ChatPage(services.chats, services.generation, settings.current, self.notifier)
        self._banner = GuideBanner()
        self._strip = DownloadStrip()
        self._page.banners.addWidget(self._banner)
        self._page.banners.addWidget(self._strip)
        self._models = ModelsPage(services, self.notifier)
        self._connections = ConnectionsPage(services.connections, self.notifier)
        self._online = GoingOnline(services, self.notifier, self)
        self._arrivals = Arrivals(services.downloads, self.notifier, self._page.isVisible, self)
        self._reopen: str | None = None
        self._sidebar_width = WindowState().sidebar_width
        self._lay_out()
        self._connect()
        self._add_actions()
        self._apply(settings.current)
        self._online.tell()
        self._page.open_chat(None)
        self._refresh()
        self._page.composer.focus()
        services.system.check()
        services.suggestions.recommend()
        services.downloads.look()

    def restore(self, state: WindowState) -> None:
        """Take the place and shape that the window had."""
        if state.geometry:
            self.restoreGeometry(QByteArray.fromHex(QByteArray(state.geometry.encode())))
        self._sidebar_width = state.sidebar_width
        self._sidebar.hide()
        self._set_sidebar(state.sidebar)

    def state(self) -> WindowState:
        shown = not self._sidebar.isHidden()
        return WindowState(
            geometry=self.saveGeometry().toHex().toStdString(),
            sidebar=shown,
            sidebar_width=self._splitter.sizes()[0] if shown else self._sidebar_width,
        )

    def come_to_front(self) -> None:
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def open_chat(self, chat_id: str | None) -> None:
        self._stack.setCurrentWidget(self._page)
        if chat_id is None or chat_id != self._page.chat_id:
            self._page.open_chat(chat_id)
        else:
            self._refresh()

    def _lay_out(self) -> None:
        self._stack = QStackedWidget()
        self._stack.addWidget(self._page)
        self._stack.addWidget(self._models)
        self._stack.addWidget(self._connections)
        main = QWidget()
        column = QVBoxLayout(main)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header)
        column.addWidget(self._stack, 1)
        self._splitter = QSplitter()
        self._splitter.setObjectName("splitter")
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self._sidebar)
        self._splitter.addWidget(main)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([self._sidebar_width, self.width() - self._sidebar_width])
        self.setCentralWidget(self._splitter)

    def _connect(self) -> None:
        sidebar, services, chooser = self._sidebar, self._services, self._chooser
        sidebar.new_chat.connect(self._new_chat)
        sidebar.searched.connect(self._refresh)
        sidebar.models.connect(self._go_to_models)
        sidebar.downloads.connect(lambda: self._go_to_models("downloads"))
        sidebar.connections.connect(self._go_to_connections)
        sidebar.settings.connect(self._show_settings)
        sidebar.shortcuts.connect(lambda: ShortcutsDialog(self).open())
        sidebar.hide_me.connect(lambda: self._set_sidebar(False))
        sidebar.chats.opened.connect(self.open_chat)
        sidebar.chats.chosen.connect(self._choose_chat)
        sidebar.chats.renamed.connect(services.chats.rename)
        sidebar.chats.deleted.connect(self._delete)
        sidebar.chats.exported.connect(self._exporter.ask)
        self._header.show_sidebar.connect(lambda: self._set_sidebar(True))
        self._header.model.connect(chooser.use)
        self._header.add_model.connect(chooser.add)
        self._header.show_models.connect(self._go_to_models)
        self._strip.show_all.connect(lambda: self._go_to_models("downloads"))
        self._banner.get_model.connect(lambda: self._go_to_models("discover"))
        self._page.shown.connect(self._refresh)
        self._page.grown.connect(self._refresh)
        chooser.changed.connect(self._show_models)
        services.chats.changed.connect(self._chats_changed)
        services.chats.failed.connect(self.notifier.error)
        services.settings.changed.connect(self._apply)
        services.models.mtp_known.connect(self._page.mtp.show_files)
        services.models.mtp_known.connect(self._models.here.list.mtp.show_model)
        # An answer that is asked for goes before a check.
        services.generation.begun.connect(services.same_answer.stop)
        services.same_answer.crashed.connect(self.notifier.error)
        services.system.checked.connect(self._page.welcome.show_check)
        services.system.checked.connect(self._models.here.list.show_check)
        services.system.failed.connect(self._page.welcome.show_check_failed)
        services.suggestions.offered.connect(self._page.welcome.show_offers)
        services.discover.not_queued.connect(self._page.welcome.show_not_queued)
        self._page.welcome.get.connect(self._models.discover.get_offer)
        self._page.welcome.choose.connect(lambda: self._go_to_models("discover"))
        self._connect_models()

    def _connect_models(self) -> None:
        """What is said between the pages of models, the head, and the chat."""
        services, chooser, models = self._services, self._chooser, self._models
        online, for_good = self._online, services.stays_offline
        models.add.connect(chooser.add)
        models.back.connect(self._go_to_chat)
        models.here.use.connect(chooser.use)
        models.here.details.use.connect(self._go_to_chat)
        models.here.anyway.connect(services.generation.load_anyway)
        models.here.anyway.connect(chooser.use)
        models.here.anyway.connect(self._go_to_chat)
        models.here.remove.connect(chooser.remove)
        models.here.dropped.connect(chooser.take)
        models.here.changed.connect(services.models.look)
        services.models.listed.connect(self._show_models)
        services.models.listed.connect(lambda: self._page.mtp.apply(services.settings.current))
        self._connections.back.connect(self._go_to_chat)
        for shows in (self._strip, self._page.welcome, models.discover, self._sidebar.badge):
            services.downloads.changed.connect(shows.show_downloads)
        services.downloads.came.connect(self._strip.show_came)
        self._strip.use.connect(services.downloads.use)
        chooser.changed.connect(self._strip.dismiss)
        self._arrivals.use.connect(chooser.use)
        self._arrivals.listed.connect(services.models.look)
        self._header.toggle_offline.connect(online.toggle)
        models.downloads.go_online.connect(online.go_online)
        models.discover.go_online.connect(online.go_online)
        online.changed.connect(self._header.set_offline)
        online.changed.connect(models.downloads.set_offline)
        online.changed.connect(lambda now: models.discover.set_offline(now, for_good=for_good))

    def _add_actions(self) -> None:
        page, sidebar = self._page, self._sidebar
        does: dict[str, Callable[[], object]] = {
            "new_chat": self._new_chat,
            "focus_search": self._focus_search,
            "rename_chat": sidebar.chats.rename_current,
            "delete_chat": lambda: self._delete(self._page.chat_id),
            "undo_delete": self.notifier.undo,
            "chat_above": lambda: self._step(-1),
            "chat_below": lambda: self._step(1),
            "escape": self._escape,
            "regenerate": page.regenerate,
            "copy_last": page.copy_last,
            "scroll_up": lambda: page.transcript.scroll_page(-1),
            "scroll_down": lambda: page.transcript.scroll_page(1),
            "go_to_end": page.transcript.jump_to_newest,
            "focus_composer": page.composer.focus,
            "toggle_sidebar": lambda: self._set_sidebar(sidebar.isHidden()),
            "show_models": self._go_to_models,
            "show_settings": self._show_settings,
            "show_shortcuts": lambda: ShortcutsDialog(self).open(),
            "show_downloads": lambda: self._go_to_models("downloads"),
            "show_connections": self._go_to_connections,
            "toggle_offline": self._online.toggle,
            "close": self.close,
        }
        for command in commands():
            action = QAction(command.text, self)
            action.setObjectName(command.name)
            action.setShortcuts([QKeySequence(keys) for keys in command.keys])
            action.triggered.connect(lambda _=False, do=does[command.name]: do())
            self.addAction(action)

    def _refresh(self) -> None:
        """Show the list of chats as it is now, and the title of the one that is open."""
        chats = self._services.chats.list(self._sidebar.search.text())
        current = self._page.chat_id
        self._sidebar.show_chats(chats, current)
        titles = {chat.id: chat.title for chat in chats}
        if self._stack.currentWidget() is not self._page:
            self._header.set_title("")
        elif current is None:
            self._header.set_title(self.tr(UNTITLED))
        elif current in titles:
            self._header.set_title(titles[current])
        self._page.welcome.set_first(not chats and not self._sidebar.search.text())

    def _chats_changed(self) -> None:
        self._refresh()
        if self._reopen:
            chat_id, self._reopen = self._reopen, None
            self.open_chat(chat_id)

    def _new_chat(self) -> None:
        self.open_chat(None)
        self._page.composer.focus()

    def _choose_chat(self, chat_id: str) -> None:
        self.open_chat(chat_id)
        self._page.composer.focus()

    def _step(self, step: int) -> None:
        neighbour = self._sidebar.chats.neighbour(step)
        if neighbour:
            self.open_chat(neighbour)

    def _delete(self, chat_id: str | None) -> None:
        if chat_id is None:
            return
        titles = {chat.id: chat.title for chat in self._services.chats.list()}
        self._services.generation.stop(chat_id)
        self._services.chats.delete(chat_id)
        if chat_id == self._page.chat_id:
            self.open_chat(None)
        # Ctrl+Z takes the deletion back from here; in the composer it would undo typing.
        self._sidebar.chats.setFocus()
        text = self.tr("“{0}” was deleted.").format(titles.get(chat_id, ""))
        self.notifier.offer_undo(text, lambda: self._undelete(chat_id))

    def _undelete(self, chat_id: str) -> None:
        self._reopen = chat_id
        self._services.chats.undelete(chat_id)

    def _escape(self) -> None:
        if self._sidebar.search.hasFocus() and self._sidebar.search.text():
            self._sidebar.search.clear()
            return
        self._page.stop()
        self._page.composer.focus()

    def _focus_search(self) -> None:
        self._set_sidebar(True)
        self._sidebar.focus_search()

    def _set_sidebar(self, shown: bool) -> None:
        if not shown and not self._sidebar.isHidden():
            self._sidebar_width = self._splitter.sizes()[0]
        appears = shown and self._sidebar.isHidden()
        self._sidebar.setVisible(shown)
        if appears:
            rest = max(1, self.width() - self._sidebar_width)
            self._splitter.setSizes([self._sidebar_width, rest])
        self._header.set_sidebar_hidden(not shown)

    def _go_to_models(self, part: Part | None = None) -> None:
        self._stack.setCurrentWidget(self._models)
        if part is not None:
            self._models.show_part(part)
        self._refresh()
        self._services.system.check()

    def _show_settings(self) -> None:
        SettingsDialog(self._services.settings, self._services.data_folder, self).open()

    def _go_to_chat(self) -> None:
        self.open_chat(self._page.chat_id)
        self._page.composer.focus()

    def _go_to_connections(self) -> None:
        self._stack.setCurrentWidget(self._connections)
        self._refresh()

    def _show_models(self) -> None:
        entries, current = self._chooser.entries(), self._chooser.current()
        self._header.set_models(entries, current)
        self._models.here.show_models(entries, current)
        self._services.models.look_for_mtp(current)
        entry = self._chooser.current_entry()
        guide = entry is not None and entry.builtin
        self._banner.setVisible(guide)
        self._page.welcome.set_guide(guide)
        name = self.tr("the guide") if guide else (entry.name if entry else "Hearth")
        self._page.composer.set_assistant(name)

    def _apply(self, settings: Settings) -> None:
        self._page.apply(settings)
        self._show_models()
        self._services.models.look()
