"""The settings of a model, and the order in which layers of settings apply.

The values for a question come first, then those of the chat, of its assistant, of the model, those
the model was made for, and last those of the app.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from app.base.errors import NoSuchSetting, SettingsInvalid
from app.settings.values.fields import Settings, fields
from engines.sentences import N_

LOAD: Final = ("context", "kv_type", "threads", "gpu_layers", "mtp", "draft_model")
ANSWERING: Final = (
    "temperature", "top_k", "top_p", "min_p", "repeat_penalty", "max_tokens",
    "stop_repetition", "system_prompt",
)  # fmt: skip
THINKING: Final = ("thinking", "effort", "thinking_budget")
ENGINE: Final = ("adapter",)
MODEL_SETTINGS: Final = (*LOAD, *ANSWERING, *THINKING, *ENGINE)
"""The settings that each model can have of its own; all of them are also in `Settings`."""

MODEL_NAME_SETTINGS: Final = ("model", "draft_model", "embedding_model")
"""The app's settings whose value is the name of a model."""

_GUIDE: Final[Mapping[str, object]] = {
    "temperature": 0.0, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0,
}  # fmt: skip
"""The guide was trained to give one answer to a question, so sampling only harms it."""


def builtin_settings(*, builtin: bool) -> Mapping[str, object]:
    """Return the settings that a model was trained for; none if the app's suit it.

    Args:
        builtin: Whether it is the built-in model.
    """
    return _GUIDE if builtin else {}


def effective(settings: Settings, *layers: Mapping[str, object]) -> Settings:
    """Apply layers to the settings; a later layer overrides an earlier one.

    A value of None, or a missing name, changes nothing.
    """
    changes = {
        name: value for layer in layers for name, value in layer.items() if value is not None
    }
    return replace(settings, **cast(Any, changes)) if changes else settings


def parse_setting(name: str, value: object) -> object:
    """Read a model's own setting as its type. Raises NoSuchSetting or SettingsInvalid."""
    if name not in MODEL_SETTINGS:
        raise NoSuchSetting(
            N_("A model has no setting named “{name}”.", name=name),
            N_("It is not a setting that a model can have of its own."),
            N_("These can be set: {names}.", names=", ".join(MODEL_SETTINGS)),
        )
    return getattr(Settings().changed(name, value), name)


def valid_settings(values: Mapping[str, object]) -> dict[str, object]:
    """Return the stored values that are still allowed; a newer version can have narrower limits."""
    valid_values: dict[str, object] = {}
    for name, value in values.items():
        if name in MODEL_SETTINGS and name in fields():
            try:
                valid_values[name] = parse_setting(name, value)
            except SettingsInvalid:
                continue
    return valid_values
