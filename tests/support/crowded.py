"""A processor that other programs keep busy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

CROWDS = pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins a process here")


@contextmanager
def crowded(others: int = 4) -> Iterator[None]:
    """Share one core with busy loops; processes started inside the block share it too."""
    cores = os.sched_getaffinity(0)
    with ExitStack() as ends:
        ends.callback(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, {min(cores)})
        for _ in range(others):
            # The loops read from this process, so they end with it.
            loop = "import os, threading\nthreading.Thread(target=lambda: (os.read(0, 1), "
            loop += "os._exit(0))).start()\nwhile True: pass"
            busy = subprocess.Popen([sys.executable, "-c", loop], stdin=subprocess.PIPE)
            ends.callback(busy.communicate)
            ends.callback(busy.kill)
        yield
