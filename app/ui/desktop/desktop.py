"""What makes the window at home on a desktop, brought together and kept as the settings say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.core.settings.fields import Settings, fields, limits_of
from app.ui.desktop.announcer import Announcer
from app.ui.desktop.drops import Drops
from app.ui.desktop.menus import show_menu_bar
from app.ui.desktop.tray import Tray
from app.ui.look.language import translated
from app.ui.look.motion import Motion
from app.ui.look.scale import scaled
from engines.errors import UserError

if TYPE_CHECKING:
    from app.core.launch_request import LaunchRequest
    from app.ui.desktop.quick_ask import QuickAsk
    from app.ui.window.main_window import MainWindow

_ZOOM_STEP = 10
"""Percent of the usual size."""


class Desktop(QObject):
    """drops: for who can import exported chats to say so."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._services = window.services
        self._settings = window.services.settings
        self._quick: QuickAsk | None = None
        self._motion = Motion()
        self._tray = Tray(window, self)
        self._announcer = Announcer(
            window.services.generation,
            window.services.settings,
            window.services.notifications,
            self._tray,
            self,
        )
        edit = window.page.composer.edit
        self.drops = Drops(window, [edit, edit.viewport()], window.notifier)
        self._connect()
        self._apply(self._settings.current)
        window.services.bus.open()

    def notes(self) -> dict[str, str]:
        """By the name of a setting: why it cannot be as it says, on this desktop."""
        tray = self._tray.problem
        told = self._announcer.problem
        return {
            "tray": tray,
            "close_to_tray": tray,
            "notify": told,
            "notify_text": told,
            "quick_ask_keys": translated(self._services.global_shortcut.problem),
        }

    def show_palette(self) -> None:
        from app.ui.desktop.found import items_of, more_items_of
        from app.ui.desktop.palette import Palette

        items = items_of(self._window)
        Palette(items, more_items_of(self._window), self._window).open()

    def quick_ask(self) -> None:
        """The small window: a new one, or to the front if it is open."""
        from app.ui.desktop.quick_ask import QuickAsk

        if self._quick is None:
            entry = self._window.chooser.current_entry()
            settings = self._settings.current
            self._quick = QuickAsk(
                self._services.generation,
                entry.name if entry is not None and not entry.builtin else "Hearth",
                scaled(settings.text_size),
                settings.send_with,
            )
            self._quick.open_chat.connect(self._open_chat)
            self._quick.link.connect(self._window.notifier.ask_to_open)
            self._quick.destroyed.connect(self._quick_closed)
            self._show_quick_place()
        self._quick.show()
        self._quick.raise_()
        self._quick.activateWindow()

    def _show_quick_place(self) -> None:
        """It asks the model that new chats begin with."""
        if self._quick is not None:
            model = self._settings.current.model
            self._quick.show_place(self._window.switching.place_of(model))

    def fulfil(self, wish: LaunchRequest) -> None:
        """What was wanted when Hearth was started once more."""
        if wish.quick_ask:
            self.quick_ask()
            return
        self._window.come_to_front()
        if wish.files:
            self.drops.take_files(wish.files)

    def zoom_by(self, steps: int) -> None:
        """0 goes back to the usual size."""
        field = fields()["zoom"]
        low, high = limits_of(field)
        wanted = self._settings.current.zoom + steps * _ZOOM_STEP if steps else field.default
        within = min(max(wanted, low or wanted), high or wanted)
        try:
            self._settings.set("zoom", int(within))
        except UserError as error:
            self._window.notifier.error(error)
        else:
            self._window.notifier.say(self.tr("{0} %").format(int(within)))

    def quit(self) -> None:
        self._tray.quit()

    def _connect(self) -> None:
        window, services = self._window, self._services
        self._settings.changed.connect(self._apply)
        self._settings.changed.connect(self._show_quick_place)
        window.models_shown.connect(self._show_quick_place)
        self._tray.open.connect(window.come_to_front)
        self._tray.ask.connect(self.quick_ask)
        self._tray.new_chat.connect(self._new_chat)
        self._announcer.open_chat.connect(self._open_chat)
        services.system_motion.changed.connect(lambda: self._apply(self._settings.current))
        services.global_shortcut.pressed.connect(self.quick_ask)
        self.drops.models.connect(window.chooser.take)
        self.drops.text.connect(self._write)
        self.destroyed.connect(services.global_shortcut.close)

    def _apply(self, settings: Settings) -> None:
        self._motion.apply(settings.motion, self._services.system_motion.is_reduced)
        self._tray.apply(settings)
        show_menu_bar(self._window, settings)
        platform = QGuiApplication.platformName()
        self._services.global_shortcut.use(settings.quick_ask_keys, platform)

    def _new_chat(self) -> None:
        self._window.come_to_front()
        self._window.new_chat()

    def _open_chat(self, chat_id: str) -> None:
        self._window.come_to_front()
        self._window.choose_chat(chat_id)

    def _write(self, text: str) -> None:
        """Into the message, behind what is there."""
        self._window.go_to_chat()
        edit = self._window.page.composer.edit
        cursor = edit.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        if edit.toPlainText() and not edit.toPlainText().endswith("\n"):
            cursor.insertText("\n\n")
        cursor.insertText(text)
        edit.setTextCursor(cursor)
        edit.ensureCursorVisible()

    def _quick_closed(self) -> None:
        self._quick = None
