"""Chooses how vLLM drafts for a checkpoint: by a drafter, by its own heads, or by prompt lookup."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from engines.errors import MtpUnavailable
from engines.models.checkpoint import HEADS, NOTHING_DRAFTS, Checkpoint, drafter_mismatch, mismatch
from engines.models.draft_config import ASSISTANTS, DraftMethod, language_part
from engines.sentences import N_
from engines.types import MAX_DEPTH, MtpKind

Method = DraftMethod | Literal["draft_model", "ngram"]
"""The drafting methods that are used here, by their names in vLLM 0.33."""

_DRAFTED_FOR: Final = {kind for kinds in ASSISTANTS.values() for kind in kinds}
_EXPERTS: Final = ("num_experts", "num_local_experts", "n_routed_experts")

_LOOKUP: Final = (("prompt_lookup_min", 3), ("prompt_lookup_max", 5))
"""How many of the last tokens have to occur earlier in the text, longest match first. One or two
tokens would match everywhere, and each step would then check wrong guesses.
"""

_ATTENTION_LAYERS: Final = {"full_attention", "sliding_attention", "chunked_attention"}
"""Layers whose memory is a KV cache, in which rejected tokens are simply overwritten."""

_OTHER_METHODS: Final = ("eagle-", "eagle3", "dflash", "dspark")
"""If a drafter's path contains one of these, vLLM uses that method whatever is set."""


@dataclass(frozen=True)
class SpeculativeConfig:
    """The way in which tokens are drafted for a checkpoint.

    Attributes:
        kind: "drafter" for another checkpoint, "embedded" for heads of the model's own, "lookup"
            for the text that followed the same tokens earlier.
        depth: Number of tokens drafted ahead.
        method: vLLM's name for the method.
        extra: Further entries of the configuration.
    """

    kind: MtpKind
    depth: int
    drafter: Path | None = None
    method: Method = "mtp"
    extra: tuple[tuple[str, str | int], ...] = ()

    def config(self, reach: Callable[[Path], str] = Path.as_posix) -> dict[str, Any]:
        """Return the value of --speculative-config.

        It always names the method, because older versions guess it wrongly.

        Args:
            reach: Translates a path of this computer into one for the worker.
        """
        config: dict[str, Any] = {"method": self.method, "num_speculative_tokens": self.depth}
        if self.drafter is not None:
            config["model"] = reach(self.drafter)
        return config | dict(self.extra)


def speculation(
    checkpoint: Checkpoint, drafter: Checkpoint | None, depth: int, *, lookup: bool = False
) -> SpeculativeConfig | None:
    """Choose how to draft for a checkpoint; return None for a depth of 0.

    Args:
        depth: Number of tokens to draft ahead.
        lookup: Allow prompt lookup if nothing else can draft.

    Raises:
        DrafterMismatch: The drafter was made for another model.
        MtpUnavailable: Nothing can draft.
    """
    if depth <= 0:
        return None
    depth = min(depth, MAX_DEPTH)
    if drafter is not None:
        require_pair(checkpoint, drafter)
        method: Method = drafter.drafting.method if drafter.drafting else "draft_model"
        if method in {"mtp", "draft_model"}:
            _require_plain_path(drafter.path)
        return SpeculativeConfig("drafter", depth, drafter.path, method)
    if lookup and checkpoint.mtp == "none":
        return SpeculativeConfig("lookup", depth, method="ngram", extra=_LOOKUP)
    require_head(checkpoint)
    _require_plain_path(checkpoint.path)
    extra = (("moe_backend", "triton"),) if _qwen_mixture(checkpoint) else ()
    heads = max(_numbers(checkpoint, HEADS))
    # Heads are used in whole rounds, so a depth above their number has to be a multiple of it.
    return SpeculativeConfig(
        "embedded", depth if depth < heads else depth - depth % heads, extra=extra
    )


def require_pair(checkpoint: Checkpoint, drafter: Checkpoint) -> None:
    """Refuse a drafter that cannot draft for a model. Raises DrafterMismatch."""
    reason = mismatch(checkpoint, drafter)
    if not reason and drafter.drafting is None:
        reason = _why_no_drafter(drafter)
    if reason:
        raise drafter_mismatch(checkpoint, drafter, reason)


def _require_plain_path(path: Path) -> None:
    """Refuse a path that vLLM takes for another kind of drafter. Raises MtpUnavailable."""
    marker = next((marker for marker in _OTHER_METHODS if marker in path.as_posix().lower()), "")
    if marker:
        raise MtpUnavailable(
            N_("MTP is not possible with “{name}”.", name=path.name),
            N_(
                "Its path contains “{marker}”, so vLLM takes it for another kind of drafter.",
                marker=marker,
            ),
            N_("Rename the folder, and add it again."),
        )


def require_head(checkpoint: Checkpoint) -> None:
    """Refuse a checkpoint without prediction layers or their tensors. Raises MtpUnavailable."""
    if checkpoint.mtp == "embedded":
        return
    headline = N_("MTP is not possible with “{name}”.", name=checkpoint.name)
    if checkpoint.model_type in _DRAFTED_FOR:
        raise MtpUnavailable(
            headline,
            N_(
                "To guess ahead, it needs its drafter, an assistant checkpoint, which "
                "was not found."
            ),
            N_("Download it, and add it as a model."),
        )
    if not _has_number(checkpoint, HEADS):
        raise MtpUnavailable(
            headline,
            NOTHING_DRAFTS,
            N_("Use it without, or choose a model that has it."),
        )
    raise MtpUnavailable(
        headline,
        N_(
            "Its configuration names prediction layers, but their tensors are not in "
            "the files. They were left out when this checkpoint was made."
        ),
        N_("Use it without MTP, or download a checkpoint that has them."),
    )


def _qwen_mixture(checkpoint: Checkpoint) -> bool:
    """Return whether vLLM 0.33's recipe uses another backend for this model's experts."""
    return checkpoint.model_type.startswith("qwen3") and _has_number(checkpoint, _EXPERTS)


def _why_no_drafter(small: Checkpoint) -> str:
    """Explain why a whole model cannot draft for any other; "" if it can."""
    text = _text(small)
    ropes = (text.get(name) or {} for name in ("rope_scaling", "rope_parameters"))
    if any("mrope_section" in rope for rope in ropes):  # positions in time, height and width
        return N_("It is made for pictures, and vLLM cannot draft with such a model.")
    if {*(text.get("layer_types") or ())} - _ATTENTION_LAYERS:
        return N_(
            "Models of the kind {architecture} cannot remove tokens from their memory.",
            architecture=small.model_type,
        )
    return ""


def _has_number(checkpoint: Checkpoint, names: tuple[str, ...]) -> bool:
    """Return whether the configuration has a number above 0 under one of the names."""
    return any(number > 0 for number in _numbers(checkpoint, names))


def _numbers(checkpoint: Checkpoint, names: tuple[str, ...]) -> Iterator[int]:
    text = _text(checkpoint)
    return (int(text.get(name) or 0) for name in names)


def _text(checkpoint: Checkpoint) -> Mapping[str, Any]:
    config = json.loads((checkpoint.path / "config.json").read_text(encoding="utf-8"))
    return language_part(config)
