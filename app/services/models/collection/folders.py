"""The user's own folders: Hearth's folder of models, and those named in the settings."""

from __future__ import annotations

from pathlib import Path

from app.core.home import from_home
from app.services.models.collection.checkpoints import checkpoints_of
from app.services.models.collection.files import groups_below
from app.services.models.collection.found import Scan


def scan_folder(folder: Path) -> Scan:
    """Find the models below a folder.

    A model is told from others by where it lies: moving a file makes another of it.
    """
    scan = Scan()
    for group in groups_below(folder, scan):
        scan.models.append(group.found("folder", f"file:{group.files[0]}"))
    for checkpoint in checkpoints_of(scan):
        scan.models.append(checkpoint.found("folder", f"folder:{checkpoint.folder}"))
    return scan


def folders_named(text: str) -> tuple[Path, ...]:
    """Parse the setting `model_folders`: a folder a line."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(dict.fromkeys(from_home(line).absolute() for line in lines if line))
