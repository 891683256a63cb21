"""The connection of a transfer, which a cancel hangs up whatever it waits for there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from engines.cancel import CancelToken
from engines.openai.line import Connection

Watch = Callable[[str, dict[str, Any]], None]
"""Told of the steps of a request: httpcore2's “trace” extension."""


@contextmanager
def hung_up_by(cancel: CancelToken) -> Iterator[Watch]:
    """Gives out what requests in the block are watched by; the last one's connection is shut by
    a cancel, which wakes who waits for a handshake, an answer or its bytes.

    It has to be a new connection for each request (`app.net.client` sees to that for downloads):
    only the opening of one shows it. A cancel does not end the opening itself.
    """
    line = Connection()
    forget = cancel.on_cancel(line.hang_up)
    try:
        yield line.watch
    finally:
        forget()
        line.let_go()
