"""Registers the shortcut of quick ask on any desktop, or says why that is impossible."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.window.presenters.session_bus import SessionBus
from engines.sentences import N_

if TYPE_CHECKING:
    from app.window.presenters.global_shortcut.keys import Keys
    from app.window.presenters.global_shortcut.portal import PortalShortcut
    from app.window.presenters.global_shortcut.x11 import X11Shortcut

_DESCRIPTION = N_("Ask Hearth a question")
_UNSUPPORTED = N_(
    "Global shortcuts do not work on this system yet. The tray icon opens the small window, too."
)
_NO_DISPLAY = N_("No desktop with global shortcuts was found.")
_NO_BUS = N_("The desktop’s message bus cannot be reached.")


class GlobalShortcut(QObject):
    """The global shortcut of quick ask.

    On X11 the key is grabbed directly; on Wayland the desktop's portal has to report it.

    Signals:
        pressed(): The user pressed the shortcut, in whatever program.
        problem_changed(): `problem` has changed.
    """

    pressed = Signal()
    problem_changed = Signal()

    def __init__(self, bus: SessionBus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bus = bus
        self._text = ""
        self._platform = ""
        self._problem = ""
        self._shortcut: X11Shortcut | PortalShortcut | None = None
        bus.opened.connect(self._register)

    @property
    def problem(self) -> str:
        """Why the shortcut does not work, as a sentence; "" if it works or none is wanted."""
        return self._problem

    def use(self, keys: str, platform: str) -> None:
        """Register this shortcut instead of the current one.

        Args:
            keys: The shortcut, as the settings spell it; "" for none.
            platform: Qt's name of the window system.
        """
        if (keys, platform) != (self._text, self._platform):
            self._text, self._platform = keys, platform
            self._register()

    def close(self) -> None:
        """Release the shortcut."""
        if self._shortcut is not None:
            self._shortcut.close()
            self._shortcut = None

    def _register(self) -> None:
        self.close()
        if not self._text.strip():
            self._set_problem("")
            return
        from app.window.presenters.global_shortcut.keys import KeysInvalid, read

        try:
            keys = read(self._text)
        except KeysInvalid as error:
            self._set_problem(str(error))
            return
        if not sys.platform.startswith("linux"):
            self._set_problem(_UNSUPPORTED)
        elif self._platform == "xcb":
            self._grab(keys)
        elif self._platform.startswith("wayland"):
            self._ask_portal(keys)
        else:
            self._set_problem(_NO_DISPLAY)

    def _grab(self, keys: Keys) -> None:
        from app.window.presenters.global_shortcut.x11 import X11Shortcut

        try:
            self._shortcut = X11Shortcut(keys, self.pressed.emit, self)
        except OSError as error:
            self._set_problem(str(error))
        else:
            self._set_problem("")

    def _ask_portal(self, keys: Keys) -> None:
        if not self._bus.is_open:
            self._set_problem(_NO_BUS)
            return
        from app.window.presenters.global_shortcut.portal import PortalShortcut

        self._shortcut = PortalShortcut(
            self._bus, keys, _DESCRIPTION, self.pressed.emit, self._set_problem, self
        )

    def _set_problem(self, problem: str) -> None:
        self._problem = problem
        self.problem_changed.emit()
