"""Explains where a missing model was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.base.errors import ModelUnknown
from app.models.library.values.entry import ModelEntry
from app.settings.values.resolved import SettingLayers, Source
from engines.sentences import N_


@contextmanager
def naming(layers: SettingLayers, called: str) -> Iterator[None]:
    """Replace a ModelUnknown raised in the block by one that says where the model was chosen.

    The error stays as it is if the model was requested with the message itself.
    """
    try:
        yield
    except ModelUnknown as error:
        source = _source(layers)
        if source == "message":
            raise
        what = N_("The model “{called}” is not on this computer.", called=called)
        if source == "chat":
            raise ModelUnknown(
                what,
                N_("It was chosen for this chat, and has been removed or renamed since."),
                N_("Choose another model for this chat."),
                terminal=N_(
                    "Add --model NAME, or use /model NAME in the chat. `hearth models list` "
                    "shows all."
                ),
            ) from error
        if source == "assistant":
            raise ModelUnknown(
                what,
                N_("The assistant names it, and it has been removed or renamed since."),
                N_("Choose another model for the assistant, or for this chat."),
                terminal=N_(
                    "Change the assistant in the window, or add --model NAME. "
                    "`hearth models list` shows all."
                ),
            ) from error
        raise ModelUnknown(
            what,
            N_("The setting “Model” names it, and it has been removed or renamed since."),
            N_("Choose another model in the settings."),
            terminal=N_(
                "`hearth settings set model starter` chooses the built-in guide. "
                "`hearth models list` shows all."
            ),
        ) from error


def require_here(entry: ModelEntry) -> None:
    """Refuse a listed model whose file is missing.

    Raises:
        ModelUnknown: The model's file does not exist.
    """
    if not entry.on_server and not entry.path.exists():
        raise ModelUnknown(
            N_("“{name}” was not found.", name=entry.name),
            N_("There is no file {path}.", path=entry.path),
            N_("Put the file back, or choose another model."),
        )


def _source(layers: SettingLayers) -> Source:
    """Return the highest layer that names a model."""
    if layers.message.get("model") is not None:
        return "message"
    if layers.chat.get("model") is not None:
        return "chat"
    return "settings" if layers.assistant.get("model") is None else "assistant"
