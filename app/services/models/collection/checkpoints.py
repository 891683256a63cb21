"""Checkpoints for vLLM among what lies here: folders with config.json and safetensors files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.core.models.entry import Source
from app.services.models.collection.found import FoundModel, Inode, Scan, read_json, skipped
from engines.models.checkpoint import ASSISTANTS, CHATS, INDEX, missing_in

_ITS_OWN: Final = (".safetensors", ".json", ".jinja", ".model", ".txt")


@dataclass(frozen=True)
class CheckpointFiles:
    """A checkpoint to chat with. files: its safetensors files. inode: of the folder."""

    folder: Path
    files: tuple[Path, ...]
    size_bytes: int
    inode: Inode

    def found(self, source: Source, identity: str) -> FoundModel:
        """As a model of a place; what the place knows besides is put in with `replace`."""
        return FoundModel(
            identity=identity,
            name=self.folder.name,
            source=source,
            files=self.files,
            size_bytes=self.size_bytes,
            inode=self.inode,
            engine="vllm",
            folder=self.folder,
        )


def checkpoints_of(scan: Scan) -> Iterator[CheckpointFiles]:
    """Those in the folders that were come upon; drafters are noted down in `scan.assistants`.

    What is no chat model is passed over, and one of which files are missing is noted.
    """
    for folder in scan.folders:
        config = read_json(folder / "config.json", scan)
        index = read_json(folder / INDEX, scan) if (folder / INDEX).exists() else None
        kind = _kind(config)
        if kind is None:
            continue
        try:
            files = weights_in(folder)
            size = sum(file.stat().st_size for file in files)
            facts = folder.stat()
        except OSError as error:
            scan.notes.append(skipped(folder, error))
            continue
        if missing := missing_in(index, files):
            scan.notes.append(f"{folder} was skipped: {missing} is not in it.")
        elif kind == "drafter":
            scan.assistants.append(folder)
        else:
            yield CheckpointFiles(folder, files, size, (facts.st_dev, facts.st_ino))


def checkpoint_files(folder: Path) -> tuple[Path, ...]:
    """All that belongs to a checkpoint: its tensors first, then what describes them."""
    others = (it for it in sorted(folder.iterdir()) if it.is_file() and it.suffix in _ITS_OWN)
    weights = weights_in(folder)
    return (*weights, *(it for it in others if it not in weights))


def weights_in(folder: Path) -> tuple[Path, ...]:
    """Its safetensors files, by name. Raises OSError."""
    return tuple(sorted(it for it in folder.iterdir() if it.suffix == ".safetensors"))


def _kind(config: Any) -> str | None:
    if not isinstance(config, dict):
        return None
    if config.get("model_type") in ASSISTANTS:
        return "drafter"
    named = config.get("architectures")
    chats = isinstance(named, list) and any(str(it).endswith(CHATS) for it in named)
    return "chat" if chats else None
