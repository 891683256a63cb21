"""The protocol of a model format: how its files are recognised, read, described and paired.

Each format has one class, made by `engines.models.formats`. Code that needs to know something about
a model asks its format, so no other code has to know which formats exist.
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
    """A model on the list, with the facts that its format needs.

    Attributes:
        path: Its file or its folder.
        served: Its name at a server, if it has no files.
        drafter: The drafter that was found for it or comes with it.
        projector: The projector that was found for it or comes with it.
        builtin: Whether the model comes with the app.
        context: Tokens of the context, if a server reports them.
    """

    @property
    def name(self) -> str:
        """The model's name on the list."""
        ...

    @property
    def path(self) -> Path:
        """Its file or its folder."""
        ...

    @property
    def served(self) -> str:
        """Its name at a server, or ""."""
        ...

    @property
    def drafter(self) -> Path | None:
        """The drafter that belongs to it, or None."""
        ...

    @property
    def projector(self) -> Path | None:
        """The projector that belongs to it, or None."""
        ...

    @property
    def builtin(self) -> bool:
        """True if it comes with the app."""
        ...

    @property
    def engine(self) -> EngineName:
        """The engine that runs it."""
        ...

    @property
    def context(self) -> int:
        """Tokens of the context, as a server reports them; 0 if unknown."""
        ...


AnyModel = TypeVar("AnyModel", bound=ListedModel)

Advise = Callable[["GgufHeader"], str]
"""A function that returns one sentence on what would help a model without a drafter."""


@dataclass(frozen=True)
class ModelFacts:
    """The facts of a model for lists. Sizes are in bytes, lengths in tokens; 0 or "" if unknown.

    Attributes:
        mtp: What drafts for it: "embedded" for layers in its own files, "drafter" for another file,
            or "none".
        drafter: That other file or folder, once it has been found.
        can: What its chat template and its projector let it do; None if unknown.
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
    """The part of a model that is in one quantisation.

    Attributes:
        share: Share of this quantisation in all tensors, 0.0 to 1.0.
    """

    type: str
    size_bytes: int
    share: float


@dataclass(frozen=True)
class FileDetails(ModelFacts):
    """The details of a model's files, for its page.

    Attributes:
        title: The model's own name.
        tensors: The quantisations, the one with the most bytes first.
        layers: Number of layers, without those that only predict tokens ahead.
        heads: Number of attention heads in the layer that has the most.
        kv_heads: Number of key and value heads in the layer that has the most.
        chat_template: None if there is none.
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
    """A model format.

    Any thread can use it; at worst, two threads read the same file. Every method that reads raises
    EngineError for files that are gone, damaged, or of another kind.

    Attributes:
        engine: The engine that runs its models.
        kind: What a model of this format is called, in words.
    """

    engine: EngineName
    kind: str

    def recognises(self, path: Path) -> bool:
        """Return whether the path seems to be of this format, without reading it."""
        ...

    def name(self, path: Path) -> str:
        """Return the name for a model that is added from this path."""
        ...

    def parts(self, path: Path) -> tuple[Path, ...]:
        """List the files with the model's weights, by their names; they may no longer exist."""
        ...

    def files(self, path: Path) -> tuple[Path, ...]:
        """List all files that are copied and deleted with the model. Raises OSError."""
        ...

    def facts(self, model: ListedModel) -> ModelFacts:
        """Read the facts for a list, or recall those of unchanged files. Raises EngineError."""
        ...

    def details(self, model: ListedModel) -> FileDetails:
        """Read everything that the model's files say about it. Raises EngineError."""
        ...

    def template(self, model: ListedModel) -> str:
        """Read the model's chat template; "" if there is none. Raises EngineError."""
        ...

    def require_addable(self, path: Path, models: Iterable[ListedModel]) -> bool:
        """Check that a path can be added as a model or as a drafter.

        Args:
            models: The models of this format on the list.

        Returns:
            Whether it is a drafter for one of these models.

        Raises:
            EngineError: It is neither a chat model nor a drafter for one of these models.
        """
        ...

    def drafter_for(
        self, model: ListedModel, added: Iterable[Path], found: Iterable[Path]
    ) -> Path | None:
        """Find a drafter for a model: an added one, else one beside it, else one of those found.

        Args:
            added: Drafters that the user added.
            found: Drafters that a scan found.
        """
        ...

    def lost_drafter(self, model: ListedModel, added: Iterable[Path]) -> Path | None:
        """Find a drafter that was added, may belong to this model, and cannot be read."""
        ...

    def targets(self, drafter: Path, models: Iterable[AnyModel]) -> list[AnyModel]:
        """Return the models that a drafter can draft for.

        Raises:
            EngineError: The drafter cannot be read.
        """
        ...

    def draft_models(self, model: AnyModel, others: Sequence[AnyModel]) -> list[AnyModel]:
        """Return the models that can draft for another: smaller ones with the same vocabulary."""
        ...

    def mtp_sentence(self, model: ListedModel, drafter: Path | None, advise: Advise) -> str:
        """Return a sentence on what drafts for a model.

        Args:
            advise: Writes the sentence for a model without a drafter.

        Raises:
            EngineError: The model cannot be read, or cannot chat.
        """
        ...

    def keep(self) -> None:
        """Save what was read since the start for the next run."""
        ...
