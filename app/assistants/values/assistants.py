"""Assistants and presets of sampling settings.

An assistant is a named set of choices. The model and the app's settings apply where it sets none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from app.settings.values.fields import Settings
from app.settings.values.models import ENGINE, THINKING, valid_settings

SAMPLING: Final = ("temperature", "top_k", "top_p", "min_p", "repeat_penalty")
"""The settings that a preset holds."""

ASSISTANT_SETTINGS: Final = (*SAMPLING, "max_tokens", "context", *THINKING, *ENGINE)
"""The settings that an assistant can have of its own, besides its system prompt and model."""

CHAT_SETTINGS: Final = ("system_prompt", *ASSISTANT_SETTINGS)
"""The settings that a chat can have of its own, besides its model."""

LONGEST_NAME: Final = 80


@dataclass(frozen=True)
class Assistant:
    """A system prompt, a greeting, a model and settings under one name.

    Attributes:
        system_prompt: "" leaves the system prompt of the settings in place.
        greeting: The first message of a new chat with it.
        model: An id; None leaves the choice to the settings.
        settings: Values by the names in ASSISTANT_SETTINGS.
        collections: Ids of the collections that its answers use.
    """

    id: str
    name: str
    system_prompt: str = ""
    greeting: str = ""
    model: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    collections: tuple[str, ...] = ()

    @property
    def values(self) -> Mapping[str, object]:
        """The settings that this assistant has, by name."""
        prompt = {"system_prompt": self.system_prompt} if self.system_prompt.strip() else {}
        model = {"model": self.model} if self.model else {}
        return {**self.settings, **prompt, **model}

    @property
    def allowed_values(self) -> dict[str, object]:
        """The values that are still allowed; a newer version can have narrower limits."""
        allowed = {
            name: value
            for name, value in valid_settings(self.values).items()
            if name in (*ASSISTANT_SETTINGS, "system_prompt")
        }
        return {**allowed, **({"model": self.model} if self.model else {})}


@dataclass(frozen=True)
class Preset:
    """Sampling settings under one name."""

    id: str
    name: str
    settings: Mapping[str, object]

    @property
    def builtin(self) -> bool:
        """True if it comes with Hearth and cannot be removed."""
        return self in PRESETS


@dataclass(frozen=True)
class NewChat:
    """The settings with which a chat begins.

    Attributes:
        greeting: Its first message; "" for none.
        usual: Whether its model is just the default of the settings, not the user's choice.
        collections: Ids of the collections that its answers use; None for those of its assistant.
    """

    model: str | None = None
    assistant_id: str | None = None
    greeting: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    usual: bool = field(default=False, compare=False)
    collections: tuple[str, ...] | None = None


PRESETS: Final = (
    Preset(
        "exact", "Precise",
        {"temperature": 0.0, "top_k": 1, "top_p": 1.0, "min_p": 0.0, "repeat_penalty": 1.0},
    ),
    Preset("balanced", "Balanced", {name: getattr(Settings(), name) for name in SAMPLING}),
    Preset(
        "lively", "Creative",
        {"temperature": 1.1, "top_k": 0, "top_p": 1.0, "min_p": 0.06, "repeat_penalty": 1.05},
    ),
)  # fmt: skip


def matching(presets: tuple[Preset, ...], settings: Settings) -> Preset | None:
    """Return the preset whose values these settings have; None if there is none."""
    return next(
        (
            preset
            for preset in presets
            if all(getattr(settings, name) == preset.settings.get(name) for name in SAMPLING)
        ),
        None,
    )


def free_name(name: str, names: set[str]) -> str:
    """Return the name, with a number appended if the names contain it."""
    candidate, number = name, 2
    while candidate in names:
        candidate, number = f"{name} {number}", number + 1
    return candidate
