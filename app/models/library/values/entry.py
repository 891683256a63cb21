"""The entries of the list of models, as the rest of the app uses them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.models.library.values.memory_use import Fits

if TYPE_CHECKING:
    from engines.types import EngineName

STARTER = "starter"
STARTER_CHECKPOINT = "starter-safetensors"
"""The built-in model for vLLM; listed only if vLLM is installed."""

RESERVED = (STARTER, STARTER_CHECKPOINT)
"""Ids that no other model can have."""

Source = Literal[
    "builtin", "added", "folder", "hub", "ollama", "lmstudio", "jan", "gpt4all", "server"
]
"""Where a model was found.

It is part of Hearth, was added by the user, or lies in a folder of the user's, in the Hub's cache,
in another program's store, which Hearth only reads, or on another server.
"""


@dataclass(frozen=True)
class ModelEntry:
    """A model to chat with, or a drafter; settings and commands refer to it by `id`.

    Two entries are equal if they are the same files; their state and use are not compared.

    Attributes:
        path: Its file, the first one of several; for vLLM, the folder of its checkpoint.
        drafter: The file that drafts tokens for it (MTP), if it has one.
        drafts: Whether it was added as a drafter.
        repo: The repository on the Hub from which it comes.
        revision: The commit of that repository.
        sha256: The expected hash of its bytes, if known.
        verified: When the hash was last confirmed, in seconds since 1970.
        projector: The file with which it sees pictures, if it has one.
        file: Its path within the repository.
        parts: All files of the model itself, with `path` first; empty stands for `path` alone.
        size_bytes: The size of these files on the disk; 0 if they are missing.
        last_used: When it last answered, in seconds since 1970; None if never.
        engine: The engine that runs it.
        server: The id of the server's profile, for a model on another server, which has no files.
        served: The model's name on that server.
        context: Context length in tokens, if the server reports it; otherwise 0.
        connection_key: Changes when the connection to the server does, such as its address or key.
        fits: Whether it fits into this computer's memory; "" if that is not known yet.
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
    connection_key: str = ""
    fits: Fits | Literal[""] = field(default="", compare=False)

    @property
    def on_server(self) -> bool:
        """True if it runs on another server, without any file on this computer."""
        return self.engine == "remote"

    @property
    def server_name(self) -> str:
        """The name that the user gave its server."""
        return self.id.removesuffix(f":{self.served}")

    @property
    def name_at_server(self) -> str:
        """Its name without the server's, for places that name the server too."""
        return self.name.removesuffix(f" on {self.server_name}") if self.served else self.name

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the model itself, without its drafter and projector."""
        return () if self.on_server else self.parts or (self.path,)


def entry_from(entries: Iterable[ModelEntry], repo: str) -> ModelEntry | None:
    """Return the model on this computer that comes from this repository; None if there is none."""
    return next((entry for entry in entries if entry.repo == repo and not entry.drafts), None)


def other_models(entries: Iterable[ModelEntry], current: str) -> list[ModelEntry]:
    """Return all models but the current one, given by its id or name."""
    return [entry for entry in entries if current not in {entry.id, entry.name}]
