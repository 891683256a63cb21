"""What can be said of a model's thinking, in words."""

from __future__ import annotations

from engines.types import Thinking


def why_fixed(thinking: Thinking) -> str:
    """One sentence for where thinking cannot be chosen; empty where it can."""
    sentences = {
        "none": "This model answers without thinking first.",
        "always": "This model thinks as it was made to: its chat template has no switch for it.",
        "switch": "",
    }
    return sentences[thinking]
