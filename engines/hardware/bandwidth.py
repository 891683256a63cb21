"""The memory bandwidth of this computer, which bounds how fast a model writes.

known = BandwidthBook(file).of(hardware)
known.memory, known.card(hardware.gpus[0])

For every token a model's active weights are read once. NVIDIA cards tell their memory's clock and
the width of its bus; the processor's rate is measured, and stands in for graphics that tell
nothing, as a lower bound. What else the computer does makes a measurement smaller, so it says
whether others were at work meanwhile; it is taken again until it was calm.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep
from typing import Any, Final

from engines.hardware.nvidia import load_nvml, memory_rates
from engines.hardware.threads import thread_rule
from engines.hardware.values import Gpu, Hardware
from engines.kept_file import KeptFile

logger = logging.getLogger(__name__)

_BYTES: Final = 256 << 20
"""The bytes that are read: more than processors keep in their caches."""
_LEAST: Final = 32 << 20
_SECONDS: Final = 0.25
_TIMES: Final = 3
"""The calm measurements of which the best is kept for good."""
_TRIES: Final = 3
_PAUSE_S: Final = 0.4
_CALM: Final = 0.1
"""The part of all cores that others may have used during a measurement that counts as calm."""
USUAL: Final = 20e9
"""One channel of DDR4: less than that is not believed of a measurement that was disturbed."""
# The rule for a model that is large enough for every thread.
_LARGE: Final = 1 << 30


@dataclass(frozen=True)
class Bandwidth:
    """Memory bandwidth in bytes a second. memory: the computer's own, read by the processor.

    cards: names of graphics cards, and what is known of the memory of each. sure: the computer was
    calm when it was measured; else it may be faster.
    """

    memory: float
    cards: tuple[tuple[str, float], ...] = ()
    sure: bool = True

    def card(self, gpu: Gpu) -> float | None:
        """Return the bandwidth of a card's memory; None if it is not known."""
        return dict(self.cards).get(gpu.name)


def measure(threads: int, size: int = _BYTES, seconds: float = _SECONDS) -> float:
    """Measure bytes a second that so many threads read together, the best of several passes.

    size: bytes to read, far more than the caches hold. seconds: about how long it may take; there
    is always one whole pass.
    """
    import numpy as np

    # The pages must be there before they are read: zeros would all be one page.
    parts = np.array_split(np.ones(size // 8, np.int64), threads)
    best = 0.0
    end = perf_counter() + seconds
    while True:
        # numpy lets other threads run while it looks for the greatest number.
        others = [Thread(target=part.max) for part in parts[1:]]
        began = perf_counter()
        for thread in others:
            thread.start()
        parts[0].max()
        for thread in others:
            thread.join()
        best = max(best, size / (perf_counter() - began))
        if perf_counter() >= end:
            return best


def others_at_work() -> float:
    """Return the seconds of all cores that other processes have used since the computer began."""
    import psutil

    every, own = psutil.cpu_times(), psutil.Process().cpu_times()
    idle = every.idle + getattr(every, "iowait", 0.0)
    # Guests are counted among the users already.
    guests = getattr(every, "guest", 0.0) + getattr(every, "guest_nice", 0.0)
    return float(sum(every) - idle - guests - own.user - own.system)


def bandwidth(
    hardware: Hardware,
    nvml: Callable[[], Any] = load_nvml,
    others: Callable[[], float] = others_at_work,
) -> Bandwidth:
    """Measure the memory with the threads that the engine would use, and ask the cards."""
    size = max(_LEAST, min(_BYTES, hardware.memory.available_bytes // 8))
    rates = memory_rates(nvml())
    names = sorted({gpu.name for gpu in hardware.gpus} & rates.keys())
    before, began = others(), perf_counter()
    rate = measure(thread_rule(hardware.cpu, _LARGE).decode, size)
    cores = (perf_counter() - began) * max(1, hardware.cpu.logical_cores)
    calm = others() - before <= _CALM * cores
    return Bandwidth(rate, tuple((name, rates[name]) for name in names), calm)


class BandwidthBook:
    """Keeps measurements in one small file. A file that fails costs a measurement, no more."""

    def __init__(
        self,
        file: Path,
        ask: Callable[[Hardware], Bandwidth] = bandwidth,
        wait: Callable[[float], object] = sleep,
    ) -> None:
        self._file = KeptFile(file)
        self._ask = ask
        self._wait = wait

    def of(self, hardware: Hardware) -> Bandwidth:
        """Return this computer's bandwidth; the first times it is measured, in about 0.3 seconds.

        Other programs only ever make a measurement smaller, so the greatest of several holds.
        While the computer is busy it is measured up to three times, and again the next time.
        """
        identity = _identity(hardware)
        times, kept = self._read(identity)
        if times >= _TIMES:
            return kept
        for left in reversed(range(_TRIES)):
            now = self._ask(hardware)
            kept = Bandwidth(max(now.memory, kept.memory), now.cards, now.sure or kept.sure)
            if now.sure:
                times += 1
                break
            if left:
                self._wait(_PAUSE_S)
        self._write(identity, times, kept)
        return kept if kept.sure else replace(kept, memory=max(kept.memory, USUAL))

    def _read(self, identity: str) -> tuple[int, Bandwidth]:
        """Return how often it was measured in calm, and the best of it."""
        page = self._file.read()
        unknown = Bandwidth(0.0, sure=False)
        if page.get("computer") != identity:
            return 0, unknown
        try:
            cards = tuple((str(key), float(rate)) for key, rate in page["cards"].items())
            kept = Bandwidth(float(page["memory"]), cards, sure=bool(page["sure"]))
            return int(page["times"]), kept
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            logger.warning("the bandwidth that was kept is not used: %s", error)
            return 0, unknown

    def _write(self, identity: str, times: int, known: Bandwidth) -> None:
        page = {"computer": identity, "times": times, "memory": known.memory, "sure": known.sure}
        self._file.write({**page, "cards": dict(known.cards)})


def _identity(hardware: Hardware) -> str:
    """Name the hardware that the figures are of: with another, they are measured anew."""
    cpu = hardware.cpu
    cores = f"{cpu.performance_cores} of {cpu.logical_cores} cores, {cpu.usable_threads} threads"
    cards = (gpu.name for gpu in hardware.gpus)
    return "; ".join((cpu.name, cores, str(hardware.memory.total_bytes), *cards))
