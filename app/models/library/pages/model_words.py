"""Texts about a model on this computer: its source, its MTP, and its last use."""

from __future__ import annotations

import time

from PySide6.QtCore import QCoreApplication

from app.models.library.values.entry import Source
from app.models.library.values.overview import Order

_DAY_S = 24 * 3600
_MONTH_DAYS = 30


def _tr(text: str) -> str:
    return QCoreApplication.translate("models", text)


def source_word(source: Source) -> str:
    """Return the name of a source."""
    return {
        "builtin": _tr("Built in"),
        "added": _tr("Added"),
        "folder": _tr("Folder"),
        "hub": _tr("Hub"),
        "ollama": "Ollama",
        "lmstudio": "LM Studio",
        "jan": "Jan",
        "gpt4all": "GPT4All",
        "server": _tr("Server"),
    }[source]


def source_sentence(source: Source) -> str:
    """Describe a source: where the file is, and to whom it belongs."""
    return {
        "builtin": _tr("Part of Hearth."),
        "server": _tr("A server offers it; none of its files is on this computer."),
        "added": _tr("You added its file, in place or as a copy."),
        "folder": _tr("It is in one of your folders with models."),
        "hub": _tr("Downloaded from the Hub, into the cache shared with other tools."),
        "ollama": _tr("It belongs to Ollama; Hearth only reads it."),
        "lmstudio": _tr("It belongs to LM Studio; Hearth only reads it."),
        "jan": _tr("It belongs to Jan; Hearth only reads it."),
        "gpt4all": _tr("It belongs to GPT4All; Hearth only reads it."),
    }[source]


def mtp_sentence(mtp: str) -> str:
    """Describe how a model drafts; return "" if it does not."""
    return {
        "embedded": _tr("Has multi-token prediction in its file"),
        "drafter": _tr("Has a drafter beside it"),
    }.get(mtp, "")


def used_words(last_used: float | None, now: float | None = None) -> str:
    """Describe when a model last answered.

    Args:
        last_used: Seconds since 1970; None if it never answered.
        now: The current time, in seconds since 1970.
    """
    if last_used is None:
        return _tr("Never used")
    days = int(((time.time() if now is None else now) - last_used) // _DAY_S)
    if days < 1:
        return _tr("Used today")
    if days == 1:
        return _tr("Unused for a day")
    if days < 2 * _MONTH_DAYS:
        return _tr("Unused for {days} days").format(days=days)
    return _tr("Unused for {days} months").format(days=days // _MONTH_DAYS)


def order_word(order: Order) -> str:
    """Return the name of a sort order."""
    return {
        "name": _tr("By name"),
        "size": _tr("Largest first"),
        "used": _tr("Recently used"),
        "unused": _tr("Longest unused"),
    }[order]
