"""Making a value only once when several threads ask for it at the same time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from app.base.once import once
from tests.support.waiting import until


class Holder:
    def __init__(self, others_ask: Callable[[], None] = lambda: None) -> None:
        self.made = 0
        self.others_ask = others_ask

    @once
    def thing(self) -> object:
        self.made += 1
        self.others_ask()
        return object()


def test_threads_that_ask_at_the_same_time_get_the_same_one() -> None:
    asking: list[int] = []
    holder = Holder(lambda: until(lambda: len(asking) == 8))

    def ask(number: int) -> object:
        asking.append(number)
        return holder.thing

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(ask, range(8)))

    assert len(found) == holder.made == 1


def test_each_holder_has_its_own() -> None:
    one, other = Holder(), Holder()

    assert one.thing is one.thing
    assert one.thing is not other.thing
