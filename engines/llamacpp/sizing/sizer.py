"""Asks llama.cpp in another process what it would allocate for a plan, and remembers the answer.

::

    sizer = Sizer(folder)
    buffers = sizer.buffers(plan, cancel)    # 0.3 s the first time, also for a sparse file
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from engines.cancel import CancelToken
from engines.errors import Cancelled, NotSized
from engines.helper.command import module_command
from engines.helper.parent import ProcessResult, run_helper
from engines.kept_file import KeptFile, with_newest
from engines.llamacpp.native import BINDINGS_VERSION, LIBRARY_VERSION
from engines.llamacpp.probing.protocol import ERROR, error_of, write_plan
from engines.llamacpp.probing.record import files_of
from engines.llamacpp.sizing.protocol import LIMIT_S, read_buffers, write_buffers
from engines.memory.buffers import Buffers
from engines.sentences import N_, unpacked
from engines.types import LoadPlan

FILE_NAME: Final = "sizes.json"
_KEPT: Final = 300
_WAY_OF_SIZING: Final = 3
"""Raise this number when the same plan would get another answer."""


def key_of(plan: LoadPlan) -> str:
    """Return a hash of the files and everything in the plan that affects memory. Raises OSError."""
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
    """The known sizes. Any thread can use it.

    If the file cannot be read or written, plans are only sized again.

    Args:
        folder: The folder of the file; None keeps the sizes in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = KeptFile(folder / FILE_NAME if folder else None)
        self._lock = threading.Lock()
        self._pages: dict[str, object] = self._file.read()

    def find(self, key: str) -> Buffers | None:
        return read_buffers(self._pages.get(key))

    def add(self, key: str, buffers: Buffers) -> None:
        """Keep a size as the newest; the oldest are dropped."""
        with self._lock:
            self._pages = with_newest(self._pages, key, write_buffers(buffers), _KEPT)
            self._file.write(self._pages)


COMMAND: Final = module_command("engines.llamacpp.sizing.child")
"""The command that starts the process, which takes the plan as its last argument."""

_MARGIN_S: Final = 10.0


class Sizer:
    """Sizes plans, and remembers the answers. Any thread can use it.

    Args:
        folder: The folder for the answers; None remembers them for this run only.
        command: The command that starts the process.
    """

    def __init__(self, folder: Path | None = None, command: Sequence[str] = COMMAND) -> None:
        self._book = SizeBook(folder)
        self._command = tuple(command)

    def known(self, plan: LoadPlan) -> Buffers | None:
        """Return the remembered size at once; None if there is none."""
        try:
            return self._book.find(key_of(plan))
        except OSError:
            return None

    def buffers(self, plan: LoadPlan, cancel: CancelToken) -> Buffers:
        """Return what loading the plan would allocate; files can be sparse, with headers only.

        Raises:
            NotSized: llama.cpp could not size the plan.
            Cancelled: `cancel` was set.
            EngineError: Loading the plan would raise this error.
        """
        try:
            key = key_of(plan)
            if found := self._book.find(key):
                return found
            ended = run_helper(self._command, write_plan(plan), LIMIT_S + _MARGIN_S, cancel)
        except OSError as error:
            raise _not_sized(
                N_("The system says: {strerror}.", strerror=error.strerror or error)
            ) from error
        if cancel.cancelled:
            raise Cancelled
        buffers = _answer(ended)
        self._book.add(key, buffers)
        return buffers


def _answer(ended: ProcessResult) -> Buffers:
    try:
        said = unpacked(json.loads(ended.last_line))
    except ValueError:
        if not ended.in_time:
            raise _not_sized(N_("It did not finish.")) from None
        raise _not_sized(N_("The process ended with code {code}.", code=ended.code)) from None
    if isinstance(said, dict) and said.get(ERROR):
        raise error_of(said)
    buffers = read_buffers(said)
    if buffers is None:
        raise _not_sized(N_("The process answered something else."))
    return buffers


def _not_sized(why: str) -> NotSized:
    return NotSized(
        N_("llama.cpp could not say how much memory this takes."),
        why,
        N_("Hearth uses its own estimate instead; try again after a restart."),
    )
