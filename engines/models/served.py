"""The models of servers as a model format; without files, hardly anything is known about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from engines.errors import NotAModel
from engines.models.format import (
    Advise,
    AnyModel,
    FileDetails,
    ListedModel,
    ModelFacts,
    ModelFormat,
)
from engines.sentences import N_
from engines.types import EngineName


class ServedFormat(ModelFormat):
    """The models of servers; everything known about them is on the list, and nothing is read."""

    engine: EngineName = "remote"
    kind = N_("a model on another server")

    def recognises(self, _path: Path) -> bool:
        """Return False: a model on a server has no path."""
        return False

    def name(self, path: Path) -> str:
        """Return the name at the server."""
        return str(path)

    def parts(self, _path: Path) -> tuple[Path, ...]:
        """Return no files."""
        return ()

    def files(self, _path: Path) -> tuple[Path, ...]:
        """Return no files."""
        return ()

    def facts(self, model: ListedModel) -> ModelFacts:
        """Return the context that the server reported; the rest is unknown."""
        return ModelFacts(context_max=model.context)

    def details(self, model: ListedModel) -> FileDetails:
        """Return the context and the name at the server."""
        return FileDetails(context_max=model.context, title=model.served)

    def template(self, _model: ListedModel) -> str:
        """Return "": a server does not send its chat template."""
        return ""  # its abilities are known once the server has answered

    def require_addable(self, path: Path, _models: Iterable[ListedModel]) -> bool:
        """Raise NotAModel: these models appear when their server is added."""
        raise NotAModel(
            N_("“{name}” was not added.", name=path),
            N_("It is a model on another server."),
            N_("Add its server: its models then appear in the list."),
        )

    def drafter_for(
        self, _model: ListedModel, _added: Iterable[Path], _found: Iterable[Path]
    ) -> Path | None:
        """Return None: a server drafts by itself."""
        return None

    def lost_drafter(self, _model: ListedModel, _added: Iterable[Path]) -> Path | None:
        """Return None: a server drafts by itself."""
        return None

    def targets(self, _drafter: Path, _models: Iterable[AnyModel]) -> list[AnyModel]:
        """Return no models."""
        return []

    def draft_models(self, _model: AnyModel, _others: Sequence[AnyModel]) -> list[AnyModel]:
        """Return no models."""
        return []

    def mtp_sentence(self, _model: ListedModel, _drafter: Path | None, _advise: Advise) -> str:
        """Return a sentence that says that the server decides about drafting."""
        return N_("The server itself decides whether it guesses ahead.")

    def keep(self) -> None:
        """Do nothing: this format reads nothing."""
