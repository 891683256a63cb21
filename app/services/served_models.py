"""The models of other servers as entries of the list of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from app.core.models import ModelEntry
from app.core.servers import ServerFacts, ServerProfile


def served_models(
    profiles: Sequence[ServerProfile], facts: Callable[[str], ServerFacts | None]
) -> Iterator[ModelEntry]:
    """What each server offered when it was last asked, as NAME:MODEL; nothing is asked for it.

    facts: of a profile, by its id.
    """
    for profile in profiles:
        found = facts(profile.id)
        for model in found.models if found is not None else ():
            yield ModelEntry(
                id=f"{profile.name}:{model.id}",
                name=f"{model.id} on {profile.name}",
                path=Path(model.id),
                source="server",
                engine="remote",
                server=profile.id,
                served=model.id,
                context=model.context or 0,
            )
