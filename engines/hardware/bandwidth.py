"""The memory bandwidth of this computer, which limits how fast a model can write.

known = BandwidthBook(file).of(hardware)
known.memory, known.card(hardware.gpus[0])

Each token requires one read of all active weights. NVIDIA cards report the clock and the bus width
of their memory. The processor's bandwidth is measured, and serves as a lower bound for graphics
that report nothing. Other programs make a measurement smaller, so each one records whether the
computer was busy, and it is repeated until the computer was idle.
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
from engines.json_cache import JsonCache
from engines.sentences import N_

logger = logging.getLogger(__name__)

_BYTES: Final = 256 << 20
"""Bytes to read: more than the caches of processors can hold."""
_LEAST: Final = 32 << 20
_SECONDS: Final = 0.25
_TIMES: Final = 3
"""Number of idle measurements after which the best result is final."""
_TRIES: Final = 3
_PAUSE_S: Final = 0.4
_IDLE_SHARE: Final = 0.1
"""Share of all cores' time that other programs can use in a measurement that counts as idle."""
USUAL_RATE: Final = 20e9
"""One channel of DDR4; a lower result of a disturbed measurement is not believed."""
# A model of this size uses all threads.
_LARGE: Final = 1 << 30


@dataclass(frozen=True)
class Bandwidth:
    """Memory bandwidth in bytes per second.

    Attributes:
        memory: Bandwidth of the computer's memory, read by the processor.
        cards: Names of graphics cards, with the known bandwidth of each.
        sure: The computer was idle during the measurement; otherwise it can be faster.
    """

    memory: float
    cards: tuple[tuple[str, float], ...] = ()
    sure: bool = True

    def card(self, gpu: Gpu) -> float | None:
        """Return the bandwidth of a card's memory, or None if unknown."""
        return dict(self.cards).get(gpu.name)


def measure(threads: int, size: int = _BYTES, seconds: float = _SECONDS) -> float:
    """Measure the bytes per second that threads read together, as the best of several passes.

    Args:
        size: Bytes to read, far more than the caches can hold.
        seconds: Approximate duration; at least one complete pass is made.
    """
    import numpy as np

    # Memory has to be written before it is read: untouched zeros would all share one page.
    parts = np.array_split(np.ones(size // 8, np.int64), threads)
    best = 0.0
    end = perf_counter() + seconds
    while True:
        # numpy releases the interpreter's lock while it searches for the maximum.
        workers = [Thread(target=part.max) for part in parts[1:]]
        started = perf_counter()
        for thread in workers:
            thread.start()
        parts[0].max()
        for thread in workers:
            thread.join()
        best = max(best, size / (perf_counter() - started))
        if perf_counter() >= end:
            return best


def time_of_other_processes() -> float:
    """Return the processor time in seconds that other processes have used since the boot."""
    import psutil

    all_times, own_times = psutil.cpu_times(), psutil.Process().cpu_times()
    idle = all_times.idle + getattr(all_times, "iowait", 0.0)
    # The time of guests is already part of the users' time.
    guests = getattr(all_times, "guest", 0.0) + getattr(all_times, "guest_nice", 0.0)
    return float(sum(all_times) - idle - guests - own_times.user - own_times.system)


def bandwidth(
    hardware: Hardware,
    nvml: Callable[[], Any] = load_nvml,
    other_time: Callable[[], float] = time_of_other_processes,
) -> Bandwidth:
    """Measure the memory with as many threads as the engine would use, and ask the cards."""
    size = max(_LEAST, min(_BYTES, hardware.memory.available_bytes // 8))
    rates = memory_rates(nvml())
    names = sorted({gpu.name for gpu in hardware.gpus} & rates.keys())
    time_before, started = other_time(), perf_counter()
    rate = measure(thread_rule(hardware.cpu, _LARGE).decode, size)
    cores = (perf_counter() - started) * max(1, hardware.cpu.logical_cores)
    was_idle = other_time() - time_before <= _IDLE_SHARE * cores
    return Bandwidth(rate, tuple((name, rates[name]) for name in names), was_idle)


class BandwidthBook:
    """Keeps measurements in a small file. If the file fails, only a measurement is lost."""

    def __init__(
        self,
        file: Path,
        measure_bandwidth: Callable[[Hardware], Bandwidth] = bandwidth,
        wait: Callable[[float], object] = sleep,
    ) -> None:
        self._file = JsonCache(file)
        self._measure_bandwidth = measure_bandwidth
        self._wait = wait

    def of(self, hardware: Hardware) -> Bandwidth:
        """Return this computer's bandwidth; the first few calls measure it, in about 0.3 seconds.

        Other programs only make a measurement smaller, so the largest result counts. On a busy
        computer a call measures up to three times, and the next call measures again.
        """
        identity = _identity(hardware)
        idle_count, best = self._read(identity)
        if idle_count >= _TIMES:
            return best
        for tries_left in reversed(range(_TRIES)):
            measured = self._measure_bandwidth(hardware)
            best = Bandwidth(
                max(measured.memory, best.memory), measured.cards, measured.sure or best.sure
            )
            if measured.sure:
                idle_count += 1
                break
            if tries_left:
                self._wait(_PAUSE_S)
        self._write(identity, idle_count, best)
        return best if best.sure else replace(best, memory=max(best.memory, USUAL_RATE))

    def _read(self, identity: str) -> tuple[int, Bandwidth]:
        """Return the number of idle measurements, and the best result."""
        page = self._file.read()
        unknown = Bandwidth(0.0, sure=False)
        if page.get("computer") != identity:
            return 0, unknown
        try:
            cards = tuple((str(key), float(rate)) for key, rate in page["cards"].items())
            best = Bandwidth(float(page["memory"]), cards, sure=bool(page["sure"]))
            return int(page["times"]), best
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            logger.warning("the bandwidth that was kept is not used: %s", error)
            return 0, unknown

    def _write(self, identity: str, idle_count: int, best: Bandwidth) -> None:
        page = {"computer": identity, "times": idle_count, "memory": best.memory, "sure": best.sure}
        self._file.write({**page, "cards": dict(best.cards)})


def _identity(hardware: Hardware) -> str:
    """Identify the measured hardware; any change requires new measurements."""
    cpu = hardware.cpu
    cores = N_(
        "{performance_cores} of {logical_cores} cores, {usable_threads} threads",
        performance_cores=cpu.performance_cores,
        logical_cores=cpu.logical_cores,
        usable_threads=cpu.usable_threads,
    )
    cards = (gpu.name for gpu in hardware.gpus)
    return "; ".join((cpu.name, cores, str(hardware.memory.total_bytes), *cards))
