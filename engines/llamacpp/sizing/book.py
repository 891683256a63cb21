"""What sizing found, by what exactly was sized: kept in a small file, or in memory only."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Final

from engines.kept_file import KeptFile, with_newest
from engines.llamacpp.native import BINDINGS_VERSION, LIBRARY_VERSION
from engines.llamacpp.probing.record import files_of
from engines.llamacpp.sizing.protocol import read_buffers, write_buffers
from engines.memory.buffers import Buffers
from engines.types import LoadPlan

FILE_NAME: Final = "sizes.json"
_KEPT: Final = 300
_WAY_OF_SIZING: Final = 3
"""To be raised when the same plan comes to another answer."""


def key_of(plan: LoadPlan) -> str:
    """The same for the same files and all of the plan that takes memory. Raises OSError."""
    import hashlib

    facts = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files_of(plan)]
    way = (_WAY_OF_SIZING, BINDINGS_VERSION, LIBRARY_VERSION.decode())
    matters = (
        plan.context,
        plan.gpu_layers,
        plan.kv_type,
        plan.batch,
        plan.mmap,
        plan.draft_max,
        plan.repack,
        plan.devices,
        plan.experts_in_ram,
    )
    return hashlib.sha256(json.dumps([way, matters, facts]).encode()).hexdigest()


class SizeBook:
    """May be used from any thread. folder: where the file is; None keeps it in memory only.

    A file that cannot be read or written costs no more than sizing again.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = KeptFile(folder / FILE_NAME if folder else None)
        self._lock = threading.Lock()
        self._pages: dict[str, object] = self._file.read()

    def find(self, key: str) -> Buffers | None:
        return read_buffers(self._pages.get(key))

    def add(self, key: str, buffers: Buffers) -> None:
        """Keep it as the newest; the oldest leave."""
        with self._lock:
            self._pages = with_newest(self._pages, key, write_buffers(buffers), _KEPT)
            self._file.write(self._pages)
