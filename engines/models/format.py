"""The protocol of a model format: how its files are known, read, described and paired.

One class for each format, made by `engines.models.formats`; whoever asks something of a model asks
its format, and nobody else has to know which formats there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from engines.types import Ability, EngineName, MtpKind

if TYPE_CHECKING:
    from engines.models.gguf.header import GgufHeader


class ListedModel(Protocol):
    """A model on the list, as far as its format has to know it.

    path: its file or its folder. served: its name at a server, where it has no files.
    drafter: that was found for it, or comes with it; projector: likewise. builtin: the model comes
    with the app.
    context: tokens, where a server tells.
    """

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def served(self) -> str: ...
    @property
    def drafter(self) -> Path | None: ...
    @property
    def projector(self) -> Path | None: ...
    @property
    def builtin(self) -> bool: ...
    @property
    def engine(self) -> EngineName: ...
    @property
    def context(self) -> int: ...


AnyModel = TypeVar("AnyModel", bound=ListedModel)

Advise = Callable[["GgufHeader"], str]
"""Gives one sentence for a model without a drafter: what would help."""


@dataclass(frozen=True)
class ModelFacts:
    """The facts of a model for lists. Sizes are bytes, lengths tokens; 0 or empty: nobody says.

    mtp: what guesses ahead for it: "embedded" in its own files, "drafter" in another, or "none".
    can: what its chat template and its projector let it do; None where nobody knows. drafter: that
    other file or folder, once it was looked for.
    """

    architecture: str = ""
    parameters: int = 0
    quantisation: str = ""
    context_max: int = 0
    size_bytes: int = 0
    mtp: MtpKind = "none"
    drafter: Path | None = None
    can: tuple[Ability, ...] | None = None


@dataclass(frozen=True)
class TensorShare:
    """The share of a model in one quantisation. share: 0.0 to 1.0 of all tensors."""

    type: str
    size_bytes: int
    share: float


@dataclass(frozen=True)
class FileDetails(ModelFacts):
    """The details of a model's files for its page.

    title: its own name. layers: without those that only predict tokens ahead. heads, kv_heads: the
    most of any layer. tensors: the most bytes first. chat_template: None if there is none.
    """

    title: str = ""
    made_by: str = ""
    licence: str = ""
    weight_bytes: int = 0
    tensors: tuple[TensorShare, ...] = ()
    embedding_length: int = 0
    layers: int = 0
    heads: int = 0
    kv_heads: int = 0
    vocab_size: int = 0
    tokenizer: str = ""
    chat_template: str | None = None
    vision: bool = False


class ModelFormat(Protocol):
    """A model format. From any thread: at worst two of them read the same file.

    engine: what runs its models. kind: what a model of it is, in words. Everything that reads
    raises EngineError for files that are gone, damaged, or of another kind.
    """

    engine: EngineName
    kind: str

    def recognises(self, path: Path) -> bool:
        """Tell whether what lies there is of this format, as far as shows without reading it."""
        ...

    def name(self, path: Path) -> str:
        """Name a model that is added from there."""
        ...

    def parts(self, path: Path) -> tuple[Path, ...]:
        """List the files with its weights, by their names; they may have gone."""
        ...

    def files(self, path: Path) -> tuple[Path, ...]:
        """List all that is copied and deleted with it. Raises OSError."""
        ...

    def facts(self, model: ListedModel) -> ModelFacts:
        """Read what a list shows, or remember it of files that stay. Raises EngineError."""
        ...

    def details(self, model: ListedModel) -> FileDetails:
        """Read all that its files say. Raises EngineError."""
        ...

    def template(self, model: ListedModel) -> str:
        """Read its chat template; "" if there is none. Raises EngineError."""
        ...

    def require_addable(self, path: Path, models: Iterable[ListedModel]) -> bool:
        """Tell whether it drafts for one of these. Raises EngineError for what cannot chat either.

        models: of this format.
        """
        ...

    def drafter_for(
        self, model: ListedModel, added: Iterable[Path], found: Iterable[Path]
    ) -> Path | None:
        """Find what drafts for it: of what was added, what lies beside it, or else was found."""
        ...

    def lost_drafter(self, model: ListedModel, added: Iterable[Path]) -> Path | None:
        """Find one that was added, may be for this model, and cannot be read."""
        ...

    def targets(self, drafter: Path, models: Iterable[AnyModel]) -> list[AnyModel]:
        """Choose the models for which it drafts. Raises EngineError if it cannot be read."""
        ...

    def draft_models(self, model: AnyModel, others: Sequence[AnyModel]) -> list[AnyModel]:
        """Choose the models that could draft for another: smaller, and of the same vocabulary."""
        ...

    def mtp_sentence(self, model: ListedModel, drafter: Path | None, advise: Advise) -> str:
        """Say what guesses ahead for it. Raises EngineError, also for what cannot chat."""
        ...

    def keep(self) -> None:
        """Remember for the next run what was read since."""
        ...
