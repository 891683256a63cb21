"""The messages between the app and the probe's process, and their common time limits.

The process receives the plan as its last argument. On standard output, it writes a line of JSON
when each stage of its work begins, and its result at the end::

    {"stage": "template"}
    {"stage": "load"}
    {"stage": "answer"}
    {"result": null}
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from engines.helper.parent import ProcessResult
from engines.types import Adapter, LlamaPlan

STAGE: Final = "stage"
TEMPLATE, LOAD, ANSWER = "template", "load", "answer"

TEMPLATE_S: Final = 10.0
"""Seconds of processor time; the template itself runs in a process with its own limits."""

_START_S: Final = 30.0
_SHADERS_S: Final = 360.0
_SLOWEST_DISK: Final = 20_000_000
"""Bytes per second of a disk on USB 2, the slowest that models are kept on."""


def stage_limit(size_bytes: int) -> float:
    """Return the limit in seconds for loading, and for answering, with files of `size_bytes`.

    It counts processor time; waiting for the disk may take as long again.
    """
    return _START_S + size_bytes / _SLOWEST_DISK


def shaders_limit(plan: LlamaPlan) -> float:
    """Return extra seconds for a graphics card whose driver may compile shaders for the model.

    The driver compiles in several threads, and the time of each counts.
    """
    return _SHADERS_S if plan.gpu_layers else 0.0


def write_plan(plan: LlamaPlan) -> str:
    """Return a plan as JSON."""
    return json.dumps(asdict(plan), default=str)


def read_plan(text: str) -> LlamaPlan:
    """Return the plan that `write_plan` wrote."""
    fields = json.loads(text)
    fields["model"] = Path(fields["model"])
    for name in ("drafter", "projector"):
        fields[name] = Path(fields[name]) if fields[name] else None
    fields["devices"] = tuple(fields["devices"])
    fields["adapters"] = tuple(
        Adapter(adapter["name"], Path(adapter["path"])) for adapter in fields["adapters"]
    )
    return LlamaPlan(**fields)


def stage_of(ended: ProcessResult) -> str:
    """Return the last stage that began; "" if none did."""
    return next((line[STAGE] for line in reversed(ended.lines) if STAGE in line), "")
