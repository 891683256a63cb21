"""The models of Jan, which Hearth only reads: llamacpp/models/ID/model.yml names a model's files.

Sources: Jan's llamacpp extension (model.yml: model_path, mmproj_path, name) and its app commands
(settings.json: data_folder, otherwise "data" beside it). Before 0.6 they were in models/ID.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.models.library.services.places.files import Group, group_of, groups_below
from app.models.library.services.places.scan import FoundModel, Scan, list_folder, read_json
from engines.regular import read_regular_text
from engines.sentences import N_


def scan_jan(homes: Iterable[Path]) -> Scan:
    """Find Jan's models.

    Args:
        homes: Folders that can hold its settings.
    """
    scan = Scan()
    folders: dict[Path, None] = {}
    for home in homes:
        scan.watch(home)
        folders[home / "data"] = None
        settings = read_json(home / "settings.json", scan)
        named = settings.get("data_folder") if isinstance(settings, dict) else None
        if isinstance(named, str) and Path(named).is_absolute():
            folders[Path(named)] = None
    for data in folders:
        scan.models += _from_cards(data, scan)
        scan.models += map(_as_found_model, groups_below(data / "models", scan))
    return scan


def _from_cards(data: Path, scan: Scan) -> Iterator[FoundModel]:
    models = data / "llamacpp" / "models"
    for card in _cards(models, scan):
        values = _read_yaml(card, scan)
        if values is None:
            continue
        model = _file(values.get("model_path"), data)
        if model is None:
            scan.notes.append(
                N_("{card} was skipped: the model that it names does not exist.", card=card)
            )
            continue
        group = group_of(model, scan)
        if group is None or group.facts.kind != "chat":
            continue
        id_ = card.parent.relative_to(models).as_posix()
        name = values.get("name")
        yield replace(
            _as_found_model(group),
            name=name if isinstance(name, str) and name else id_,
            projector=_file(values.get("mmproj_path"), data),
        )


def _as_found_model(group: Group) -> FoundModel:
    return group.as_found_model("jan", f"jan:{group.files[0]}")


def _cards(folder: Path, scan: Scan, depth: int = 4) -> Iterator[Path]:
    """Yield the models' model.yml files, several folders down because ids can hold slashes."""
    if not scan.watch(folder) or not folder.is_dir():
        return
    card = folder / "model.yml"
    if card.is_file():
        scan.watch(card)
        yield card
    elif depth:
        for below in list_folder(folder, scan):
            yield from _cards(below, scan, depth - 1)


def _file(named: Any, data: Path) -> Path | None:
    """Return a file that a model.yml names; its path is absolute or starts at the data folder."""
    if not isinstance(named, str) or not named:
        return None
    path = data / named
    return path if path.is_file() and path.name.lower().endswith(".gguf") else None


def _read_yaml(path: Path, scan: Scan) -> dict[str, Any] | None:
    import yaml

    try:
        values = yaml.safe_load(read_regular_text(path))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        values = None
    if not isinstance(values, dict):
        scan.notes.append(N_("{path} was skipped: it is damaged.", path=path))
        return None
    return values
