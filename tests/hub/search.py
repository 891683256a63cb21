"""The repositories that a search finds, and their order: `GET /api/models`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tests.hub.descriptions import parameters_of, tags_of
from tests.hub.repositories import HostedRepo

UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
SORTS = {
    "downloads": lambda repo: repo.downloads,
    "likes": lambda repo: repo.likes,
    "trendingScore": lambda repo: repo.likes,
    "lastModified": lambda repo: repo.head.date,
    "createdAt": lambda repo: repo.created,
}
"""The sort keys, always in descending order, as the client never uses another one."""


def found(repos: Iterable[HostedRepo], query: Mapping[str, list[str]]) -> list[HostedRepo]:
    """Return the repositories that match the parameters of a search, in their order.

    Raises:
        ValueError: The order or a number is invalid.
    """
    sort = _last(query, "sort") or "trendingScore"
    if sort not in SORTS:
        raise ValueError(f"Invalid sort: {sort}")
    kept = [repo for repo in repos if _matches(repo, query)]
    return sorted(kept, key=SORTS[sort], reverse=True)


def _matches(repo: HostedRepo, query: Mapping[str, list[str]]) -> bool:
    words = (_last(query, "search") or "").lower().split()
    if not all(word in repo.id.lower() for word in words):
        return False
    filters = [tag for given in query.get("filter", []) for tag in given.split(",")]
    if not set(filters) <= set(tags_of(repo)):
        return False
    author, pipeline = _last(query, "author"), _last(query, "pipeline_tag")
    if author and repo.id.split("/")[0] != author:
        return False
    if pipeline and repo.pipeline_tag != pipeline:
        return False
    gated = _last(query, "gated")
    if gated and bool(repo.gated) != (gated.lower() == "true"):
        return False
    wanted = _last(query, "num_parameters")
    return not wanted or _within(parameters_of(repo), wanted)


def _within(parameters: int | None, wanted: str) -> bool:
    """Return whether a count lies in a range such as "min:6B,max:128B"."""
    if parameters is None:
        return False
    for part in wanted.split(","):
        match = re.fullmatch(r"(min|max):([\d.]+)([KMBT]?)", part.strip())
        if match is None:
            raise ValueError(f"Invalid num_parameters: {wanted}")
        bound = float(match[2]) * UNITS[match[3]]
        if (parameters < bound) if match[1] == "min" else (parameters > bound):
            return False
    return True


def _last(query: Mapping[str, list[str]], name: str) -> str | None:
    return query.get(name, [None])[-1] if query.get(name) else None
