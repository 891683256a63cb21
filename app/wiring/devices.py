"""Creates the functions that detect this computer and try its graphics devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.runtime.services.device_trials import DeviceTrials
from engines.errors import EngineUnavailable
from engines.hardware import Hardware, detect
from engines.llamacpp.devices import Devices
from engines.llamacpp.native import load_native, packs
from engines.llamacpp.trial import Trials
from engines.sentences import N_


def device_trials(folder: Path | None, starter: Path) -> DeviceTrials:
    """Create the trials of devices.

    Args:
        folder: Where the verdicts are stored; None stores none.
    """
    return DeviceTrials(Devices().list_devices, Trials(folder, starter))


def hardware_detector(trials: DeviceTrials, *, loads_llama: bool) -> Callable[[], Hardware]:
    """Return a function that detects the hardware; it marks devices that failed as unusable.

    If llama.cpp cannot load or list its devices, there are none, and the hardware's notes say why.

    Args:
        loads_llama: Load llama.cpp into this process, for callers that load it anyway.
    """

    def detect_hardware() -> Hardware:
        try:
            if loads_llama:
                load_native()
            found = detect(trials.judged())
            notes = packs().refused
        except EngineUnavailable as error:
            found = detect(())
            notes = (N_("No graphics card is used: {why}", why=error.why),)
        return replace(found, notes=(*found.notes, *notes))

    return detect_hardware
