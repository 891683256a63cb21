"""The choice of an engine for a model, and of the same model's files for another engine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, Protocol

from app.base.engine_names import PROPER_NAMES
from app.models.discover.values.counterparts import (
    Card,
    Counterpart,
    best,
    checkpoints_of,
    counterparts,
    size_of,
    surely_same,
)
from app.models.library.services.library import Library
from app.models.library.values.entry import STARTER, STARTER_CHECKPOINT, ModelEntry
from app.runtime.services.advising import EngineAdvisor, VllmHere
from app.runtime.values.advice import Advice
from app.settings.store import SettingsFile
from app.settings.values.fields import Settings
from engines.errors import EngineUnavailable, UserError
from engines.sentences import N_, joined
from engines.types import EngineName

if TYPE_CHECKING:
    from app.models.discover.services.recommending import Recommending
    from app.models.discover.values.catalogue import Size

_SEVERAL: Final = 3
"""The number of answers wanted at once from which vLLM is worth it.

With two, the second waits less for the first than for vLLM to start.
"""

NAMES: dict[EngineName, str] = {**PROPER_NAMES, "remote": N_("a server")}
"""The engines' names for people."""


class LoadsModels(Protocol):
    """Knows which models are loaded; see `Runtime`."""

    def loaded_model(self, engine: EngineName) -> ModelEntry | None:
        """Return the model that an engine has loaded; None if it has none."""


class EngineChoice:
    """Chooses engines. Qt-free; safe from any thread.

    Nothing is looked up before it is needed, and the catalogue is read once.
    """

    def __init__(
        self,
        library: Library,
        recommending: Recommending,
        settings: SettingsFile,
        vllm: VllmHere,
        advisor: EngineAdvisor,
        loaded: LoadsModels,
    ) -> None:
        self._library = library
        self._catalogue = cache(recommending.catalogue)
        self._settings = settings
        self._vllm = vllm
        self._advisor = advisor
        self._loaded = loaded

    def counterparts(self, entry: ModelEntry, engine: EngineName) -> tuple[Counterpart, ...]:
        """List the same model's files for another engine, local first. Raises CatalogueInvalid."""
        card = self._card() if engine == "vllm" else None
        return counterparts(entry, engine, self._library.entries(), self._catalogue(), card)

    def checkpoint_of(self, size: Size) -> Counterpart | None:
        """Return the checkpoint of a model in the catalogue that suits this computer's card."""
        return best(checkpoints_of(size, self._card()))

    def entry_for(self, entry: ModelEntry, engine: EngineName) -> ModelEntry:
        """Return the model's entry for this engine, with its drafter.

        Nothing is downloaded: if the counterpart is not on this computer, the error states its
        price.

        Raises:
            EngineUnavailable: The engine, or the model for it, is not on this computer.
        """
        if entry.engine == engine:
            return entry
        self._require_installed(
            engine,
            N_("vLLM cannot answer on this computer."),
            N_("Install it under Engines, or let llama.cpp answer."),
            terminal=N_(
                "`hearth engines install vllm` shows what it needs; leave out --engine to use "
                "llama.cpp."
            ),
        )
        found = self.counterparts(entry, engine)
        chosen = best(found)
        if chosen is not None and chosen.entry is not None:
            return self._library.find(chosen.entry.id)
        raise _no_counterpart(entry, engine, found, chosen)

    def preferred(self, called: str, settings: Settings, answers: int = 1) -> str:
        """Return the name of the entry that answers, if both engines have the model.

        The user is not asked, so another entry is only chosen if it is certainly the same model.
        With the setting `auto` a checkpoint is kept: having one means that the user chose it.

        Args:
            called: The id or the name of the model.
            answers: The number of answers wanted now, including this one.
        """
        if self._vllm.installable()[0] != "installed":
            return called
        try:
            entry = self._library.find(called)
            auto = settings.engine == "auto"
            if entry.on_server or (auto and entry.engine == "vllm"):
                return called
            copies = self._on_both(entry)
            engine = (
                self._lane(copies, settings, answers).engine if auto and copies else settings.engine
            )
            return copies[engine].id if engine in copies else called
        except UserError:
            return called  # only one engine has it, or the answer will report the error

    def why(self, entry: ModelEntry, settings: Settings, answers: int = 1) -> str:
        """Return a sentence that says why this engine answers with a model that both have.

        Empty if the user chose the engine, or only one engine has the model.

        Args:
            answers: See `preferred`.
        """
        if (
            settings.engine != "auto"
            or entry.on_server
            or self._vllm.installable()[0] != "installed"
        ):
            return ""
        try:
            copies = self._on_both(entry)
            if not copies:
                return ""
            advice = self._lane(copies, settings, answers)
        except UserError:
            return ""
        return advice.sentence if advice.engine == entry.engine else ""

    def _on_both(self, entry: ModelEntry) -> dict[str, ModelEntry]:
        """Return a model's entries by engine; empty if they are not certainly the same model.

        Raises EngineUnavailable if one of the engines does not have it, and CatalogueInvalid.
        """
        file, checkpoint = self.entry_for(entry, "llamacpp"), self.entry_for(entry, "vllm")
        same = surely_same(file, checkpoint, self._catalogue())
        return {"llamacpp": file, "vllm": checkpoint} if same else {}

    def _lane(self, copies: dict[str, ModelEntry], settings: Settings, answers: int) -> Advice:
        """Choose between the two engines; never vLLM if it would refuse the load.

        Raises SettingsInvalid.
        """
        loaded = self._loaded.loaded_model("vllm")
        advice = self._advisor.advise(
            answers if answers >= _SEVERAL else 1,
            model=self.model_name(copies["llamacpp"]),
            context=settings.context,
            loaded=loaded is not None and loaded.id == copies["vllm"].id,
        )
        if advice.engine == "llamacpp" or self._vllm.fits(copies["vllm"], settings):
            return advice
        words = N_("This model needs more graphics memory in vLLM than there is.")
        return Advice("llamacpp", words, (words,), advice.rows)

    def use(self, engine: str) -> Settings:
        """Set the preferred engine for models that several engines can run.

        Raises EngineUnavailable, SettingsInvalid, DataFolderReadOnly and DiskFull.
        """
        self._require_installed(
            engine,
            N_("vLLM was not chosen."),
            N_("Install it first."),
            terminal=N_("Install it first: `hearth engines install vllm`."),
        )
        changed = self._settings.read().changed("engine", engine)
        self._settings.write(changed)
        return changed

    def _card(self) -> Card | None:
        """Return the NVIDIA card with the most memory."""
        return next(iter(self._vllm.cards()), None)

    def _require_installed(self, engine: str, what: str, do: str, *, terminal: str) -> None:
        """Raise EngineUnavailable with these words if vLLM is wanted but not installed."""
        state, why_not = self._vllm.installable()
        if engine == "vllm" and state != "installed":
            raise EngineUnavailable(
                what, why_not or N_("It is not installed."), do, terminal=terminal
            )

    def model_name(self, entry: ModelEntry) -> str:
        """Return one name for a model in all engines, to compare their speeds."""
        if entry.id in (STARTER, STARTER_CHECKPOINT):
            return STARTER
        size = size_of(entry, self._catalogue())
        return size.name if size else entry.name


_MODELS_OF: Final[Mapping[EngineName, str]] = {
    "vllm": N_("Its checkpoint is not on this computer."),
    "llamacpp": N_("Its GGUF file is not on this computer."),
}
_UNAVAILABLE: Final[Mapping[EngineName, tuple[str, str]]] = {
    "remote": (
        N_("None of your servers offers this model."),
        N_("Choose one of a server’s models."),
    ),
    "vllm": (
        N_("This computer has no checkpoint of this model, and Hearth’s list knows none."),
        N_("Add a checkpoint of it, or choose another model."),
    ),
    "llamacpp": (
        N_("This computer has no GGUF file of this model, and Hearth’s list knows none."),
        N_("Add a GGUF file of it, or choose another model."),
    ),
}
_UNAVAILABLE_IN_TERMINAL: Final[Mapping[EngineName, str]] = {
    "remote": N_(
        "Choose a server's model with --model PROFILE:MODEL; `hearth servers list` shows them."
    ),
    "vllm": N_("Import a checkpoint of it with `hearth models import`, or choose another model."),
    "llamacpp": N_(
        "Import a GGUF file of it with `hearth models import`, or choose another model."
    ),
}


def _no_counterpart(
    entry: ModelEntry,
    engine: EngineName,
    found: tuple[Counterpart, ...],
    chosen: Counterpart | None,
) -> EngineUnavailable:
    what = N_("“{name}” does not run on {names}.", name=entry.name, names=NAMES[engine])
    if chosen is not None:
        label = f"{chosen.repo}:{chosen.label}" if engine == "llamacpp" else chosen.repo
        return EngineUnavailable(
            what,
            joined(" ", (_MODELS_OF[engine], chosen.price)),
            N_("Download it first."),
            terminal=N_(
                "Download it: `hearth models pull {label}`{drafter}.",
                label=label,
                drafter=N_(
                    ", and its drafter: `hearth models pull {drafter}`", drafter=chosen.drafter
                )
                if chosen.drafter
                else "",
            ),
        )
    if found:
        return EngineUnavailable(what, found[0].why_not, N_("Answer with llama.cpp."))
    return EngineUnavailable(what, *_UNAVAILABLE[engine], terminal=_UNAVAILABLE_IN_TERMINAL[engine])
