"""Finds checkpoints for vLLM: folders with config.json and safetensors files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.models.library.services.places.scan import FoundModel, Inode, Scan, read_json, skipped
from app.models.library.values.entry import Source
from engines.models.checkpoint import INDEX, missing_in, weights_in
from engines.models.draft_config import CHATS, draft_method
from engines.regular import require_regular
from engines.sentences import N_


@dataclass(frozen=True)
class CheckpointFiles:
    """A checkpoint to chat with.

    Attributes:
        files: Its safetensors files.
        inode: The inode of its folder.
    """

    folder: Path
    files: tuple[Path, ...]
    size_bytes: int
    inode: Inode

    def as_found_model(self, source: Source, identity: str) -> FoundModel:
        """Return it as a found model; callers add the facts of its place with `replace`."""
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
    """Yield the checkpoints in a scan's folders; drafters go to `scan.draft_checkpoints`.

    Folders that are not chat models are skipped; a checkpoint with missing files is noted.
    """
    for folder in scan.folders:
        config = read_json(folder / "config.json", scan)
        index = read_json(folder / INDEX, scan) if (folder / INDEX).exists() else None
        kind = _kind(config)
        if kind is None:
            continue
        try:
            files = weights_in(folder)
            size = sum(require_regular(file).st_size for file in files)
            facts = folder.stat()
        except OSError as error:
            scan.notes.append(skipped(folder, error))
            continue
        if missing := missing_in(index, files):
            scan.notes.append(
                N_("{folder} was skipped: {missing} is not in it.", folder=folder, missing=missing)
            )
        elif kind == "drafter":
            scan.draft_checkpoints.append(folder)
        else:
            yield CheckpointFiles(folder, files, size, (facts.st_dev, facts.st_ino))


def _kind(config: Any) -> str | None:
    if not isinstance(config, dict):
        return None
    if draft_method(config) is not None:
        return "drafter"
    named = config.get("architectures")
    chats = isinstance(named, list) and any(str(name).endswith(CHATS) for name in named)
    return "chat" if chats else None
