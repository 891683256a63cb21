"""Looks at dropped files, off the window's thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from app.exchange.services.documents import looks_like_chats
from app.kit.tasks.tasks import Failed, Tasks
from app.models.library.services.dropped import model_kind
from app.window.values.dropped import Kind

DROPPED = "dropped"


class DroppedFiles:
    """Tells the kind of dropped files by their content."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def look(
        self, paths: Sequence[Path], done: Callable[[dict[Path, Kind]], object], failed: Failed
    ) -> None:
        """Look at files and folders; `done` receives the kind of each."""
        self._tasks.run(lambda: {path: kind_of(path) for path in paths}, done, failed, on=DROPPED)


def kind_of(path: Path) -> Kind:
    """Return the kind of a file or folder by its content."""
    model = model_kind(path)
    if model is not None:
        return model
    if looks_like_chats(path):
        return "chats"
    return "folder" if path.is_dir() else "file"
