"""The user's own folders: Hearth's folder of models, and the folders in the settings."""

from __future__ import annotations

from pathlib import Path

from app.models.library.services.places.checkpoints import checkpoints_of
from app.models.library.services.places.files import groups_below
from app.models.library.services.places.scan import Scan


def scan_folder(folder: Path) -> Scan:
    """Find the models below a folder.

    A model is identified by its path, so moving its file makes it a different model.
    """
    scan = Scan()
    for group in groups_below(folder, scan):
        scan.models.append(group.as_found_model("folder", f"file:{group.files[0]}"))
    for checkpoint in checkpoints_of(scan):
        scan.models.append(checkpoint.as_found_model("folder", f"folder:{checkpoint.folder}"))
    return scan
