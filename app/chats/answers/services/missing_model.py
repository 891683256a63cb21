"""Explains where a missing model was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.base.errors import ModelUnknown
from app.models.library.values.entry import ModelEntry
from app.settings.values.resolved import SettingLayers, Source


@contextmanager
def explaining_missing_model(layers: SettingLayers, called: str) -> Iterator[None]:
    """Replace a ModelUnknown raised in the block by one that says where the model was chosen.

    The error stays as it is if the model was requested with the message itself.
    """
    try:
        yield
    except ModelUnknown as error:
        source = _source(layers)
        if source == "message":
            raise
        what = f"The model “{called}” is not on this computer."
        if source == "chat":
            raise ModelUnknown(
                what,
                "It was chosen for this chat, and has been removed or renamed since.",
                "Choose another model for this chat.",
                terminal="Add --model NAME, or use /model NAME in the chat. `hearth models list` "
                "shows all.",
            ) from error
        if source == "assistant":
            raise ModelUnknown(
                what,
                "The assistant names it, and it has been removed or renamed since.",
                "Choose another model for the assistant, or for this chat.",
                terminal="Change the assistant in the window, or add --model NAME. "
                "`hearth models list` shows all.",
            ) from error
        raise ModelUnknown(
            what,
            "The setting “Model” names it, and it has been removed or renamed since.",
            "Choose another model in the settings.",
            terminal="`hearth settings set model starter` chooses the built-in guide. "
            "`hearth models list` shows all.",
        ) from error


def require_file(entry: ModelEntry) -> None:
    """Refuse a listed model whose file is missing.

    Raises:
        ModelUnknown: The model's file does not exist.
    """
    if not entry.on_server and not entry.path.exists():
        raise ModelUnknown(
            f"“{entry.name}” was not found.",
            f"There is no file {entry.path}.",
            "Put the file back, or choose another model.",
        )


def _source(layers: SettingLayers) -> Source:
    """Return the highest layer that names a model."""
    if layers.message.get("model") is not None:
        return "message"
    if layers.chat.get("model") is not None:
        return "chat"
    return "settings" if layers.assistant.get("model") is None else "assistant"
