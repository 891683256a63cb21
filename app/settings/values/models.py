"""The settings of a model, and the order in which layers of settings apply: pure.

The values for a question come first, then those of the chat, of its assistant, of the model, those
the model was made for, and last those of the app.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from app.base.errors import NoSuchSetting, SettingsInvalid
from app.settings.values.fields import Settings, fields
from engines.sentences import N_

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
"""The settings that each model can have of its own; all of them are also in `Settings`."""

NAMING: Final = ("model", "draft_model", "embedding_model")
"""The app's settings whose value is the name of a model."""

_GUIDE: Final[Mapping[str, object]] = {
    "temperature": 0.0, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0,
}  # fmt: skip
"""The guide was trained to give one answer to a question, so sampling only harms it."""


def made_for(entry: ModelEntry) -> Mapping[str, object]:
    """Return the settings that a model was made for, if they differ from the app's."""
    return _GUIDE if entry.builtin else {}


def effective(settings: Settings, *layers: Mapping[str, object]) -> Settings:
    """Apply layers to the settings; a later layer overrides an earlier one.

    A value of None, or a missing name, changes nothing.
    """
    changes = {
        name: value for layer in layers for name, value in layer.items() if value is not None
    }
    return replace(settings, **cast(Any, changes)) if changes else settings


def checked(name: str, value: object) -> object:
    """Read a model's own setting as its type. Raises NoSuchSetting or SettingsInvalid."""
    if name not in OF_A_MODEL:
        raise NoSuchSetting(
            N_("A model has no setting named “{name}”.", name=name),
            N_("It is not a setting that a model can have of its own."),
            N_("These can be set: {of_a_model}.", of_a_model=", ".join(OF_A_MODEL)),
        )
    return getattr(Settings().changed(name, value), name)


def valid(values: Mapping[str, object]) -> dict[str, object]:
    """Return the stored values that are still allowed; a newer version can have narrower limits."""
    found: dict[str, object] = {}
    for name, value in values.items():
        if name in OF_A_MODEL and name in fields():
            try:
                found[name] = checked(name, value)
            except SettingsInvalid:
                continue
    return found
