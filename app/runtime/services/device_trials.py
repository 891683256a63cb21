"""The trials of llama.cpp's devices, and switching devices off.

Free of Qt and safe from any thread; a trial can take minutes.
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
from engines.sentences import N_

State = Literal["works", "untried", "broken", "off"]


@dataclass(frozen=True)
class DeviceState:
    """A device that llama.cpp lists, and whether it works.

    Attributes:
        total_bytes: Its memory.
        free_bytes: The part of it that is free.
        state: "works", "untried" (it is tried before its first use), "broken", or "off" (switched
            off by the user).
        why_not: One sentence if it is broken or off.
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
        """True if there is a verdict; the processor needs no trial."""
        return self.state != "untried"

    @property
    def ok(self) -> bool:
        """True if the device passed its trial."""
        return self.state == "works"


class DeviceTrials:
    """Tries the devices that llama.cpp lists."""

    def __init__(self, list_devices: Callable[[], Sequence[NativeDevice]], trials: Trials) -> None:
        """Create the trials.

        Args:
            list_devices: Returns llama.cpp's list, loading no more than necessary. Raises
                EngineUnavailable.
            trials: Runs trials and keeps their verdicts.
        """
        self._list_devices = list_devices
        self._trials = trials
        self._blind = ""

    def list(self) -> tuple[DeviceState, ...]:
        """List the devices, including the processor. Raises EngineUnavailable."""
        return tuple(map(self._state, self._list_devices()))

    def judged(self) -> tuple[NativeDevice, ...]:
        """List the devices, with the reason on those that failed. Raises EngineUnavailable."""
        try:
            found = self._list_devices()
        except EngineUnavailable as error:
            self._blind = N_("No graphics card is used: {why}", why=error.why)
            raise
        self._blind = ""
        return self._trials.judged(found)

    def complaints(self) -> tuple[str, ...]:
        """Return a sentence for each device that failed, as of the last `judged`.

        Or a single sentence if the devices could not be listed at all.
        """
        return (self._blind,) if self._blind else self._trials.complaints()

    def ready(self, names: Collection[str], cancel: CancelToken) -> None:
        """Try the devices that were never tried, or only the wanted ones if any are named.

        If the devices cannot be listed there is nothing to try: models run on the processor. Raises
        Cancelled.
        """
        try:
            load_native()  # the load needs it anyway; if complete, it lists the devices itself
            found = self._list_devices()
        except EngineUnavailable:
            return
        named = [device for device in found if device.name in names]
        self._trials.require(named or found, cancel)

    def try_again(self, name: str, cancel: CancelToken) -> DeviceState:
        """Try a device and return its state.

        Raises EngineFailed, EngineUnavailable and Cancelled.
        """
        device = self._named(name)
        why = self._trials.try_out(device, cancel).why
        state = self._state(device)
        return state if state.why_not == why else _broken(device, why)

    def switch_off(self, name: str) -> DeviceState:
        """Keep a device unused until it is tried again.

        Raises EngineFailed and EngineUnavailable.
        """
        device = self._named(name)
        self._trials.switch_off(device)
        return self._state(device)

    def _named(self, name: str) -> NativeDevice:
        for device in self._list_devices():
            if device.name == name and device.is_card:
                return device
        raise EngineFailed(
            N_("There is no graphics device “{name}”.", name=name),
            N_("llama.cpp does not list one of this name."),
            N_("Look at the devices under Engines."),
            terminal=N_("`hearth hardware` shows the devices."),
        )

    def _state(self, device: NativeDevice) -> DeviceState:
        if device.kind == "cpu":
            # The library reports all of the computer's memory as free.
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
    """Measure the computer's free memory, within the limits on this process."""
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
