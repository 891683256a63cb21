"""The recognition of drafters by their config.json: how they draft, and for which models; pure.

Source: vLLM 0.33, config/speculative.py, its configurations of the kinds "eagle" and "speculators",
and its list of architectures. This module does not know everything that vLLM can draft with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

DraftMethod = Literal["mtp", "eagle3", "dflash"]
"""vLLM's names for the ways in which a drafter checkpoint drafts for another checkpoint."""

ASSISTANTS: Final[Mapping[str, tuple[str, ...]]] = {
    "gemma4_assistant": ("gemma4", "gemma4_text"),
    "gemma4_unified_assistant": ("gemma4_unified", "gemma4_unified_text"),
}
"""The types of checkpoints that read their model's keys and values, with their model's types."""

CHATS: Final = ("ForCausalLM", "ForConditionalGeneration")
"""The suffixes of the names of architectures that write text."""

_SPECULATORS: Final[Mapping[str, DraftMethod]] = {
    "eagle3": "eagle3", "dflash": "dflash", "dflash2": "dflash",
}  # fmt: skip
"""The kinds of drafters in the layout of the library “speculators”."""


@dataclass(frozen=True)
class DraftConfig:
    """A drafter's own configuration, with facts about the model that it was made for.

    Attributes:
        method: How it drafts.
        width: Hidden size of the model it was made for.
        layers: Number of layers of that model; 0 if unknown.
        reads: The fewest layers that model can have, since the drafter reads their states.
        family: That model's architecture without the usual suffix; "" if unknown.
        depth: Number of tokens that the drafter was made to draft at once; 0 if unknown.
    """

    method: DraftMethod
    width: int
    layers: int = 0
    reads: int = 0
    family: str = ""
    depth: int = 0


def draft_config(config: Mapping[str, Any]) -> DraftConfig | None:
    """Return the draft configuration of a checkpoint; None if it is not a drafter.

    Raises:
        TypeError, ValueError, AttributeError: The configuration is malformed.
    """
    method = draft_method(config)
    if method is None:
        return None
    text = language_part(config)
    if method == "mtp":
        return DraftConfig(method, int(config.get("backbone_hidden_size") or 0))
    speculators = config.get("speculators_config") or {}
    proposals = speculators.get("proposal_methods") or [{}]
    block = int(config.get("block_size") or 0)
    return DraftConfig(
        method,
        width=int(config.get("target_hidden_size") or text.get("hidden_size") or 0),
        layers=int(config.get("num_target_layers") or 0),
        reads=max(_layers_read(config), default=0),
        family=family_of(
            next(iter((speculators.get("verifier") or {}).get("architectures") or ()), "")
        ),
        # The first token of a block is already known.
        depth=int(proposals[0].get("speculative_tokens") or max(0, block - 1)),
    )


def draft_method(config: Mapping[str, Any]) -> DraftMethod | None:
    """Return how a checkpoint drafts for another one; None if it does not, or in an unknown way."""
    if config.get("model_type") in ASSISTANTS:
        return "mtp"
    if "speculators_model_type" in config:
        return _SPECULATORS.get(str(config["speculators_model_type"]))
    architectures = config.get("architectures")
    architecture = (
        str(architectures[0]) if isinstance(architectures, list) and architectures else ""
    )
    if architecture.startswith("DFlash"):
        return "dflash"
    if architecture.startswith("Eagle3") or architecture.endswith("Eagle3"):
        return "eagle3"
    # The first published Eagle-3 drafters have the architecture of a plain model.
    plain = architecture.endswith(CHATS) and "draft_vocab_size" in config
    return "eagle3" if plain else None


def language_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a config.json about the language model."""
    part = config.get("text_config") or config.get("transformer_layer_config") or config
    return part if isinstance(part, Mapping) else config


def family_of(architecture: str) -> str:
    """Return an architecture's name without the suffix that tells whether it also sees pictures."""
    for end in CHATS:
        architecture = architecture.removesuffix(end)
    return architecture


def _layers_read(config: Mapping[str, Any]) -> Iterator[int]:
    """Yield, for each layer whose states are read, the number of layers up to and including it."""
    parts = [config.get(name) or {} for name in ("eagle_config", "dflash_config")]
    for part in (config, *parts):
        for name in ("eagle_aux_hidden_state_layer_ids", "aux_hidden_state_layer_ids"):
            yield from (int(number) for number in part.get(name) or ())
        yield from (int(number) + 1 for number in part.get("target_layer_ids") or ())
