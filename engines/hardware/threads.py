"""The number of threads for llama.cpp. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from engines.hardware.values import Cpu


@dataclass(frozen=True)
class Threads:
    """Numbers of threads.

    Attributes:
        decode: For writing one token at a time.
        batch: For evaluating a prompt.
    """

    decode: int
    batch: int


# A step of a smaller model takes no longer than handing half of it to a second thread. On two
# cores, a model of 3.7 MB writes a short answer at least three times as fast with one thread, while
# one of 7 MB reads a prompt of 3,000 tokens in half the time with two.
_ONE_THREAD_BYTES = 5_000_000


def thread_rule(cpu: Cpu, model_bytes: int) -> Threads:
    """Return one decoding thread for each fast core, less one for the window if there are many.

    Decoding waits for memory, so a second thread on a core gains nothing. Neither do the slow cores
    of a hybrid processor, because every step waits for its slowest thread. If threads share a core,
    because of a container's quota or a busy window, they wait for each other at every operation. A
    tiny model gets one thread: the starter model gains nothing from a second one.
    """
    if model_bytes < _ONE_THREAD_BYTES:
        return Threads(1, 1)
    decode = min(cpu.performance_cores, cpu.usable_threads)
    if decode > 4:
        decode -= 1
    return Threads(max(1, decode), max(1, min(cpu.usable_cores, cpu.usable_threads)))
