"""Texts about whether a model's thinking can be switched."""

from __future__ import annotations

from engines.sentences import N_
from engines.types import Thinking


def why_fixed(thinking: Thinking) -> str:
    """Return a sentence saying why thinking cannot be switched; empty if it can."""
    sentences = {
        "none": N_("This model answers without thinking first."),
        "always": N_("Thinking cannot be switched on or off for this model."),
        "switch": "",
    }
    return sentences[thinking]
