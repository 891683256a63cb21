"""What a model is called where it is shown."""

from __future__ import annotations

from app.core.models import ModelEntry
from app.ui.language import translated


def name_of(entry: ModelEntry) -> str:
    """A name that its user or maker gave stays as it is; that of Hearth's own is translated."""
    return translated(entry.name) if entry.builtin else entry.name
