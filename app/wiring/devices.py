"""Puts together what looks at this computer and its graphics devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.services.engines.device_trials import DeviceTrials
from engines.errors import EngineUnavailable
from engines.hardware import Hardware, detect
from engines.llamacpp.devices import Devices
from engines.llamacpp.native import load_native
from engines.llamacpp.trial import Trials


def device_care(folder: Path | None, starter: Path) -> DeviceTrials:
    """folder: where verdicts on devices are remembered; None remembers none."""
    return DeviceTrials(Devices().look, Trials(folder, starter))


def looking(care: DeviceTrials, *, inside: bool) -> Callable[[], Hardware]:
    """What looks at this computer now, with its devices; those that failed cannot be used.

    inside: for those who load llama.cpp into this process anyway. Without its devices, where it
    cannot load or look: the hardware's notes say why.
    """

    def look() -> Hardware:
        try:
            if inside:
                load_native()
            return detect(care.judged())
        except EngineUnavailable as error:
            found = detect(())
            return replace(found, notes=(*found.notes, f"No graphics are used: {error.why}"))

    return look
