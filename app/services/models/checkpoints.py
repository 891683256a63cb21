"""What checkpoints say of themselves, read once as long as they stay, and which draft for which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from app.core.models.entry import ModelEntry
from engines.errors import DrafterMismatch, EngineError, NotAChatModel
from engines.models.checkpoint import Checkpoint, pairs, read_checkpoint


class Checkpoints:
    """May be used from any thread: at worst two of them read the same folder."""

    def __init__(self) -> None:
        self._read: dict[tuple[Path, int, int], Checkpoint] = {}

    def read(self, folder: Path) -> Checkpoint:
        """Raises EngineError."""
        try:
            stamp = (folder, folder.stat().st_mtime_ns, (folder / "config.json").stat().st_mtime_ns)
        except (OSError, ValueError):
            return read_checkpoint(folder)
        if stamp not in self._read:
            self._read[stamp] = read_checkpoint(folder)
        return self._read[stamp]

    def drafter_for(self, entry: ModelEntry, candidates: Iterable[Path]) -> Path | None:
        """The first of these that drafts for a model; None if its own folder cannot be read."""
        if entry.drafter is not None:
            return entry.drafter
        try:
            target = self.read(entry.path)
        except EngineError:
            return None
        found = (it.path for it in self._readable(candidates) if pairs(target, it))
        return next(found, None)

    def targets(self, folder: Path, entries: Iterable[ModelEntry]) -> list[ModelEntry]:
        """The models among these for which a checkpoint drafts. Raises EngineError."""
        drafter = self.read(folder)
        return [
            entry
            for entry in entries
            if entry.engine == "vllm"
            for target in self._readable([entry.path])
            if pairs(target, drafter)
        ]

    def require_addable(self, folder: Path, entries: Iterable[ModelEntry]) -> Checkpoint:
        """Raises EngineError for what is neither a chat model nor a drafter for one of these."""
        found = self.read(folder)
        if found.mtp == "drafter" and not self.targets(folder, entries):
            raise DrafterMismatch(
                f"“{found.name}” was not added.",
                "It is a drafter, and none of the checkpoints here is the one it drafts for.",
                "Add its model first, then the drafter.",
            )
        if found.mtp != "drafter" and not found.chats:
            raise NotAChatModel(
                f"“{found.name}” is not a model to chat with.",
                f"It is a {found.architecture}, which writes no text."
                if found.architecture
                else "Its config.json does not say what it is.",
                "Choose a checkpoint of a chat model.",
            )
        return found

    def _readable(self, folders: Iterable[Path]) -> Iterator[Checkpoint]:
        """What is wrong with others is told where they are used."""
        for folder in folders:
            try:
                yield self.read(folder)
            except EngineError:
                continue
