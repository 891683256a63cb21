"""Reads the figures of a running vLLM from the Prometheus text of GET /metrics. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_NUMBER: Final = r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?"
_LINE: Final = re.compile(rf"^(vllm:[a-z_]+)(?:\{{([^}}\n]*)\}})?[ \t]+({_NUMBER})$", re.MULTILINE)
"""Skips values that are not numbers, such as NaN."""

_POSITION: Final = re.compile(r'position="(\d{1,4})"')


@dataclass(frozen=True)
class DraftCounts:
    """Counters of speculative decoding.

    Attributes:
        rounds: Number of drafts.
        drafted: Drafted tokens.
        accepted: Accepted tokens.
        by_position: Accepted tokens at each position of a draft, first position first.
    """

    rounds: int
    drafted: int
    accepted: int
    by_position: tuple[int, ...] = ()

    def since(self, before: DraftCounts) -> DraftCounts:
        """Return the difference from an earlier reading."""
        padded = (*before.by_position, *[0] * len(self.by_position))
        return DraftCounts(
            self.rounds - before.rounds,
            self.drafted - before.drafted,
            self.accepted - before.accepted,
            tuple(now - then for now, then in zip(self.by_position, padded, strict=False)),
        )


@dataclass(frozen=True)
class Metrics:
    """The figures of a worker.

    Attributes:
        running: Requests that are being answered now.
        waiting: Requests that are waiting now.
        cache_used: Used share of the KV cache, 0 to 1.
        drafts: None if the worker does not draft.
    """

    running: int
    waiting: int
    cache_used: float
    prompt_tokens: int
    generated_tokens: int
    drafts: DraftCounts | None = None


def read_metrics(text: str) -> Metrics:
    """Read the figures, and add up the counters of several engines."""
    sums: dict[str, float] = {}
    positions: dict[int, float] = {}
    for name, labels, value in _LINE.findall(text):
        number = float(value)
        sums[name] = sums.get(name, 0.0) + number
        if name == "vllm:spec_decode_num_accepted_tokens_per_pos_total" and (
            at := _POSITION.search(labels)
        ):
            positions[int(at[1])] = positions.get(int(at[1]), 0.0) + number

    def count(name: str) -> int:
        return round(sums.get(f"vllm:{name}", 0.0))

    drafts = None
    if "vllm:spec_decode_num_drafts_total" in sums:
        drafts = DraftCounts(
            count("spec_decode_num_drafts_total"),
            count("spec_decode_num_draft_tokens_total"),
            count("spec_decode_num_accepted_tokens_total"),
            tuple(round(positions[at]) for at in sorted(positions)),
        )
    return Metrics(
        count("num_requests_running"),
        count("num_requests_waiting"),
        sums.get("vllm:kv_cache_usage_perc", 0.0),
        count("prompt_tokens_total"),
        count("generation_tokens_total"),
        drafts,
    )
