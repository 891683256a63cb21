"""Advises on the engine that suits this computer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from app.runtime.values.advice import Advice, MeasuredSpeed, Situation, System, advise

if TYPE_CHECKING:
    from app.models.discover.values.counterparts import Card
    from app.models.library.values.entry import ModelEntry
    from app.servers.services import Servers
    from app.settings.values.fields import Settings

Installable = Literal["installed", "possible", "impossible"]
"""The state of vLLM: it is installed, can be installed, or cannot be."""


class VllmHere(Protocol):
    """vLLM on this computer, installed or not; each method looks now."""

    def installable(self) -> tuple[Installable, str]:
        """Return whether vLLM is installed; if it cannot be, why, in a sentence."""
        ...

    def cards(self) -> tuple[Card, ...]:
        """Return the NVIDIA cards, the largest first."""
        ...

    def fits(self, entry: ModelEntry, settings: Settings) -> bool:
        """Return whether the card can hold a model with these settings. Raises SettingsInvalid."""
        ...


class KeepsSpeeds(Protocol):
    """The speeds that were measured on this computer; see `MeasuredSpeeds`."""

    def all(self) -> tuple[MeasuredSpeed, ...]:
        """Return all measured speeds."""


class EngineAdvisor:
    """Advises on engines. Qt-free; safe from any thread. Looks things up when it is asked."""

    def __init__(
        self, system: System, vllm: VllmHere, servers: Servers, speeds: KeepsSpeeds
    ) -> None:
        self.system = system
        self._vllm = vllm
        self._servers = servers
        self._speeds = speeds

    def advise(
        self,
        chats_at_once: int = 1,
        *,
        model: str = "",
        context: int = 0,
        loaded: bool = False,
    ) -> Advice:
        """Advise on the engine that suits this computer.

        Args:
            chats_at_once: Chats that are answered side by side.
            model: See `Situation`.
            context: See `Situation`.
            loaded: See `Situation`.
        """
        installable, why_not = self._vllm.installable()
        return advise(
            Situation(
                self.system,
                self._vllm.cards(),
                installable,
                why_not,
                chats_at_once,
                len(self._servers.list()),
                self._speeds.all(),
                model,
                context,
                loaded,
            )
        )
