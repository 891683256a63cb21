"""Chooses the model for a chat whose user has not chosen one: pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.models.library.values.entry import STARTER, ModelEntry


def local_fallback(usual: str, entries: Sequence[ModelEntry], leaves: Callable[[str], bool]) -> str:
    """Return the usual model, or a local one if the usual model would send text off this computer.

    The fallback is the local model that answered most recently, or else the built-in guide: a
    chat's text leaves this computer only if the user chose that for the chat. A usual model that is
    not among the entries cannot answer anything, so it is returned unchanged.

    Args:
        usual: Id or name of the usual model.
        leaves: Returns, for the id of a server's profile, whether text for that server leaves this
            computer.
    """
    usual_entry = next((entry for entry in entries if usual in (entry.id, entry.name)), None)
    if usual_entry is None or not usual_entry.on_server or not leaves(usual_entry.server):
        return usual
    local = [
        entry for entry in entries if not (entry.on_server or entry.drafts) and entry.last_used
    ]
    last_used = max(local, key=lambda entry: entry.last_used or 0.0, default=None)
    return last_used.id if last_used is not None else STARTER
