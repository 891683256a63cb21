"""The models of LM Studio, which Hearth only reads: models/PUBLISHER/REPOSITORY/FILE.gguf.

Source: LM Studio's document on importing models. `downloadsFolder` in its settings.json is the
folder to which the user has moved them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from app.base.home import expand_home
from app.models.library.services.places.files import groups_below
from app.models.library.services.places.scan import Scan, read_json


def scan_lm_studio(homes: Iterable[Path]) -> Scan:
    """Find LM Studio's models.

    Args:
        homes: Its home folders, of this version and of older ones.
    """
    scan = Scan()
    folders: dict[Path, None] = {}
    for home in homes:
        scan.watch(home)
        folders[home / "models"] = None
        settings = read_json(home / "settings.json", scan)
        named = settings.get("downloadsFolder") if isinstance(settings, dict) else None
        if isinstance(named, str) and named.strip():
            folders[expand_home(named)] = None
    for folder in folders:
        _add(folder, scan)
    return scan


def _add(folder: Path, scan: Scan) -> None:
    for group in groups_below(folder, scan):
        inside = group.files[0].relative_to(folder).as_posix()
        publisher, repository = [*inside.split("/")[:-1], "", ""][:2]
        repo = f"{publisher}/{repository}" if publisher and repository else None
        model = group.as_found_model("lmstudio", f"lmstudio:{group.files[0]}")
        file = inside.split("/", 2)[2] if repo else None
        scan.models.append(replace(model, repo=repo, file=file))
