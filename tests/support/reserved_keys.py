"""Keys that desktops, input methods and systems take for themselves, in Qt's spelling.

On macOS Qt's Ctrl is Command. Keys that the system handles before a program sees them are listed
as well as those that every user expects to do the same in each program.
"""

from __future__ import annotations

from typing import Final

RESERVED: Final = {
    "input methods: IBus, Fcitx, GTK": (
        *("Ctrl+Shift+U", "Ctrl+Alt+Shift+U", "Ctrl+Shift+E", "Ctrl+.", "Ctrl+;"),
        *("Ctrl+Space", "Shift+Space", "Ctrl+Shift+Space", "Alt+`", "Ctrl+`", "Alt+Space"),
    ),
    "text fields: GTK and Qt on X11, Emacs, macOS": (
        *("Ctrl+D", "Ctrl+H", "Ctrl+U", "Ctrl+A", "Ctrl+C", "Ctrl+V", "Ctrl+X", "Ctrl+Y"),
        *("Ctrl+Shift+V", "Ctrl+Shift+Z", "Ctrl+Del", "Ctrl+Backspace", "Shift+Del"),
        *("Shift+Ins", "Ctrl+Ins", "Ctrl+Left", "Ctrl+Right", "Ctrl+Home", "Ctrl+End"),
    ),
    "GNOME, KDE, Xfce": (
        *("Ctrl+Alt+Del", "Ctrl+Alt+L", "Ctrl+Alt+T", "Ctrl+Alt+D", "Ctrl+Alt+Backspace"),
        *("Ctrl+Alt+Left", "Ctrl+Alt+Right", "Ctrl+Alt+Up", "Ctrl+Alt+Down", "Ctrl+Esc"),
        *("Alt+Tab", "Alt+Shift+Tab", "Alt+Esc", "Alt+F1", "Alt+F2", "Alt+F3", "Alt+F4"),
        *("Alt+F5", "Alt+F6", "Alt+F7", "Alt+F8", "Alt+F9", "Alt+F10", "F10", "F11", "Print"),
        *("Ctrl+F1", "Ctrl+F2", "Ctrl+F3", "Ctrl+F4", "Ctrl+F7", "Ctrl+F8", "Ctrl+F9"),
        *("Ctrl+F10", "Ctrl+F12"),
    ),
    "Windows": ("Ctrl+Shift+Esc", "Ctrl+Shift+0", "Ctrl+Tab", "F12"),
    "macOS": (
        *("Ctrl+Shift+Q", "Ctrl+Shift+3", "Ctrl+Shift+4", "Ctrl+Shift+5", "Ctrl+Shift+6"),
        *("Ctrl+Alt+Esc", "Ctrl+Alt+H", "Ctrl+Alt+M", "Meta+Ctrl+Q", "Meta+Ctrl+F"),
        *("Meta+Ctrl+Space", "Ctrl+Alt+Space"),
    ),
}
"""By their owners."""

ON_MACOS: Final = ("Ctrl+M",)
"""Keys that only macOS takes, where Qt's Ctrl is Command."""
