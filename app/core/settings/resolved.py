"""What holds for an answer, and who has set it: settings, model, assistant, chat, message. Pure.

The later has the last word. The model is found first, as its own settings come second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from app.core.settings.fields import Settings
from app.core.settings.models import effective

Source = Literal["settings", "model", "assistant", "chat", "message"]


@dataclass(frozen=True)
class Layers:
    """What was set where, by the names of settings; a value of None leaves it open.

    `model` may be set by each. A message's layer is what was asked for it alone.
    """

    assistant: Mapping[str, object]
    chat: Mapping[str, object]
    message: Mapping[str, object]

    @property
    def model(self) -> str | None:
        """The model that the last of them wants; None leaves it to the settings."""
        found = [it.get("model") for it in (self.assistant, self.chat, self.message)]
        return next((str(model) for model in reversed(found) if model is not None), None)


NO_LAYERS = Layers({}, {}, {})


@dataclass(frozen=True)
class ResolvedSettings:
    """The settings that hold, and where each comes from that is not from the settings."""

    settings: Settings
    sources: Mapping[str, Source]

    def source(self, name: str) -> Source:
        return self.sources.get(name, "settings")


def resolve(
    settings: Settings, of_model: Callable[[str], Mapping[str, object]], layers: Layers
) -> ResolvedSettings:
    """What holds where these layers lie over the settings.

    of_model: the settings that a model has of its own, by what it is called.
    """
    own = of_model(layers.model or settings.model)
    ordered: tuple[tuple[Source, Mapping[str, object]], ...] = (
        ("model", own),
        ("assistant", layers.assistant),
        ("chat", layers.chat),
        ("message", layers.message),
    )
    sources: dict[str, Source] = {
        name: source
        for source, values in ordered
        for name, value in values.items()
        if value is not None
    }
    return ResolvedSettings(effective(settings, *(values for _, values in ordered)), sources)
