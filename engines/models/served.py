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
        return False

    def name(self, path: Path) -> str:
        return str(path)

    def parts(self, _path: Path) -> tuple[Path, ...]:
        return ()

    def files(self, _path: Path) -> tuple[Path, ...]:
        return ()

    def facts(self, model: ListedModel) -> ModelFacts:
        return ModelFacts(context_max=model.context)

    def details(self, model: ListedModel) -> FileDetails:
        return FileDetails(context_max=model.context, title=model.served)

    def template(self, _model: ListedModel) -> str:
        return ""  # its abilities are known once the server has answered

    def require_addable(self, path: Path, _models: Iterable[ListedModel]) -> bool:
        raise NotAModel(
            N_("“{name}” was not added.", name=path),
            N_("It is a model on another server."),
            N_("Add its server: its models then appear in the list."),
        )

    def drafter_for(
        self, _model: ListedModel, _added: Iterable[Path], _found: Iterable[Path]
    ) -> Path | None:
        return None

    def lost_drafter(self, _model: ListedModel, _added: Iterable[Path]) -> Path | None:
        return None

    def targets(self, _drafter: Path, _models: Iterable[AnyModel]) -> list[AnyModel]:
        return []

    def draft_models(self, _model: AnyModel, _others: Sequence[AnyModel]) -> list[AnyModel]:
        return []

    def mtp_sentence(self, _model: ListedModel, _drafter: Path | None, _advise: Advise) -> str:
        return N_("Whether this server guesses ahead is its own setting.")

    def keep(self) -> None:
        """Do nothing: this format reads nothing."""
