"""Wait for an event in another thread or process. No other file of the tests sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 60.0
"""Only a test that fails takes this long, so a loaded computer makes no difference."""
_PAUSE_S = 0.005


def until(
    happened: Callable[[], object], seconds: float = PATIENCE_S, failure: str = "it did not happen"
) -> None:
    """Wait until something has happened.

    Args:
        happened: Returns something true once it has.
        seconds: The maximum time to wait.
        failure: The message of the failure.
    """
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, failure
        time.sleep(_PAUSE_S)
