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
    way: Callable[[ServerProfile], str],
) -> Iterator[ModelEntry]:
    """Yield what each server last offered, as NAME:MODEL; no server is asked.

    People see a file's path as its last part, where that tells it from the server's others.
    info: of a profile, by its id. way: as in `ModelEntry`.
    """
    for profile in profiles:
        found = info(profile.id)
        models = found.models if found is not None else ()
        short = Counter(short_name(model.id) for model in models)
        for model in models:
            name = short_name(model.id)
            yield ModelEntry(
                id=f"{profile.name}:{model.id}",
                name=f"{name if short[name] == 1 else model.id} on {profile.name}",
                path=Path(model.id),
                source="server",
                engine="remote",
                server=profile.id,
                served=model.id,
                context=model.context or 0,
                way=way(profile),
            )
