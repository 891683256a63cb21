"""The drafter of a checkpoint in vLLM: an assistant's checkpoint, or a head of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engines.errors import DrafterMismatch, MtpUnavailable
from engines.models.checkpoint import ASSISTANTS, HEADS, Checkpoint, pairs
from engines.types import MAX_DEPTH, MtpKind

_DRAFTED_FOR: Final = {kind for kinds in ASSISTANTS.values() for kind in kinds}
_EXPERTS: Final = ("num_experts", "num_local_experts", "n_routed_experts")


@dataclass(frozen=True)
class SpeculativeConfig:
    """The way in which a checkpoint's tokens are drafted.

    kind: "drafter" for an assistant's checkpoint, "embedded" for a head of the model's own.
    """

    kind: MtpKind
    depth: int
    drafter: Path | None = None
    extra: tuple[tuple[str, str], ...] = ()

    def config(self, reach: Callable[[Path], str] = Path.as_posix) -> dict[str, Any]:
        """Return the value of --speculative-config. Without the method, older versions misread it.

        reach: the drafter's path as it is called where the worker runs.
        """
        config: dict[str, Any] = {"method": "mtp", "num_speculative_tokens": self.depth}
        if self.drafter is not None:
            config["model"] = reach(self.drafter)
        return config | dict(self.extra)


def speculation(
    checkpoint: Checkpoint, assistant: Checkpoint | None, depth: int
) -> SpeculativeConfig | None:
    """Choose what drafts; None for a depth of 0.

    Raises DrafterMismatch where an assistant was made for another model, MtpUnavailable where
    nothing can draft.
    """
    if depth <= 0:
        return None
    depth = min(depth, MAX_DEPTH)
    if assistant is not None:
        require_pair(checkpoint, assistant)
        return SpeculativeConfig("drafter", depth, assistant.path)
    require_head(checkpoint)
    extra = (("moe_backend", "triton"),) if _qwen_mixture(checkpoint) else ()
    return SpeculativeConfig("embedded", depth, None, extra)


def require_pair(checkpoint: Checkpoint, assistant: Checkpoint) -> None:
    """Refuse an assistant that was made for another model. Raises DrafterMismatch."""
    if pairs(checkpoint, assistant):
        return
    targets = ASSISTANTS.get(assistant.model_type)
    if targets is None:
        reason = f"It is a model of the kind {assistant.model_type}, and no assistant."
    elif checkpoint.model_type not in targets:
        reason = (
            f"It is for models of the kind {targets[0]}, and this one is {checkpoint.model_type}."
        )
    elif assistant.backbone != checkpoint.width:
        reason = (
            f"It was made for a model of width {assistant.backbone:,}, and this one has"
            f" {checkpoint.width:,}."
        )
    elif assistant.vocabulary != checkpoint.vocabulary:
        reason = (
            f"It knows {assistant.vocabulary:,} tokens, and the model {checkpoint.vocabulary:,}:"
            " they have different vocabularies."
        )
    else:
        reason = "The keys and values that it reads have another shape than the model's."
    raise DrafterMismatch(
        f"“{assistant.name}” cannot guess ahead for “{checkpoint.name}”.",
        reason,
        "Use the assistant that was made for this model, or none.",
    )


def require_head(checkpoint: Checkpoint) -> None:
    """Refuse a checkpoint without prediction layers or their tensors. Raises MtpUnavailable."""
    if checkpoint.mtp == "embedded":
        return
    what = f"MTP is not possible with “{checkpoint.name}”."
    if checkpoint.model_type in _DRAFTED_FOR:
        raise MtpUnavailable(
            what,
            "This model needs an assistant checkpoint to guess ahead, and there is none beside it.",
            "Download its assistant, and set it as the model’s drafter.",
        )
    if not _says(checkpoint, HEADS):
        raise MtpUnavailable(
            what,
            "This model has no MTP of its own.",
            "Use it without, or choose a model that has it.",
        )
    raise MtpUnavailable(
        what,
        "Its configuration names prediction layers, but their tensors are not in the files: whoever"
        " made this checkpoint left them out.",
        "Use it without MTP, or download a checkpoint that has them.",
    )


def _qwen_mixture(checkpoint: Checkpoint) -> bool:
    """Whether vLLM's recipe, of 0.33, names another backend for the model's experts."""
    return checkpoint.model_type.startswith("qwen3") and _says(checkpoint, _EXPERTS)


def _says(checkpoint: Checkpoint, names: tuple[str, ...]) -> bool:
    """Tell whether the configuration has a number above 0 under one of the names."""
    config = json.loads((checkpoint.path / "config.json").read_text(encoding="utf-8"))
    text = config.get("text_config") or config
    return any(int(text.get(name) or 0) > 0 for name in names)
