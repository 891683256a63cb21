"""The probe's verdicts, by identity of what was tried: in a small file, or only in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engines.json_cache import ValueCache
from engines.llamacpp.file_identity import stamp
from engines.llamacpp.native import BINDINGS_VERSION, LIBRARY_VERSION
from engines.regular import open_regular
from engines.types import LlamaPlan

FILE_NAME: Final = "probed.json"
_TRIED_BYTES: Final = 16 << 20
"""The beginning of each file that is hashed; it contains the header with tokenizer and template."""

_PART: Final = re.compile(r"-00001-of-(\d{5})(?=\.gguf$)")
SAFE: Final = ""
"""The verdict on a plan that loads and answers."""

_METHOD: Final = 1
"""Raise this number when the probe finds problems that it did not find before."""

Stamps = tuple[tuple[int, int], ...]


def files_of(plan: LlamaPlan) -> Iterator[Path]:
    """Yield the files that a plan loads: model, its further parts, drafter, projector, adapters."""
    yield plan.model
    if found := _PART.search(plan.model.name):
        for part in range(2, int(found[1]) + 1):
            name = _PART.sub(f"-{part:05}-of-{found[1]}", plan.model.name)
            yield plan.model.with_name(name)
    if plan.drafter:
        yield plan.drafter
    if plan.projector:
        yield plan.projector
    # A missing adapter is reported when it is loaded, and does not keep the model from answering.
    yield from (adapter.path for adapter in plan.adapters if adapter.path.is_file())


def stamps(plan: LlamaPlan) -> Stamps:
    """Return each file's size in bytes and change time in nanoseconds. Raises OSError."""
    return tuple(map(stamp, files_of(plan)))


def identity(plan: LlamaPlan) -> str:
    """Return a hash of what was tried and how, whatever the folder. Raises OSError."""
    import hashlib

    digest = hashlib.sha256()
    method = (_METHOD, BINDINGS_VERSION, LIBRARY_VERSION.decode())
    matters: tuple[object, ...] = (plan.gpu_layers, plan.kv_type, plan.mmap, plan.draft_max > 0)
    if plan.gpu_layers:
        matters = (*matters, plan.devices, plan.experts_in_ram)
    digest.update(json.dumps([method, matters, stamps(plan)]).encode())
    for path in files_of(plan):
        with open_regular(path) as file:
            digest.update(file.read(_TRIED_BYTES))
    return digest.hexdigest()


class ProbeRecord(ValueCache[str]):
    """Verdicts by identity: SAFE, or the sentence why a plan is refused.

    A plan without a verdict is only tried again.

    Args:
        folder: The folder of the file; None keeps the verdicts in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        super().__init__(folder / FILE_NAME if folder else None, _verdict, str, most=500)


def _verdict(page: object) -> str | None:
    return page if isinstance(page, str) else None
