"""The names of a model and of what it can do, where they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.kit.look.language import translated

if TYPE_CHECKING:
    from app.models.library.values.entry import ModelEntry


def name_of(entry: ModelEntry) -> str:
    """A name that its user or maker gave stays as it is; that of Hearth's own is translated."""
    if entry.builtin:
        return translated(entry.name)
    own = entry.name_at_server
    if own == entry.name:
        return own
    return QCoreApplication.translate("names", "{0} on {1}").format(own, entry.server_name)


def what_mtp_does() -> str:
    """Say in plain words what multi-token prediction does, for who reads its short name."""
    return QCoreApplication.translate(
        "names", "Answers faster by guessing words ahead. The answer stays the same."
    )


def mtp_tip(sentence: str = "") -> str:
    """Return the tooltip of the short name “MTP”: what it stands for, what it does, and more."""
    name = QCoreApplication.translate("names", "Multi-token prediction")
    return "\n".join(filter(None, [f"{name}: {what_mtp_does()}", sentence]))
