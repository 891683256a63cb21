"""The displayed names of models and of their abilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.base.language import translated

if TYPE_CHECKING:
    from app.models.library.values.entry import ModelEntry


def name_of(entry: ModelEntry) -> str:
    """Return a model's displayed name.

    A name from its user or maker stays as it is; the name of Hearth's own model is translated.
    """
    if entry.builtin:
        return translated(entry.name)
    own = entry.name_at_server
    if own == entry.name:
        return own
    return QCoreApplication.translate("names", "{own} on {server_name}").format(
        own=own, server_name=entry.server_name
    )


def mtp_explanation() -> str:
    """Explain multi-token prediction in plain words, for users who see only its short name."""
    return QCoreApplication.translate(
        "names", "Answers faster by guessing words ahead. The answer stays the same."
    )


def mtp_tip(sentence: str = "") -> str:
    """Return the tooltip for “MTP”: its full name, its effect and, optionally, a sentence."""
    name = QCoreApplication.translate("names", "Multi-token prediction")
    return "\n".join(filter(None, [f"{name}: {mtp_explanation()}", sentence]))
