"""What several threads ask for is made by one of them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from app.base.once import once


class Holder:
    def __init__(self) -> None:
        self.made = 0

    @once
    def thing(self) -> object:
        self.made += 1
        time.sleep(0.05)  # in which the others ask
        return object()


def test_threads_that_ask_at_the_same_time_get_the_same_one() -> None:
    holder, start = Holder(), threading.Barrier(8)

    def ask(_: int) -> object:
        start.wait()
        return holder.thing

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(ask, range(8)))

    assert len(found) == holder.made == 1


def test_each_holder_has_its_own() -> None:
    one, other = Holder(), Holder()

    assert one.thing is one.thing
    assert one.thing is not other.thing
