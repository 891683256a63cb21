"""Tries each graphics device in another process before its first use, as drivers can crash.

::

    trials = Trials(folder, STARTER)
    trials.require(cards, cancel)      # up to some minutes, where one was never tried
    devices = trials.judged(devices)   # at once: those that failed say why they must not be used

The process loads a small model on the device and writes a greedy text with it, which must equal the
processor's text. A crash, a hang or another text keeps the device out of use until its driver or
the library changes, or the user has it tried again.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from engines.cancel import CancelToken
from engines.errors import EngineError, EngineUnavailable, NotEnoughMemory
from engines.hardware.values import NativeDevice
from engines.helper.command import module_command
from engines.helper.parent import NoResult, ProcessResult, ask_helper
from engines.llamacpp.trial_record import TrialRecord, Verdict, identity
from engines.sentences import N_

COMMAND: Final = module_command("engines.llamacpp.trial_child")
"""The command that starts the process, which takes the device and the model as last argument."""

LIMIT_S: Final = 300.0
"""Seconds for a trial.

A driver compiles its shaders first: seconds on a card, 93 s measured on Mesa's software driver.
"""

TIE: Final = 0.1
"""The difference of logits, in standard deviations, within which rounding can swap two tokens."""

BY_USER: Final = N_("It was switched off by hand.")


class Trials:
    """Tries devices, one at a time, and remembers the verdicts. Any thread can use it.

    The processor, and anything that computes with it, is never tried.

    Args:
        folder: The folder for the verdicts; None remembers them for this run only.
        model: A small model.
        command: The command that starts the process.
        limit_s: Seconds after which a trial fails.
    """

    def __init__(
        self,
        folder: Path | None,
        model: Path,
        command: Sequence[str] = COMMAND,
        limit_s: float = LIMIT_S,
    ) -> None:
        self._record = TrialRecord(folder)
        self._model = model
        self._command = tuple(command)
        self._limit_s = limit_s
        self._trying = threading.Lock()
        self._refused: dict[str, str] = {}

    def verdict(self, device: NativeDevice) -> Verdict | None:
        """Return the verdict on a device; None if it was never tried in its current state."""
        return self._record.get(identity(device))

    def judged(self, devices: Iterable[NativeDevice]) -> tuple[NativeDevice, ...]:
        """Return the devices; those that failed say why they must not be used."""
        found = []
        for device in devices:
            known = self.verdict(device) if device.is_card else None
            found.append(replace(device, why_not=known.why) if known and known.why else device)
        broken = [device for device in found if device.why_not and device.why_not != BY_USER]
        self._refused = {
            device.name: N_(
                "{description} is not used: {why_not}",
                description=device.description,
                why_not=device.why_not,
            )
            for device in broken
        }
        return tuple(found)

    def complaints(self) -> tuple[str, ...]:
        """Return a sentence for each device that failed, as of the last call of `judged`."""
        return tuple(self._refused.values())

    def require(self, devices: Iterable[NativeDevice], cancel: CancelToken) -> None:
        """Try each of these devices that was never tried. Raises Cancelled."""
        for device in devices:
            if device.is_card and self.verdict(device) is None:
                self.try_out(device, cancel)

    def try_out(self, device: NativeDevice, cancel: CancelToken) -> Verdict:
        """Try a device, whatever is known about it, and remember the verdict. Raises Cancelled.

        Lack of memory is not the device's fault, nor is a library that does not load: such a
        verdict is returned, but not remembered.
        """
        with self._trying:
            began = time.monotonic()
            request = json.dumps({"device": device.name, "model": str(self._model)})
            why, lasting = self._judge(request, cancel)
            verdict = Verdict(device.name, why, round(time.monotonic() - began, 1))
            if lasting:
                self._record.keep(identity(device), verdict)
            return verdict

    def switch_off(self, device: NativeDevice) -> None:
        """Keep a device out of use until it is tried again."""
        self._record.keep(identity(device), Verdict(device.name, BY_USER))

    def _judge(self, request: str, cancel: CancelToken) -> tuple[str, bool]:
        """Return why the device must not be used, or "", and whether to remember that."""
        try:
            found = ask_helper(self._command, request, self._limit_s, cancel)
        except OSError as error:
            return N_(
                "The test could not start: {strerror}.", strerror=error.strerror or error
            ), False
        except EngineError as error:
            innocent = isinstance(error, (NotEnoughMemory, EngineUnavailable))
            return N_("The test failed: {what} {why}", what=error.what, why=error.why), not innocent
        except NoResult as error:
            return _why_ended(error.ended, self._limit_s), True
        expected, text, gap = found["expected"], found["text"], found["gap"]
        if text == expected or (gap is not None and gap < TIE):
            return "", True
        words, right = _short(text), _short(expected)
        return N_(
            "It gives wrong results: “{text}” where the processor says “{expected}”.",
            text=words,
            expected=right,
        ), True


def _why_ended(ended: ProcessResult, limit_s: float) -> str:
    if not ended.in_time:
        return N_(
            "A first answer on it did not finish within {limit_s} minutes.",
            limit_s=f"{limit_s / 60:.0f}",
        )
    if any("expected" in line for line in ended.lines):
        return N_("The test ended with code {code}: the driver is faulty.", code=ended.code)
    return N_(
        "The test ended with code {code} before it reached the card: this "
        "build of llama.cpp does not run here.",
        code=ended.code,
    )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else f"{flat[:40]}…"
