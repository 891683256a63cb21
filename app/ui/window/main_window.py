"""The window: sidebar, header and pages side by side, and the commands that span them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.core.chats.chat import UNTITLED
from app.core.chats.places import ALL
from app.core.settings.fields import Settings
from app.core.window_state import WindowState
from app.presenters.chats import Chats
from app.ui.chat.composer.composer import Composer
from app.ui.chat.header import Header
from app.ui.sidebar.sidebar import Sidebar
from app.ui.widgets.room import grow_for
from app.ui.window.first_visits import (
    connections_page,
    engines_page,
    exporter,
    help_page,
    importer,
    models_page,
    servers_page,
)
from app.ui.window.signal_buffer import SignalBuffer

if TYPE_CHECKING:
    from app.presenters.window import WindowServices
    from app.ui.assistants.controller import AssistantsController
    from app.ui.chat.chat_page import ChatPage
    from app.ui.chat.guide_banner import GuideBanner
    from app.ui.desktop.desktop import Desktop
    from app.ui.engines.switch_controller import EngineSwitchController
    from app.ui.models.chooser import ModelChooser
    from app.ui.models.models_page import Part
    from app.ui.notify import Notifier
    from app.ui.onboarding.download_strip import DownloadStrip
    from app.ui.sidebar.chat_actions import ChatActions
    from app.ui.sidebar.chat_order import ChatOrder
    from app.ui.sidebar.rows import Scope
    from app.ui.window.download_notices import DownloadNotices
    from app.ui.window.going_online import GoingOnline


class MainWindow(QMainWindow):
    """Holds the parts; what they do is theirs, what they say to each other `connect`'s.

    At first there are the chats and a field for a message, which is quickly made; what is asked
    for in that moment is kept. The rest comes by `build_window`, which ends with `is_built`;
    what is seldom gone to, on the first visit.

    models_shown(entries, current): wherever models can be chosen they are these now.
    """

    models_shown = Signal(object, object)
    services: WindowServices
    notifier: Notifier
    chooser: ModelChooser
    chat_actions: ChatActions
    order: ChatOrder
    page: ChatPage
    banner: GuideBanner
    strip: DownloadStrip
    online: GoingOnline
    download_notices: DownloadNotices
    switching: EngineSwitchController
    assistants_controller: AssistantsController
    desktop: Desktop
    models = cached_property(models_page)
    connections = cached_property(connections_page)
    exporter = cached_property(exporter)
    importer = cached_property(importer)
    engines = cached_property(engines_page)
    servers = cached_property(servers_page)
    help = cached_property(help_page)

    def __init__(self, chats: Chats, settings: Settings) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Hearth")
        self.setMinimumSize(520, 420)
        self.resize(1120, 760)
        self.is_built = False
        self._sidebar_width = WindowState().sidebar_width
        self._lay_out(chats)
        self.header.set_title(self.tr(UNTITLED))
        self.composer.set_send_with(settings.send_with)
        if draft := chats.drafts.of(None):
            self.composer.set_text(draft)
        self.sidebar.refresh(None)
        self.composer.focus()
        side = self.sidebar
        self.early_messages = SignalBuffer([self.composer.send])
        self.early = SignalBuffer(
            [
                *(side.new_chat, side.scratch, side.assistants, side.models, side.downloads),
                *(side.connections, side.settings, side.help, side.searched),
                *(side.hide_me, side.show_me, side.chats.opened, side.chats.chosen),
                *(self.header.add_model, self.header.show_models, self.header.show_sidebar),
                *(self.header.toggle_offline, self.header.chat_settings),
            ]
        )

    def restore(self, state: WindowState) -> None:
        """Take the place and shape that the window had."""
        if state.geometry:
            self.restoreGeometry(QByteArray.fromHex(QByteArray(state.geometry.encode())))
        if state.folded:
            self.sidebar.model.folded = set(state.folded)
            self.sidebar.chats.reload()
        self._sidebar_width = state.sidebar_width
        self.sidebar.hide()
        self.set_sidebar(state.sidebar)

    def state(self) -> WindowState:
        shown = not self.sidebar.isHidden()
        return WindowState(
            geometry=self.saveGeometry().toHex().toStdString(),
            sidebar=shown,
            sidebar_width=self._splitter.sizes()[0] if shown else self._sidebar_width,
            folded=tuple(sorted(self.sidebar.model.folded)),
        )

    def come_to_front(self) -> None:
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def open_chat(self, chat_id: str | None) -> None:
        self._stack.setCurrentWidget(self.page)
        if chat_id is None or chat_id != self.page.chat_id:
            self.page.open_chat(chat_id)
        else:
            self.refresh()

    def add_page(self, page: QWidget) -> None:
        self._stack.addWidget(page)

    def add_panel(self, panel: QWidget) -> None:
        """At the right of the pages."""
        self._splitter.addWidget(panel)

    def show_chat_page(self, page: ChatPage) -> None:
        """In place of the message's field alone, which is a part of the page from now on."""
        self._stack.addWidget(page)
        self._stack.setCurrentWidget(page)
        self._stack.removeWidget(self._bare)
        self._bare.deleteLater()

    def _lay_out(self, chats: Chats) -> None:
        """From the window inwards: what is given another parent is styled anew."""
        self._splitter = QSplitter(self)
        self._splitter.setObjectName("splitter")
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self.sidebar = Sidebar(chats, self._splitter)
        main = QWidget(self._splitter)
        self.header = Header(main)
        self._stack = QStackedWidget(main)
        self._bare = QWidget(self._stack)
        self._stack.addWidget(self._bare)
        self.composer = Composer(self._bare)
        below = QVBoxLayout(self._bare)
        below.setContentsMargins(0, 0, 0, 0)
        below.addStretch(1)
        below.addWidget(self.composer)
        column = QVBoxLayout(main)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self._stack, 1)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([self._sidebar_width, self.width() - self._sidebar_width])
        self.setCentralWidget(self._splitter)

    def refresh(self) -> None:
        """Show the list of chats as it is now, and the title of the one that is open."""
        current = self.page.chat_id
        self.sidebar.refresh(current)
        self.order.name_new_folder()
        chat = self.services.chats.chat(current) if current else None
        if self._stack.currentWidget() is not self.page:
            self.header.set_title("")
        elif current is None:
            self.header.set_title(self.tr("New chat"))
        elif chat is not None:
            self.header.set_title(chat.title)
        self.page.welcome.set_first(not self.services.chats.count(ALL))

    def new_chat(self) -> None:
        self.open_chat(None)
        self.page.composer.focus()

    def choose_chat(self, chat_id: str) -> None:
        self.open_chat(chat_id)
        self.page.composer.focus()

    def step(self, step: int) -> None:
        neighbour = self.sidebar.chats.neighbour(step)
        if neighbour:
            self.open_chat(neighbour)

    def leave(self, chat_ids: Sequence[str]) -> None:
        """Chats have gone: show none of them."""
        if self.page.chat_id in chat_ids:
            self.open_chat(None)
        # Ctrl+Z takes the deletion back from here; in the composer it would undo typing.
        self.sidebar.chats.setFocus()

    def escape(self) -> None:
        if self.sidebar.escape() or self.page.finding.escape():
            return
        self.page.stop()
        self.page.composer.focus()

    def focus_search(self) -> None:
        self.set_sidebar(True)
        self.sidebar.focus_search()

    def show_chats(self, scope: Scope, then: Callable[[], object] = lambda: None) -> None:
        """List a part of the chats in the sidebar."""
        self.set_sidebar(True)
        self.sidebar.go_to(scope)
        then()

    def set_sidebar(self, shown: bool) -> None:
        if not shown and not self.sidebar.isHidden():
            self._sidebar_width = self._splitter.sizes()[0]
        appears = shown and self.sidebar.isHidden()
        self.sidebar.setVisible(shown)
        if appears:
            rest = max(1, self.width() - self._sidebar_width)
            self._splitter.setSizes([self._sidebar_width, rest])
            grow_for(self.sidebar)
        self.header.set_sidebar_hidden(not shown)

    def go_to(self, page: QWidget) -> None:
        """Show one of the pages."""
        self._stack.setCurrentWidget(page)
        self.refresh()

    def go_to_models(self, part: Part | None = None) -> None:
        if part is not None:
            self.models.show_part(part)
        self.go_to(self.models)
        self.services.system.check()

    def show_settings(self, name: str = "") -> None:
        """name: of a setting to go to."""
        from app.ui.settings.settings_dialog import SettingsDialog

        settings, folder = self.services.settings, self.services.data_folder
        ways = {"Engines": (self.tr("Engines and devices"), self.switching.show_engines)}
        dialog = SettingsDialog(settings, folder, self.desktop.notes(), ways, self)
        dialog.open()
        if name:
            dialog.go_to(name)

    def go_to_chat(self) -> None:
        self.open_chat(self.page.chat_id)
        self.page.composer.focus()

    def show_shortcuts(self) -> None:
        from app.ui.window.shortcuts_dialog import ShortcutsDialog

        ShortcutsDialog(self.services.settings, self).open()

    def show_models(self) -> None:
        entries, current = self.chooser.entries(), self.chooser.current()
        self.header.set_models(entries, current)
        self.page.answers.set_models(entries, current)
        self.page.queue.set_models(entries, current)
        self.models_shown.emit(entries, current)
        self.services.models.look_for_mtp(current)
        entry = self.chooser.current_entry()
        guide = entry is not None and entry.builtin
        self.banner.setVisible(guide)
        self.page.welcome.set_guide(guide)
        name = self.tr("the guide") if guide else (entry.name if entry else "Hearth")
        self.page.composer.set_assistant(name)

    def apply(self, settings: Settings) -> None:
        self.page.apply(settings)
        self.show_models()
        self.services.models.look()
