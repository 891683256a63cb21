"""Asks llama.cpp in another process what it would allocate for a plan, and remembers the answer.

::

    sizer = Sizer(folder)
    buffers = sizer.buffers(plan, cancel)    # 0.3 s the first time, also for a sparse file
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from engines.cancel import CancelToken
from engines.errors import NotSized
from engines.helper.command import module_command
from engines.helper.parent import NoResult, ask_helper
from engines.json_cache import ValueCache
from engines.llamacpp.file_identity import stamp
from engines.llamacpp.native import BINDINGS_VERSION, LIBRARY_VERSION
from engines.llamacpp.probing.protocol import write_plan
from engines.llamacpp.probing.record import files_of
from engines.llamacpp.sizing.protocol import LIMIT_S, read_buffers
from engines.memory.buffers import Buffers
from engines.sentences import N_
from engines.types import LlamaPlan

FILE_NAME: Final = "sizes.json"
_METHOD: Final = 3
"""Raise this number when the same plan would get another answer."""


def key_of(plan: LlamaPlan) -> str:
    """Return a hash of the files and everything in the plan that affects memory. Raises OSError."""
    import hashlib

    facts = [(str(path), *stamp(path)) for path in files_of(plan)]
    method = (_METHOD, BINDINGS_VERSION, LIBRARY_VERSION.decode())
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
    return hashlib.sha256(json.dumps([method, matters, facts]).encode()).hexdigest()


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
        file = folder / FILE_NAME if folder else None
        self._book: ValueCache[Buffers] = ValueCache(file, read_buffers, asdict, most=300)
        self._command = tuple(command)

    def known(self, plan: LlamaPlan) -> Buffers | None:
        """Return the remembered size at once; None if there is none."""
        try:
            return self._book.get(key_of(plan))
        except OSError:
            return None

    def buffers(self, plan: LlamaPlan, cancel: CancelToken) -> Buffers:
        """Return what loading the plan would allocate; files can be sparse, with headers only.

        Raises:
            NotSized: llama.cpp could not size the plan.
            Cancelled: `cancel` was set.
            EngineError: Loading the plan would raise this error.
        """
        try:
            key = key_of(plan)
            if found := self._book.get(key):
                return found
            found = ask_helper(self._command, write_plan(plan), LIMIT_S + _MARGIN_S, cancel)
        except OSError as error:
            raise _not_sized(
                N_("The system says: {strerror}.", strerror=error.strerror or error)
            ) from error
        except NoResult as error:
            raise _not_sized(error.why) from error
        buffers = read_buffers(found)
        if buffers is None:
            raise _not_sized(N_("The process gave an unexpected answer."))
        self._book.keep(key, buffers)
        return buffers


def _not_sized(why: str) -> NotSized:
    return NotSized(
        N_("llama.cpp could not say how much memory this takes."),
        why,
        N_("Hearth uses its own estimate instead; try again after a restart."),
    )
