"""The lock for changes to vLLM's environments; it is released when all its holders have ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.locks import try_lock
from engines.private import make_private_folder, private

_POLL_S = 0.2


@contextmanager
def exclusive(root: Path, on_wait: Callable[[], None], cancel: CancelToken) -> Iterator[int]:
    """Hold the lock of a folder, and yield its descriptor for child processes to inherit.

    A uv process that outlives a killed Hearth thus keeps others out until it has ended too.

    Args:
        on_wait: Called once if another process holds the lock.

    Raises:
        Cancelled: Cancelled while waiting.
        OSError: The lock cannot be opened.
    """
    make_private_folder(root)
    with open(root / "lock", "a", opener=private) as file:
        if not try_lock(file.fileno()):
            on_wait()
            while not try_lock(file.fileno()):
                if cancel.cancelled:
                    raise Cancelled
                time.sleep(_POLL_S)
        os.set_inheritable(file.fileno(), True)
        yield file.fileno()
