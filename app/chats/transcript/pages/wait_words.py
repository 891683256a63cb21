"""The text that says why an answer waits before its model starts."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.base.language import translated
from app.runtime.values.wait import Wait

_tr = QCoreApplication.translate


def wait_words(wait: Wait) -> str:
    """Return the text without a full stop, as moving dots follow it."""
    if not wait.model and wait.reason != "queue":
        return _tr("wait", "Waits for the engine")
    is_one = wait.count == 1
    words = {
        "queue": _tr("wait", "Waits for its turn: 1 answer is ahead of it")
        if is_one
        else _tr("wait", "Waits for its turn: {count} answers are ahead of it"),
        "full": _tr("wait", "Waits for its turn: {model} writes one answer at a time")
        if is_one
        else _tr("wait", "Waits for its turn: {model} writes {count} answers at a time"),
        "model": _tr("wait", "Waits until {model} has finished and frees its memory"),
        "loading": _tr("wait", "Waits while {model} is being loaded"),
        "alone": _tr("wait", "Waits until {model} has been measured"),
    }
    return words[wait.reason].format(model=translated(wait.model), count=wait.count)
