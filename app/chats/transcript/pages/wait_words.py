"""The texts that say why an answer has not begun: it waits, or its prompt is being read."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.base.language import translated
from app.kit.look.format import figure
from app.models.downloads.pages.download_words import duration
from app.runtime.values.wait import Wait
from engines.types import PromptProgress

_SOON_S = 2
"""A wait this short is not worth announcing, in seconds."""

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


def reading_words(progress: PromptProgress) -> str:
    """Return how far the prompt is read, without a full stop, as moving dots follow it."""
    words = _tr("wait", "Reading {count} of {total} tokens").format(
        count=figure(progress.read_tokens), total=figure(progress.prompt_tokens)
    )
    if progress.left_s is None or progress.left_s < _SOON_S:
        return words
    left = duration(progress.left_s)
    return _tr("wait", "{words}, about {left} left").format(words=words, left=left)
