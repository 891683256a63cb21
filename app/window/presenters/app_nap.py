"""Keeps macOS from slowing Hearth down while nobody looks at its window.

An app that is out of sight is put to a nap: it gets less of the processor and the disk, and timers
are late. A model that answers a program, and a download, are to go on. The Mac may sleep as ever.

Source: Apple's documentation of NSProcessInfo, its beginActivityWithOptions:reason:, and of
NSActivityOptions.
"""

from __future__ import annotations

import sys
from typing import Any, Final

_USER_INITIATED_ALLOWING_SLEEP: Final = 0x00FFFFFF & ~(1 << 20)


def stay_awake() -> None:
    """Stay awake as long as the process lasts; there is nothing to be done but on macOS."""
    if sys.platform == "darwin":
        _begin_activity()


def _begin_activity() -> None:
    """Begin an activity that is never ended, by messages to macOS' own classes."""
    import ctypes

    ctypes.CDLL("/System/Library/Frameworks/Foundation.framework/Foundation")
    runtime = ctypes.CDLL("/usr/lib/libobjc.dylib")
    runtime.objc_getClass.restype = runtime.sel_registerName.restype = ctypes.c_void_p
    pointer, number = ctypes.c_void_p, ctypes.c_uint64

    def send(to: Any, name: bytes, *arguments: tuple[Any, Any]) -> Any:
        """Send a message; each argument with its type, as its caller has to know them."""
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
