"""Reads the progress of vLLM's start from lines of its log. Pure.

The lines are those of vLLM 0.32 and 0.33. Each begins with the name of a process, as in
"(EngineCore pid=7) INFO …"; progress bars end in a carriage return.

The shares come from a first start with a small Gemma 4 on an H200, which took 112 s: 19 s of
imports, 16 s until the model was resolved, 11 s for the engine's process, 8 s for the weights, 27 s
of torch.compile, 18 s of CUDA graphs to measure their memory, and 6 s for the graphs that stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from engines.sentences import N_


@dataclass(frozen=True)
class Stage:
    """Progress of a start.

    Attributes:
        share: Share of the usual time that has passed, 0 to 1.
        words: The current step, as a description for the user.
        detail: How much of the step is done, or the part that it is at; "" if the log does not say.
    """

    share: float
    words: str
    detail: str = ""


BEFORE: Final = N_("Loading vLLM")
"""Shown until the log says more, while Python reads vLLM and PyTorch from disk."""

COMPILING: Final = N_("Compiling for this card")

_GRAPHS: Final = N_("Capturing CUDA graphs")
_WEIGHTS: Final = N_("Loading the weights")
_MEASURED: Final = 0.89
"""The share at which memory has been measured, including that of the first set of graphs."""

_MARKS: Final = (
    ("non-default args", 0.17, N_("Checking the model")),
    ("Resolved architecture", 0.22, N_("Checking the model")),
    ("Using max model len", 0.31, N_("Starting the engine’s processes")),
    ("Initializing a V1 LLM engine", 0.41, N_("Starting the engine")),
    # The first of vLLM's two model runners logs the first line, the second one the other.
    ("Starting to load model", 0.42, _WEIGHTS),
    ("Loading model from scratch", 0.42, _WEIGHTS),
    ("Loading weights took", 0.46, _WEIGHTS),
    ("Loading drafter model", 0.47, N_("Loading the drafter")),
    ("Model loading took", 0.48, N_("Measuring memory")),
    ("Starting torch.compile", 0.49, COMPILING),
    ("Dynamo bytecode transform", 0.55, COMPILING),
    ("Compiling a graph for compile range", 0.66, COMPILING),
    ("torch.compile took", 0.72, N_("Measuring memory")),
    ("Available KV cache memory", _MEASURED, N_("Warming up")),
    ("KV cache size:", 0.90, N_("Warming up")),
    ("JIT kernel warmup finished", 0.91, N_("Warming up")),
    ("init engine (profile", 0.96, N_("Nearly ready")),
    ("Starting vLLM server on", 0.98, N_("Nearly ready")),
    ("Application startup complete", 0.99, N_("Nearly ready")),
)
_WEIGHTS_BAR: Final = re.compile(r"Loading safetensors checkpoint shards:\s+(\d+)% ")
_GRAPHS_BAR: Final = re.compile(r"Capturing CUDA graphs.*?(\d+)%")
_GRAPHS_DONE: Final = re.compile(r"Graph capturing finished")

_KERNEL: Final = re.compile(r"Building JIT module (\w+)")
"""FlashInfer's line before it compiles a kernel. Can come at any time, and takes minutes."""

_KERNELS_BAR: Final = re.compile(
    r"(?:JIT kernel warmup|Compiling CuTeDSL kernels|DeepGEMM warmup).*?(\d+)%"
)
_LONGEST_NAME: Final = 40


def stage(line: str, current: Stage) -> Stage:
    """Return the stage after a log line, or `current` if the line says nothing new.

    The share never falls. Graphs are captured twice, and bars start again for a second model or
    another kind of graph; only the words change then.
    """
    return _by_kernels(line, current) or _by_bars(line, current) or _by_marks(line, current)


def _by_kernels(line: str, current: Stage) -> Stage | None:
    if match := _KERNEL.search(line):
        return Stage(current.share, COMPILING, _short(match[1]))
    if match := _KERNELS_BAR.search(line):
        return Stage(current.share, COMPILING, f"{min(100, int(match[1]))} %")
    return None


def _by_bars(line: str, current: Stage) -> Stage | None:
    if match := _WEIGHTS_BAR.search(line):
        return _bar(current, _WEIGHTS, int(match[1]), 0.42, 0.46)
    if match := _GRAPHS_BAR.search(line):
        first, last = (0.72, 0.87) if current.share < _MEASURED else (0.91, 0.95)
        return _bar(current, _GRAPHS, int(match[1]), first, last)
    return None


def _by_marks(line: str, current: Stage) -> Stage:
    if _GRAPHS_DONE.search(line):
        first = current.share < _MEASURED
        return _later(
            current, Stage(0.88, N_("Measuring memory")) if first else Stage(0.95, N_("Warming up"))
        )
    for mark, share, words in _MARKS:
        if mark in line:
            return _later(current, Stage(share, words))
    return current


def _later(current: Stage, following: Stage) -> Stage:
    return following if following.share >= current.share else current


def _bar(current: Stage, words: str, percent: int, first: float, last: float) -> Stage:
    """Return the stage for a progress bar that covers the start from `first` to `last`."""
    percent = min(100, percent)
    share = first + (last - first) * percent / 100
    if current.share > last:
        return current
    return Stage(max(share, current.share), words, f"{percent} %")


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
