"""A wait that a cancel ends at once."""

from __future__ import annotations

import threading

from engines.cancel import CancelToken


def wait(seconds: float, cancel: CancelToken) -> None:
    """Return after so many seconds, or as soon as the token is cancelled."""
    if seconds <= 0:
        return
    woken = threading.Event()
    forget = cancel.on_cancel(woken.set)
    woken.wait(seconds)
    forget()
