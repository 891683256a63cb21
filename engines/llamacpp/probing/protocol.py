"""The messages between the app and the probe's process, and the time limits both know.

The process gets the plan as its last argument. On standard output it writes a line of JSON as each
stage of its work begins, and one with the verdict at the end::

    {"stage": "template"}
    {"stage": "load"}
    {"stage": "answer"}
    {"error": null}

An error that the engine finds is a verdict, too: its code and its three parts.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from engines.errors import EngineError
from engines.types import Adapter, LoadPlan

STAGE: Final = "stage"
ERROR: Final = "error"
TEMPLATE, LOAD, ANSWER = "template", "load", "answer"

TEMPLATE_S: Final = 10.0
"""Seconds of the processor's time; the template itself runs in a process with limits of its own."""

_START_S: Final = 30.0
_SHADERS_S: Final = 360.0
_SLOWEST_DISK: Final = 20_000_000
"""Bytes a second: a disk on USB 2, the slowest that a model is kept on."""


def stage_limit(size_bytes: int) -> float:
    """Return the seconds for loading, and for answering, with files of `size_bytes` together.

    They count the processor's time; where the process waits for the disk, it may do so as long.
    """
    return _START_S + size_bytes / _SLOWEST_DISK


def shaders_limit(plan: LoadPlan) -> float:
    """Return more seconds for a graphics card, whose driver may compile shaders for this model.

    It does so in several threads, each of which counts.
    """
    return _SHADERS_S if plan.gpu_layers else 0.0


def write_plan(plan: LoadPlan) -> str:
    return json.dumps(asdict(plan), default=str)


def read_plan(text: str) -> LoadPlan:
    fields = json.loads(text)
    fields["model"] = Path(fields["model"])
    for beside in ("drafter", "projector"):
        fields[beside] = Path(fields[beside]) if fields[beside] else None
    fields["devices"] = tuple(fields["devices"])
    fields["adapters"] = tuple(Adapter(it["name"], Path(it["path"])) for it in fields["adapters"])
    return LoadPlan(**fields)


def verdict_of(error: EngineError | None) -> dict[str, str | None]:
    if error is None:
        return {ERROR: None}
    words = {"what": error.what, "why": error.why, "do": error.do, "terminal": error.terminal}
    return {ERROR: error.code, **words}


def error_of(verdict: dict[str, str]) -> EngineError:
    """Return the error that the process met."""
    kinds: list[type[EngineError]] = [EngineError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    met = next(kind for kind in kinds if kind.code == verdict[ERROR])
    return met(verdict["what"], verdict["why"], verdict["do"], terminal=verdict["terminal"])
