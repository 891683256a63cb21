"""Resolves the settings of an answer: app, model, assistant, chat and message. Pure.

The later has the last word. The model is found first, as its own settings come second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from app.settings.values.fields import Settings
from app.settings.values.models import effective

Source = Literal["settings", "model", "assistant", "chat", "message"]


@dataclass(frozen=True)
class SettingLayers:
    """The values set by assistant, chat and message, by name; None leaves one open.

    `model` may be set by each. A message's layer is what was asked for it alone. usual: the chat's
    model is the one that was usual when it began, and nobody has chosen it.
    """

    assistant: Mapping[str, object]
    chat: Mapping[str, object]
    message: Mapping[str, object]
    usual: bool = False

    @property
    def model(self) -> str | None:
        """The model that the last of them wants; None leaves it to the settings."""
        found = [it.get("model") for it in (self.assistant, self.chat, self.message)]
        return next((str(model) for model in reversed(found) if model is not None), None)


NO_LAYERS = SettingLayers({}, {}, {})


@dataclass(frozen=True)
class ResolvedSettings:
    """The settings that apply, and the source of each that is not from the app's settings."""

    settings: Settings
    sources: Mapping[str, Source]

    def source(self, name: str) -> Source:
        return self.sources.get(name, "settings")


def resolve(
    settings: Settings,
    of_model: Callable[[str], Mapping[str, object]],
    layers: SettingLayers,
    fallback: Callable[[str], str] = lambda usual: usual,
) -> ResolvedSettings:
    """Resolve the settings under these layers.

    of_model: the settings that a model has of its own, by what it is called. fallback: the model
    that answers where no layer names one, by what that of the settings is called.
    """
    model = layers.model or fallback(settings.model)
    own = of_model(model)
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
    settings = replace(settings, model=model)
    return ResolvedSettings(effective(settings, *(values for _, values in ordered)), sources)
