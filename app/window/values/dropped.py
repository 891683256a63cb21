"""Decides where dropped files go, by their content and by the place where they were dropped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from app.models.library.values.dropped import ModelKind

Kind = ModelKind | Literal["chats", "folder", "file"]
"""The content of a file or folder: a model, an export of chats, or neither."""

Place = Literal["chat", "chats", "models", "scratch"]
"""The places to drop on: the open chat, the list of chats, the page of models, a scratch chat."""

Goal = Literal["attach", "chats", "collection", "models"]
"""The uses of a dropped file: for the message, as chats to import, as documents, as a model."""


def goal_of(kind: Kind, place: Place) -> Goal:
    """Return the use of a dropped file.

    A model and an export of chats have one use, wherever they are dropped; the place decides for
    the rest.
    """
    if kind in ("model", "no_model", "models"):
        return "models"
    if place == "scratch":
        return "attach"
    if kind == "chats":
        return "chats"
    if place == "models":
        return "models"
    if place == "chats":
        return "models" if kind == "weights" else "chats"
    return "collection" if kind == "folder" else "attach"


def by_goal(kinds: Mapping[Path, Kind], place: Place) -> dict[Goal, dict[Path, Kind]]:
    """Group dropped files by their use, in the order in which they were dropped."""
    groups: dict[Goal, dict[Path, Kind]] = {}
    for path, kind in kinds.items():
        groups.setdefault(goal_of(kind, place), {})[path] = kind
    return groups
