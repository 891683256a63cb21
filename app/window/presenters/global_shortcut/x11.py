"""A global shortcut on an X11 desktop, by a grab of the key on the root window.

Xlib gets a connection of its own, apart from Qt's; its file descriptor becomes readable when the
key is pressed.
Source: Xlib - C Language X Interface, sections 12.1 (XGrabKey) and 11.8 (error handlers).
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier

from app.window.presenters.global_shortcut.keys import Keys

_KEY_PRESS = 2
_GRAB_ASYNC = 1
_BAD_ACCESS = 10
_CAPS, _NUM = 2, 16
"""Lock keys count as modifiers, so each combination of them is grabbed, too."""


class _XEvent(ctypes.Union):
    """Xlib's XEvent, of which only the type is read."""

    _fields_ = (("type", ctypes.c_int), ("pad", ctypes.c_long * 24))


class _XError(ctypes.Structure):
    """Xlib's XErrorEvent."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("resource", ctypes.c_ulong),
        ("serial", ctypes.c_ulong),
        ("code", ctypes.c_ubyte),
        ("request", ctypes.c_ubyte),
        ("minor", ctypes.c_ubyte),
    )


_Handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_XError))


class X11Shortcut(QObject):
    """A key that stays grabbed until `close`."""

    def __init__(
        self, keys: Keys, pressed: Callable[[], object], parent: QObject | None = None
    ) -> None:
        """Grab the key.

        Raises:
            OSError: There is no display or no such key, or another program has grabbed it.
        """
        super().__init__(parent)
        self._pressed = pressed
        self._x = _xlib()
        self._display = self._x.XOpenDisplay(None)
        if not self._display:
            raise OSError("The X11 display cannot be reached.")
        self._notifier: QSocketNotifier | None = None
        try:
            self._grab(keys)
        except OSError:
            self.close()
            raise
        read = QSocketNotifier.Type.Read
        descriptor = self._x.XConnectionNumber(self._display)
        self._notifier = QSocketNotifier(descriptor, read, self)
        self._notifier.activated.connect(self._read)

    def close(self) -> None:
        """Close the connection, and the grab with it."""
        if self._notifier is not None:
            self._notifier.setEnabled(False)
            self._notifier = None
        if self._display:
            self._x.XCloseDisplay(self._display)
            self._display = None

    def _grab(self, keys: Keys) -> None:
        code = self._x.XKeysymToKeycode(self._display, self._x.XStringToKeysym(keys.key.encode()))
        if not code:
            raise OSError("This keyboard has no such key.")
        root = self._x.XDefaultRootWindow(self._display)
        errors: list[int] = []

        def note_error(_display: int | None, error: ctypes._Pointer[_XError]) -> int:
            errors.append(error.contents.code)
            return 0

        handler = _Handler(note_error)
        # The default error handler ends the process; this one replaces it only during the grabs.
        old_handler = self._x.XSetErrorHandler(handler)
        for locks in (0, _CAPS, _NUM, _CAPS | _NUM):
            mask = keys.x11_mask | locks
            self._x.XGrabKey(self._display, code, mask, root, 1, _GRAB_ASYNC, _GRAB_ASYNC)
        self._x.XSync(self._display, 0)
        self._x.XSetErrorHandler(old_handler)
        if _BAD_ACCESS in errors:
            raise OSError("Another program has these keys.")

    def _read(self) -> None:
        event = _XEvent()
        while self._display and self._x.XPending(self._display):
            self._x.XNextEvent(self._display, ctypes.byref(event))
            if event.type == _KEY_PRESS:
                self._pressed()


def _xlib() -> ctypes.CDLL:
    """Load Xlib and declare its functions. Raises OSError if it is not installed."""
    x = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
    display, window = ctypes.c_void_p, ctypes.c_ulong
    x.XOpenDisplay.restype = display
    x.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x.XCloseDisplay.argtypes = [display]
    x.XConnectionNumber.argtypes = [display]
    x.XDefaultRootWindow.argtypes = [display]
    x.XDefaultRootWindow.restype = window
    x.XStringToKeysym.restype = ctypes.c_ulong
    x.XStringToKeysym.argtypes = [ctypes.c_char_p]
    x.XKeysymToKeycode.restype = ctypes.c_ubyte
    x.XKeysymToKeycode.argtypes = [display, ctypes.c_ulong]
    number = ctypes.c_int
    x.XGrabKey.argtypes = [display, number, ctypes.c_uint, window, number, number, number]
    x.XSync.argtypes = [display, number]
    x.XPending.argtypes = [display]
    x.XNextEvent.argtypes = [display, ctypes.c_void_p]
    x.XSetErrorHandler.restype = ctypes.c_void_p
    x.XSetErrorHandler.argtypes = [ctypes.c_void_p]
    return x
