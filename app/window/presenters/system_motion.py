"""Reads from Windows or from a Linux desktop's portal whether the user wants less motion.

Sources: XDG Desktop Portal, org.freedesktop.portal.Settings (the newer key is read first);
Microsoft's documentation of SystemParametersInfo, SPI_GETCLIENTAREAANIMATION, which “Animation
effects” in Windows' settings sets.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.window.presenters.session_bus import SessionBus

if TYPE_CHECKING:
    from jeepney import DBusAddress, Message

_INTERFACE = "org.freedesktop.portal.Settings"
_PATH = "/org/freedesktop/portal/desktop"
_NEWER = ("org.freedesktop.appearance", "reduced-motion")
_OLDER = ("org.gnome.desktop.interface", "enable-animations")


class SystemMotion(QObject):
    """The system's setting for motion.

    Signals:
        changed(): `is_reduced` has changed.
    """

    changed = Signal()

    def __init__(self, bus: SessionBus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bus = bus
        self.is_reduced = _windows_reduces()
        bus.opened.connect(self._ask)

    def _ask(self) -> None:
        from jeepney import MatchRule

        rule = MatchRule(type="signal", interface=_INTERFACE, member="SettingChanged")
        self._bus.listen(rule, self._setting_changed)
        self._read(_NEWER, lambda: self._read(_OLDER, lambda: None))

    def _read(self, setting: tuple[str, str], unknown: Callable[[], None]) -> None:
        from jeepney import new_method_call

        call = new_method_call(_address(), "Read", "ss", setting)
        self._bus.call(call, lambda reply: self._update(setting, reply[0]), unknown)

    def _setting_changed(self, message: Message) -> None:
        space, key, value = message.body
        if (space, key) in (_NEWER, _OLDER):
            self._update((space, key), value)

    def _update(self, setting: tuple[str, str], value: Any) -> None:
        while isinstance(value, tuple):
            value = value[1]  # a variant, which can hold another variant
        reduced = bool(value) if setting == _NEWER else not value
        if reduced != self.is_reduced:
            self.is_reduced = reduced
            self.changed.emit()


def _windows_reduces() -> bool:
    if sys.platform == "win32":
        import ctypes

        animated = ctypes.c_int(1)
        ctypes.WinDLL("user32").SystemParametersInfoW(0x1042, 0, ctypes.byref(animated), 0)
        return not animated.value
    return False


def _address() -> DBusAddress:
    from jeepney import DBusAddress

    return DBusAddress(_PATH, bus_name="org.freedesktop.portal.Desktop", interface=_INTERFACE)
