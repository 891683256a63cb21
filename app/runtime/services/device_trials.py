"""The devices that llama.cpp can compute on: their trials, and taking one out of use.

Free of Qt, and may be used from any thread; a trial can take minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from engines.cancel import CancelToken
from engines.errors import EngineFailed, EngineUnavailable
from engines.hardware import Memory, NativeDevice
from engines.hardware.memory import measure_memory, within_limits
from engines.llamacpp.native import load_native
from engines.llamacpp.trial import BY_USER, Trials

State = Literal["works", "untried", "broken", "off"]


@dataclass(frozen=True)
class DeviceState:
    """A device as llama.cpp names it, its memory in bytes, and the verdict on it.

    state: "works", "untried" (it is tried before its first use), "broken", or "off" by the user's
    wish. why_not: one sentence, for the last two. tried: the processor needs no trial.
    """

    name: str
    description: str
    backend: str
    total_bytes: int
    free_bytes: int
    state: State
    why_not: str = ""

    @property
    def tried(self) -> bool:
        return self.state != "untried"

    @property
    def ok(self) -> bool:
        return self.state == "works"


class DeviceTrials:
    """Tries the devices that llama.cpp lists.

    look: llama.cpp's own list, without loading what is not needed. Raises EngineUnavailable.
    """

    def __init__(self, look: Callable[[], Sequence[NativeDevice]], trials: Trials) -> None:
        self._look = look
        self._trials = trials
        self._blind = ""

    def list(self) -> tuple[DeviceState, ...]:
        """List the devices, the processor among them. Raises EngineUnavailable."""
        return tuple(map(self._state, self._look()))

    def judged(self) -> tuple[NativeDevice, ...]:
        """List the devices; those that failed say why. Raises EngineUnavailable."""
        try:
            found = self._look()
        except EngineUnavailable as error:
            self._blind = f"No graphics card is used: {error.why}"
            raise
        self._blind = ""
        return self._trials.judged(found)

    def complaints(self) -> tuple[str, ...]:
        """Return a sentence for each device that failed, as last judged.

        Or one for all, where they could not even be looked at.
        """
        return (self._blind,) if self._blind else self._trials.complaints()

    def ready(self, wanted: Collection[str], cancel: CancelToken) -> None:
        """Try the cards that never were, or only those of them that are named.

        Where the devices cannot be looked at there is nothing to try: models run on the processor.
        Raises Cancelled.
        """
        try:
            load_native()  # the load comes next anyway, and without cards to load it sees them all
            found = self._look()
        except EngineUnavailable:
            return
        named = [device for device in found if device.name in wanted]
        self._trials.require(named or found, cancel)

    def try_again(self, name: str, cancel: CancelToken) -> DeviceState:
        """Try a device; returns its state. Raises EngineFailed, EngineUnavailable, Cancelled."""
        device = self._named(name)
        why = self._trials.try_out(device, cancel).why
        state = self._state(device)
        return state if state.why_not == why else _broken(device, why)

    def switch_off(self, name: str) -> DeviceState:
        """Keep a device unused until tried again. Raises EngineFailed, EngineUnavailable."""
        device = self._named(name)
        self._trials.switch_off(device)
        return self._state(device)

    def _named(self, name: str) -> NativeDevice:
        for device in self._look():
            if device.name == name and device.is_card:
                return device
        raise EngineFailed(
            f"There is no graphics device “{name}”.",
            "llama.cpp does not list one of this name.",
            "Look at the devices under Engines.",
            terminal="`hearth hardware` shows the devices.",
        )

    def _state(self, device: NativeDevice) -> DeviceState:
        if device.kind == "cpu":
            # The library takes all of the computer's memory for free.
            memory = _memory()
            total, free = memory.total_bytes, memory.available_bytes
            return _state(replace(device, total_bytes=total, free_bytes=free), "works")
        if not device.is_card:
            return _state(device, "works")
        verdict = self._trials.verdict(device)
        if verdict is None:
            return _state(device, "untried")
        if verdict.why == BY_USER:
            return _state(device, "off", verdict.why)
        return _broken(device, verdict.why) if verdict.why else _state(device, "works")


def _memory() -> Memory:
    """Measure the computer's memory that is free now."""
    return within_limits(measure_memory(), Path("/"))


def _broken(device: NativeDevice, why: str) -> DeviceState:
    return _state(device, "broken", why)


def _state(device: NativeDevice, state: State, why: str = "") -> DeviceState:
    return DeviceState(
        device.name,
        device.description,
        device.backend,
        device.total_bytes,
        device.free_bytes,
        state,
        why,
    )
