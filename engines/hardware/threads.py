"""How many threads llama.cpp gets: pure."""

from __future__ import annotations

from dataclasses import dataclass

from engines.hardware.values import Cpu


@dataclass(frozen=True)
class Threads:
    """decode: for one token at a time. batch: for evaluating a prompt."""

    decode: int
    batch: int


def thread_rule(cpu: Cpu) -> Threads:
    """One decoding thread for each fast core, and one core for the window where there are many.

    Decoding waits for memory, so a second thread on a core and the slow cores of a hybrid
    processor gain nothing: every step waits for its slowest thread. Worse, the OpenMP barrier
    between two steps spins. Where threads share a core, in a container with a quota or with a
    busy window, decoding collapses: 15 tokens a second with two threads on one shared core,
    239 with one.
    """
    decode = min(cpu.performance_cores, cpu.usable_threads)
    if decode > 4:
        decode -= 1
    return Threads(max(1, decode), max(1, min(cpu.usable_cores, cpu.usable_threads)))
