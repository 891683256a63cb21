"""Applies the settings that concern the desktop: tray, shortcuts, notifications and motion."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow

from app.base.language import translated
from app.kit.look.motion import Motion
from app.kit.look.scale import scaled
from app.kit.timer import timer
from app.settings.values.fields import Settings, fields, limits_of
from app.window.desktop.pages.announcer import Announcer
from app.window.desktop.pages.drops import Drops
from app.window.desktop.pages.menus import show_menu_bar
from app.window.desktop.pages.tray import Tray
from engines.errors import UserError

if TYPE_CHECKING:
    from app.chats.composer.pages.message_edit import MessageEdit
    from app.kit.navigation import Navigation
    from app.kit.notify import Notifier
    from app.models.library.pages.chooser import ModelChooser
    from app.servers.presenters import Destination
    from app.window.desktop.pages.quick_ask import QuickAsk
    from app.window.presenters.window import WindowPresenters
    from app.window.values.dropped import Place
    from app.window.values.launch_request import LaunchRequest

_ZOOM_STEP = 10
"""In percent of the normal size."""


class Desktop(QObject):
    """The window's tray icon, notifications, drag and drop, palette, quick ask and motion."""

    def __init__(
        self,
        window: QMainWindow,
        presenters: WindowPresenters,
        edit: MessageEdit,
        chooser: ModelChooser,
        place_of: Callable[[str], Destination | None],
        place_at: Callable[[QPoint], Place],
        notifier: Notifier,
        navigation: Navigation,
    ) -> None:
        """Create the parts and connect them.

        Args:
            edit: The field in which the user writes a message.
            place_of: Returns the destination of a model's answers.
            place_at: Returns the place at a position in the window, for files that are dropped.
        """
        super().__init__(window)
        self._window = window
        self._presenters = presenters
        self._settings = presenters.settings
        self._edit = edit
        self._chooser = chooser
        self._place_of = place_of
        self._notifier = notifier
        self._navigation = navigation
        self._quick: QuickAsk | None = None
        self._motion = Motion()
        self._zoom: int | None = None
        self._zoom_soon = timer(self, 0, self._set_zoom)
        self._tray = Tray(window, self)
        self._announcer = Announcer(
            presenters.generation,
            presenters.settings,
            presenters.notifications,
            self._tray,
            self,
        )
        self.drops = Drops(
            window,
            [edit, edit.viewport()],
            presenters.chat_page.open_chat,
            presenters.dropped,
            place_at,
            notifier.error,
        )
        self._connect()
        self._apply(self._settings.current)
        presenters.bus.open()

    def notes(self) -> dict[str, str]:
        """Return why settings have no effect here, by the setting's name; "" if they have."""
        tray = self._tray.problem
        notify_problem = self._announcer.problem
        return {
            "tray": tray,
            "close_to_tray": tray,
            "notify": notify_problem,
            "notify_text": notify_problem,
            "quick_ask_keys": translated(self._presenters.global_shortcut.problem),
        }

    def show_palette(self) -> None:
        """Open the command palette."""
        from app.window.desktop.pages.palette import Palette
        from app.window.desktop.pages.palette_sources import chat_items, items_of

        items = items_of(
            self._window.actions(), self._settings.current, self._chooser, self._navigation
        )
        chats = chat_items(self._presenters.chats, self._navigation)
        Palette(items, chats, self._window).open()

    def quick_ask(self) -> None:
        """Open the quick-ask window, or bring it to the front if it is open."""
        from app.window.desktop.pages.quick_ask import QuickAsk

        if self._quick is None:
            settings = self._settings.current
            self._quick = QuickAsk(
                self._presenters.generation,
                scaled(settings.text_size),
                settings.send_with,
            )
            self._quick.open_chat.connect(self._open_chat)
            self._quick.link.connect(self._notifier.ask_to_open)
            self._quick.destroyed.connect(self._quick_closed)
            self._quick.began.connect(self._show_quick_model)
            self._show_quick_model()
            self._chooser.judge()
        self._quick.show()
        self._quick.raise_()
        self._quick.activateWindow()

    def shows(self, chat_id: str) -> bool:
        """Return whether the quick-ask window shows the newest answer of this chat."""
        return self._quick is not None and self._quick.chat_id == chat_id

    def _show_quick_model(self) -> None:
        """Show which model answers quick questions: that of new chats, or of the begun chat."""
        if self._quick is None:
            return
        chat_id = self._quick.chat_id
        model = self._settings.current.model
        if chat_id is not None:
            model = self._presenters.chat_settings.model(chat_id)
        self._quick.show_model(
            self._chooser.displayed_name(model),
            self._place_of(model),
            too_big=self._chooser.is_too_big(model),
        )

    def carry_out(self, request: LaunchRequest) -> None:
        """Carry out the request of a second start of Hearth."""
        if request.quick_ask:
            self.quick_ask()
            return
        self.come_to_front()
        if request.files:
            self.drops.take_files(request.files)
        if request.link:
            self._follow_link(request.link)

    def _follow_link(self, link: str) -> None:
        """Show the model that a link names, after asking the user.

        The Hub is asked for nothing before the user agrees, because anyone can write a link.
        """
        from app.window.values.links import linked_model

        try:
            name = linked_model(link)
        except UserError as error:
            self._notifier.error(error)
            return
        if name is None:
            return

        self._notifier.confirm(
            self.tr("Look at {repo} on the Hub?").format(repo=name.repo),
            self.tr("A link from another program names this model."),
            ("look", self.tr("Look at it")),
            ("cancel", self.tr("Cancel")),
            lambda: self._navigation.show_model(name.repo, name.quantisation or ""),
            more=self.tr("Nothing is downloaded before you choose it there."),
        )

    def come_to_front(self) -> None:
        """Show the window, restore it if it is minimised, and activate it."""
        window = self._window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()

    def come_back(self, state: Qt.ApplicationState) -> None:
        """Show a window that was closed to the tray when the user clicks Hearth in the Dock.

        macOS only reports that the app became active. It also does so when another window of
        Hearth, such as quick ask, is activated: then a window is visible and nothing is done.
        """
        is_visible = any(
            widget.isVisible() for widget in QApplication.topLevelWidgets() if widget.isWindow()
        )
        if state is Qt.ApplicationState.ApplicationActive and not is_visible:
            self.come_to_front()

    def zoom_by(self, steps: int) -> None:
        """Change the zoom by some steps; 0 restores the default.

        Drawing everything in another size takes a while. Keys that are pressed meanwhile are taken
        together, so that a held key does not queue up drawings.
        """
        field = fields()["zoom"]
        low, high = limits_of(field)
        before = self._settings.current.zoom if self._zoom is None else self._zoom
        wanted = before + steps * _ZOOM_STEP if steps else field.default
        self._zoom = int(min(max(wanted, low or wanted), high or wanted))
        self._zoom_soon.start()

    def _set_zoom(self) -> None:
        """Set the zoom once no more keys are waiting."""
        zoom, self._zoom = self._zoom, None
        if zoom is None:
            return
        try:
            self._settings.set("zoom", zoom)
        except UserError as error:
            self._notifier.error(error)
        else:
            self._notifier.say(self.tr("{value} %").format(value=zoom), about="zoom")

    def quit(self) -> None:
        """Quit Hearth, even if the window would otherwise close to the tray."""
        self._tray.quit()

    def _connect(self) -> None:
        presenters = self._presenters
        self._settings.changed.connect(self._apply)
        self._settings.changed.connect(self._show_quick_model)
        self._chooser.announced.connect(self._show_quick_model)
        presenters.chat_settings.changed.connect(self._show_quick_model)
        self._tray.open.connect(self.come_to_front)
        self._tray.ask.connect(self.quick_ask)
        self._tray.new_chat.connect(self._new_chat)
        self._announcer.open_chat.connect(self._open_chat)
        presenters.system_motion.changed.connect(lambda: self._apply(self._settings.current))
        presenters.global_shortcut.pressed.connect(self.quick_ask)
        self.drops.models.connect(self._chooser.take_dropped)
        self.drops.text.connect(self._write)
        self._edit.files.connect(self.drops.take_files)
        self.destroyed.connect(presenters.global_shortcut.close)
        if sys.platform == "darwin":
            QGuiApplication.instance().applicationStateChanged.connect(self.come_back)

    def _apply(self, settings: Settings) -> None:
        self._motion.apply(settings.motion, self._presenters.system_motion.is_reduced)
        self._tray.apply(settings)
        show_menu_bar(self._window, settings)
        platform = QGuiApplication.platformName()
        self._presenters.global_shortcut.use(settings.quick_ask_keys, platform)

    def _new_chat(self) -> None:
        self.come_to_front()
        self._navigation.open_chat(None)

    def _open_chat(self, chat_id: str) -> None:
        self.come_to_front()
        self._navigation.open_chat(chat_id)

    def _write(self, text: str) -> None:
        """Append text to the message that the user is writing."""
        self._navigation.go_to_chat()
        edit = self._edit
        cursor = edit.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        edit.setTextCursor(cursor)
        if edit.toPlainText() and not edit.toPlainText().endswith("\n"):
            text = f"\n\n{text}"
        edit.insertPlainText(text)

    def _quick_closed(self) -> None:
        self._quick = None
