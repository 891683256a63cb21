"""Reads from lines of vLLM's log how far its start has come: pure.

The lines are those of vLLM 0.32 and 0.33. They come with the name of a process in front, as in
"(EngineCore pid=7) INFO …"; bars of progress end in a carriage return.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Stage:
    """The progress of a start: a share of its usual time, 0 to 1, and words for it."""

    share: float
    words: str


BEFORE: Final = "Loading vLLM"
"""Until its log says more: Python reads vLLM and PyTorch from the disk, which takes seconds."""

_MARKS: Final = (
    ("non-default args", 0.05, "Checking the model"),
    ("Resolved architecture", 0.10, "Checking the model"),
    ("Using max model len", 0.12, "Starting the engine’s processes"),
    ("Initializing a V1 LLM engine", 0.30, "Starting the engine"),
    ("Starting to load model", 0.50, "Loading the weights"),
    ("Loading weights took", 0.66, "Loading the weights"),
    ("Loading drafter model", 0.67, "Loading the drafter"),
    ("Model loading took", 0.68, "Measuring memory"),
    ("Dynamo bytecode transform", 0.69, "Compiling"),
    ("torch.compile took", 0.74, "Measuring memory"),
    ("Available KV cache memory", 0.76, "Measuring memory"),
    ("KV cache size:", 0.78, "Warming up"),
    ("Graph capturing finished", 0.94, "Warming up"),
    ("init engine (profile", 0.95, "Nearly ready"),
    ("Starting vLLM server on", 0.98, "Nearly ready"),
    ("Application startup complete", 0.99, "Nearly ready"),
)
_BARS: Final = (
    (re.compile(r"Loading safetensors checkpoint shards:\s+(\d+)% "), 0.50, 0.66,
     "Loading the weights"),
    (re.compile(r"Capturing CUDA graphs.*?(\d+)%"), 0.78, 0.94, "Capturing CUDA graphs"),
)  # fmt: skip


def stage(line: str) -> Stage | None:
    """Read the stage from a line; None where it tells none."""
    for bar, first, last, words in _BARS:
        if found := bar.search(line):
            percent = min(100, int(found[1]))
            return Stage(first + (last - first) * percent / 100, f"{words}: {percent} %")
    for mark, share, words in _MARKS:
        if mark in line:
            return Stage(share, words)
    return None
