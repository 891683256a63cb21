"""The settings of an answer, resolved from app, model, assistant, chat and message.

A later layer overrides an earlier one. The model is determined first, because its own settings are
the second layer.
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
    """The values set by assistant, chat and message, by name; None leaves a setting open.

    Attributes:
        assistant, chat: These can set `model`, too.
        message: The settings requested for this message alone; they can set `model`, too.
        is_default_model: Whether the chat's model is the default from when the chat began, which
            the user did not choose.
    """

    assistant: Mapping[str, object]
    chat: Mapping[str, object]
    message: Mapping[str, object]
    is_default_model: bool = False

    @property
    def model(self) -> str | None:
        """The model that the last layer names; None leaves it to the settings."""
        models = [layer.get("model") for layer in (self.assistant, self.chat, self.message)]
        return next((str(model) for model in reversed(models) if model is not None), None)


NO_LAYERS = SettingLayers({}, {}, {})


@dataclass(frozen=True)
class ResolvedSettings:
    """The settings that apply, and the source of each one that is not the app's."""

    settings: Settings
    sources: Mapping[str, Source]

    def source(self, name: str) -> Source:
        """Return where the value of a setting comes from."""
        return self.sources.get(name, "settings")


def resolve(
    settings: Settings,
    of_model: Callable[[str], Mapping[str, object]],
    layers: SettingLayers,
    fallback: Callable[[str], str] = lambda model: model,
) -> ResolvedSettings:
    """Resolve the settings under these layers.

    Args:
        of_model: Returns a model's own settings, by its name.
        fallback: Returns the model to use if no layer names one, given the one in the settings.
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
