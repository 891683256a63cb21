"""The models on this computer, as the rest of the app names them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from engines.types import EngineName

STARTER = "starter"
STARTER_CHECKPOINT = "starter-safetensors"
"""The same guide for vLLM; on the list only where vLLM is installed."""

RESERVED = (STARTER, STARTER_CHECKPOINT)
"""Ids that no other model may have."""

Source = Literal[
    "builtin", "added", "folder", "hub", "ollama", "lmstudio", "jan", "gpt4all", "server"
]
"""Where a model was found: part of Hearth, added by the user, in one of the user's folders, in the
Hub's cache, in another program's store, which is only read, or at another server."""


@dataclass(frozen=True)
class ModelEntry:
    """A model to chat with, or a drafter. `id` is what settings and commands call it.

    Two of them are equal if they are the same files; what happens to them does not count.

    path: its file, the first of its parts if it has several.
    drafter: the file that drafts tokens for it (MTP), if it has one.
    drafts: it was added as a drafter.
    repo, revision: where it came from on the Hub. sha256: what its bytes should hash to, if known.
    verified: when they last did, in seconds since 1970.
    projector: the file with which it sees pictures, if it has one.
    file: its path within that repository.
    parts: all files of the model itself, `path` the first; empty stands for `path` alone.
    size_bytes: of them together, as the disk says; 0 if they are not there.
    last_used: when it last answered, in seconds since 1970; None if it never has.
    engine: what runs it. For vLLM, path is the folder of its checkpoint.
    server, served: for a model on another server, its profile's id and the model's name there;
    it has no files. context: tokens, where the server tells; 0 for all others. way: another one
    where something else leads to the server now, such as its address or its key.
    """

    id: str
    name: str
    path: Path
    builtin: bool = False
    drafter: Path | None = None
    drafts: bool = False
    source: Source = "added"
    repo: str | None = None
    revision: str | None = None
    sha256: str | None = field(default=None, compare=False)
    verified: float | None = field(default=None, compare=False)
    projector: Path | None = None
    file: str | None = None
    parts: tuple[Path, ...] = ()
    size_bytes: int = field(default=0, compare=False)
    last_used: float | None = field(default=None, compare=False)
    engine: EngineName = "llamacpp"
    server: str = ""
    served: str = ""
    context: int = field(default=0, compare=False)
    way: str = ""

    @property
    def on_server(self) -> bool:
        """Whether it runs on another server, so that nothing of it lies on this computer."""
        return self.engine == "remote"

    @property
    def server_name(self) -> str:
        """The name that the user gave its server."""
        return self.id.removesuffix(f":{self.served}")

    @property
    def name_at_server(self) -> str:
        """Its name where the server is named beside it; of a path the last part."""
        return self.name.removesuffix(f" on {self.server_name}") if self.served else self.name

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the model itself, without its drafter and projector."""
        return () if self.on_server else self.parts or (self.path,)


def others(entries: Iterable[ModelEntry], current: str) -> list[ModelEntry]:
    """Return the models without the current one, given by its id or name."""
    return [entry for entry in entries if current not in {entry.id, entry.name}]
