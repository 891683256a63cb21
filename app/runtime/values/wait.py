"""The reasons for which an answer waits for an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Wait:
    """The reason for which something has to wait.

    queue: `count` others are before it. full: `model` gives `count` answers at a time. model: it
    needs the place of `model`, which is answering. loading: of `model`. alone: `model` is measured.
    """

    reason: Literal["queue", "full", "model", "loading", "alone"]
    model: str = ""
    count: int = 0
