"""The reasons why an answer waits for an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Wait:
    """Why something has to wait.

    Attributes:
        reason: "queue": `count` others are before it. "full": `model` gives at most `count` answers
            at a time. "model": it needs the place of `model`, which is answering. "loading":
            `model` is being loaded. "alone": `model` is being measured.
    """

    reason: Literal["queue", "full", "model", "loading", "alone"]
    model: str = ""
    count: int = 0
