"""The settings of one model, and the order in which several layers of settings apply: pure.

What a question asks for comes first; then what the chat has set, then its assistant, then the
model's own settings, then what the model is made for, and last the settings of the app.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from app.base.errors import NoSuchSetting, SettingsInvalid
from app.settings.values.fields import Settings, fields

if TYPE_CHECKING:
    from app.models.library.values.entry import ModelEntry

LOAD: Final = ("context", "kv_type", "threads", "gpu_layers", "mtp", "draft_model")
ANSWERING: Final = (
    "temperature", "top_k", "top_p", "min_p", "repeat_penalty", "max_tokens",
    "stop_repetition", "system_prompt",
)  # fmt: skip
THINKING: Final = ("thinking", "effort", "thinking_budget")
ENGINE: Final = ("adapter",)
OF_A_MODEL: Final = (*LOAD, *ANSWERING, *THINKING, *ENGINE)
"""The settings that a model can have for itself; each is one of `Settings` too."""

NAMING: Final = ("model", "draft_model", "embedding_model")
"""The settings of the app that name a model."""

_GUIDE: Final[Mapping[str, object]] = {
    "temperature": 0.0, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0,
}  # fmt: skip
"""The guide was trained to give one answer to a question, so chance only harms it."""


def made_for(entry: ModelEntry) -> Mapping[str, object]:
    """Return the settings that a model was made for, where they differ from the app's."""
    return _GUIDE if entry.builtin else {}


def effective(settings: Settings, *layers: Mapping[str, object]) -> Settings:
    """Lay layers over the settings; each has the last word over those before it.

    A value of None, or a name that is not there, leaves it as it was.
    """
    changes = {
        name: value for layer in layers for name, value in layer.items() if value is not None
    }
    return replace(settings, **cast(Any, changes)) if changes else settings


def checked(name: str, value: object) -> object:
    """Read a model's own setting as its type. Raises NoSuchSetting or SettingsInvalid."""
    if name not in OF_A_MODEL:
        raise NoSuchSetting(
            f"A model has no setting named “{name}”.",
            "It is not a setting that a model can have of its own.",
            f"These can be set: {', '.join(OF_A_MODEL)}.",
        )
    return getattr(Settings().changed(name, value), name)


def valid(values: Mapping[str, object]) -> dict[str, object]:
    """Keep the stored values that are still allowed; limits may have become narrower since."""
    found: dict[str, object] = {}
    for name, value in values.items():
        if name in OF_A_MODEL and name in fields():
            try:
                found[name] = checked(name, value)
            except SettingsInvalid:
                continue
    return found
