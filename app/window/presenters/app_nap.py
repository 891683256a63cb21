"""Keeps macOS from slowing Hearth down while its window is out of sight.

macOS puts such an app into App Nap: it gets less processor and disk time, and its timers are late.
A model that serves another program, and a download, must continue. The Mac can still sleep.

Source: Apple's documentation of NSProcessInfo (beginActivityWithOptions:reason:) and of
NSActivityOptions.
"""

from __future__ import annotations

import sys
from typing import Any, Final

_USER_INITIATED_ALLOWING_SLEEP: Final = 0x00FFFFFF & ~(1 << 20)


def stay_awake() -> None:
    """Prevent App Nap for the lifetime of the process; do nothing on other systems."""
    if sys.platform == "darwin":
        _begin_activity()


def _begin_activity() -> None:
    """Begin an activity that never ends, by sending messages to macOS' own classes."""
    import ctypes

    ctypes.CDLL("/System/Library/Frameworks/Foundation.framework/Foundation")
    runtime = ctypes.CDLL("/usr/lib/libobjc.dylib")
    runtime.objc_getClass.restype = runtime.sel_registerName.restype = ctypes.c_void_p
    pointer, number = ctypes.c_void_p, ctypes.c_uint64

    def send(to: Any, name: bytes, *arguments: tuple[Any, Any]) -> Any:
        """Send a message; each argument comes with its C type, which the caller must know."""
        kinds = [kind for kind, _ in arguments]
        call = ctypes.CFUNCTYPE(pointer, pointer, pointer, *kinds)(("objc_msgSend", runtime))
        return call(to, runtime.sel_registerName(name), *(value for _, value in arguments))

    text = send(
        runtime.objc_getClass(b"NSString"),
        b"stringWithUTF8String:",
        (ctypes.c_char_p, b"models answer, and downloads go on"),
    )
    process = send(runtime.objc_getClass(b"NSProcessInfo"), b"processInfo")
    activity = send(
        process,
        b"beginActivityWithOptions:reason:",
        (number, _USER_INITIATED_ALLOWING_SLEEP),
        (pointer, text),
    )
    send(activity, b"retain")
