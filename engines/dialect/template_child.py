"""The process that runs a chat template for `template_process`, within limits of the system.

Its first order is null, which it answers as soon as it is ready; the second is the template's
source, and every further one is a conversation.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from engines.dialect.template import Template
from engines.dialect.template_process import LIMIT_S, MEMORY_BYTES
from engines.helper.child import NO_MEMORY_CODE, WriteLine, begin_serving, outcome
from engines.helper.clock import limit_work

HARD_LIMIT_S: Final = LIMIT_S + 2.0
"""The processor time, in seconds, after which the process ends itself if the app died."""


def main() -> None:
    """Render conversations until standard input ends."""
    _limit_memory()
    write, orders = begin_serving(modest=False)
    try:
        _serve(write, orders)
    except MemoryError:
        os._exit(NO_MEMORY_CODE)


def _serve(write: WriteLine, orders: Iterator[Any]) -> None:
    template: Template | None = None

    def carry_out(order: Any) -> str | None:
        nonlocal template
        if template is not None:
            return template.run(*order)
        template = Template(order) if order is not None else None
        return None

    for order in orders:
        limit_work(HARD_LIMIT_S)
        line = outcome(partial(carry_out, order))
        limit_work(None)
        write(line)


def _limit_memory() -> None:
    """Cap this process's memory at MEMORY_BYTES, on Linux; larger allocations fail."""
    if sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


if __name__ == "__main__":
    main()
