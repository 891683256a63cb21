"""Words for what can be chosen of a model's thinking."""

from __future__ import annotations

from engines.types import Thinking


def why_fixed(thinking: Thinking) -> str:
    """Say in one sentence why thinking cannot be switched; empty where it can."""
    sentences = {
        "none": "This model answers without thinking first.",
        "always": "This model thinks as it was made to: its chat template has no switch for it.",
        "switch": "",
    }
    return sentences[thinking]
