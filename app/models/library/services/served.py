"""The models of other servers, as entries of the list of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from app.models.library.values.entry import ModelEntry
from app.servers.values import ServerInfo, ServerProfile, short_name


def served_models(
    profiles: Sequence[ServerProfile],
    info: Callable[[str], ServerInfo | None],
    key_of: Callable[[ServerProfile], str],
) -> Iterator[ModelEntry]:
    """Yield the models that each server last offered, as NAME:MODEL, without asking a server.

    A model whose name is a path is shown by its last part, if no other model of the server shares
    it.

    Args:
        info: Returns the last answer of a profile's server, by the profile's id.
        key_of: Returns the `key_of` of a `ModelEntry`.
    """
    for profile in profiles:
        server_info = info(profile.id)
        models = server_info.models if server_info is not None else ()
        names = Counter(short_name(model.id) for model in models)
        for model in models:
            name = short_name(model.id)
            yield ModelEntry(
                id=f"{profile.name}:{model.id}",
                name=f"{name if names[name] == 1 else model.id} on {profile.name}",
                path=Path(model.id),
                source="server",
                engine="remote",
                server=profile.id,
                served=model.id,
                context=model.context or 0,
                connection_key=key_of(profile),
            )
