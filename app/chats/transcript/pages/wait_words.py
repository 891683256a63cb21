"""The text that says why an answer waits before its model starts."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.kit.look.language import translated
from app.runtime.values.wait import Wait

_tr = QCoreApplication.translate


def wait_words(wait: Wait) -> str:
    """Return the text without a full stop, as moving dots follow it."""
    if not wait.model and wait.reason != "queue":
        return _tr("wait", "Waits for the engine")
    one = wait.count == 1
    words = {
        "queue": _tr("wait", "Waits for its turn: 1 answer is ahead of it")
        if one
        else _tr("wait", "Waits for its turn: {1} answers are ahead of it"),
        "full": _tr("wait", "Waits for its turn: {0} writes one answer at a time")
        if one
        else _tr("wait", "Waits for its turn: {0} writes {1} answers at a time"),
        "model": _tr("wait", "Waits until {0} has answered, and makes room"),
        "loading": _tr("wait", "Waits while {0} is being loaded"),
        "alone": _tr("wait", "Waits until {0} has been measured"),
    }
    return words[wait.reason].format(translated(wait.model), wait.count)
