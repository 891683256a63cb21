"""A cancel from another thread."""

from __future__ import annotations

import threading
import time

from engines.cancel import CancelToken


def test_a_wait_ends_with_the_cancel() -> None:
    cancel = CancelToken()
    timer = threading.Timer(0.05, cancel.cancel)
    timer.start()
    began = time.monotonic()
    assert cancel.wait(60.0)
    assert time.monotonic() - began < 30
    timer.join()


def test_a_wait_without_a_cancel_lasts_as_long_as_it_is_told() -> None:
    began = time.monotonic()
    assert not CancelToken().wait(0.05)
    assert time.monotonic() - began >= 0.04
    assert not CancelToken().wait(-1.0)


def test_after_a_cancel_nothing_is_waited_for() -> None:
    cancel = CancelToken()
    cancel.cancel()
    assert cancel.wait(60.0)
