"""Words for what can be chosen of a model's thinking."""

from __future__ import annotations

from engines.types import Thinking


def why_fixed(thinking: Thinking) -> str:
    """Say in one sentence why thinking cannot be switched; empty where it can."""
    sentences = {
        "none": "This model answers without thinking first.",
        "always": "Thinking cannot be switched on or off for this model.",
        "switch": "",
    }
    return sentences[thinking]
