"""What drafts for a checkpoint in vLLM: another checkpoint, a head of its own, or its own text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from engines.errors import MtpUnavailable
from engines.models.checkpoint import HEADS, NOTHING_DRAFTS, Checkpoint, mismatch, not_for
from engines.models.draft_config import ASSISTANTS, DraftMethod, language_part
from engines.types import MAX_DEPTH, MtpKind

Method = DraftMethod | Literal["draft_model", "ngram"]
"""The names in vLLM 0.33 of the ways to draft that are used here."""

_DRAFTED_FOR: Final = {kind for kinds in ASSISTANTS.values() for kind in kinds}
_EXPERTS: Final = ("num_experts", "num_local_experts", "n_routed_experts")

_LOOKUP: Final = (("prompt_lookup_min", 3), ("prompt_lookup_max", 5))
"""How many of the last tokens must have stood in the text before, the longest match first. One or
two are found again everywhere, and then each step would check guesses that are wrong."""

_ATTENDS: Final = {"full_attention", "sliding_attention", "chunked_attention"}
"""The layers whose memory is keys and values; what is wrong in it is written over."""

_TAKEN_FOR: Final = ("eagle-", "eagle3", "dflash", "dspark")
"""Where one of these is in a drafter's path, vLLM drafts in that way, whatever method is set."""


@dataclass(frozen=True)
class SpeculativeConfig:
    """The way in which a checkpoint's tokens are drafted.

    kind: "drafter" for another checkpoint, "embedded" for a head of the model's own, "lookup" for
    what followed the same words before. method: what vLLM calls it.
    """

    kind: MtpKind
    depth: int
    drafter: Path | None = None
    method: Method = "mtp"
    extra: tuple[tuple[str, str | int], ...] = ()

    def config(self, reach: Callable[[Path], str] = Path.as_posix) -> dict[str, Any]:
        """Return the value of --speculative-config. Without the method, older versions misread it.

        reach: the drafter's path as it is called where the worker runs.
        """
        config: dict[str, Any] = {"method": self.method, "num_speculative_tokens": self.depth}
        if self.drafter is not None:
            config["model"] = reach(self.drafter)
        return config | dict(self.extra)


def speculation(
    checkpoint: Checkpoint, drafter: Checkpoint | None, depth: int, *, lookup: bool = False
) -> SpeculativeConfig | None:
    """Choose what drafts; None for a depth of 0. lookup: the text does where nothing else can.

    Raises DrafterMismatch where a drafter was made for another model, MtpUnavailable where
    nothing can draft.
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
    # Heads are used in whole rounds.
    return SpeculativeConfig(
        "embedded", depth if depth < heads else depth - depth % heads, extra=extra
    )


def require_pair(checkpoint: Checkpoint, drafter: Checkpoint) -> None:
    """Refuse a drafter that cannot draft for a model. Raises DrafterMismatch."""
    reason = mismatch(checkpoint, drafter)
    if not reason and drafter.drafting is None:
        reason = _not_alone(drafter)
    if reason:
        raise not_for(checkpoint, drafter, reason)


def _require_plain_path(path: Path) -> None:
    """Refuse a path that vLLM takes for another kind of drafter. Raises MtpUnavailable."""
    named = next((it for it in _TAKEN_FOR if it in path.as_posix().lower()), "")
    if named:
        raise MtpUnavailable(
            f"MTP is not possible with “{path.name}”.",
            f"“{named}” is in its path, and vLLM takes it for another kind of drafter.",
            "Rename the folder, and add it again.",
        )


def require_head(checkpoint: Checkpoint) -> None:
    """Refuse a checkpoint without prediction layers or their tensors. Raises MtpUnavailable."""
    if checkpoint.mtp == "embedded":
        return
    what = f"MTP is not possible with “{checkpoint.name}”."
    if checkpoint.model_type in _DRAFTED_FOR:
        raise MtpUnavailable(
            what,
            "To guess ahead it needs its drafter, an assistant checkpoint, and there is none here.",
            "Download it, and add it as a model.",
        )
    if not _says(checkpoint, HEADS):
        raise MtpUnavailable(
            what,
            NOTHING_DRAFTS,
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


def _not_alone(small: Checkpoint) -> str:
    """Say why a whole model cannot draft, whatever for; "" where it can."""
    text = _text(small)
    ropes = (text.get(name) or {} for name in ("rope_scaling", "rope_parameters"))
    if any("mrope_section" in rope for rope in ropes):  # places in time, height and width
        return "It is made to see pictures, and vLLM cannot draft with such a model."
    if {*(text.get("layer_types") or ())} - _ATTENDS:
        return f"The memory of {small.model_type} models cannot take tokens back."
    return ""


def _says(checkpoint: Checkpoint, names: tuple[str, ...]) -> bool:
    """Tell whether the configuration has a number above 0 under one of the names."""
    return any(number > 0 for number in _numbers(checkpoint, names))


def _numbers(checkpoint: Checkpoint, names: tuple[str, ...]) -> Iterator[int]:
    text = _text(checkpoint)
    return (int(text.get(name) or 0) for name in names)


def _text(checkpoint: Checkpoint) -> Mapping[str, Any]:
    config = json.loads((checkpoint.path / "config.json").read_text(encoding="utf-8"))
    return language_part(config)
