"""The devices that llama.cpp sees, listed without loading it into this process.

Its libraries take memory and time that are not needed before a model is loaded, and graphics card
drivers can crash. So a separate process lists the devices, unless the libraries are loaded already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from engines.cancel import CancelToken
from engines.errors import EngineUnavailable
from engines.hardware.values import NativeDevice
from engines.helper.command import module_command
from engines.helper.parent import NoResult, ask_helper
from engines.llamacpp.native import loaded_native, unavailable
from engines.sentences import N_

COMMAND: Final = module_command("engines.llamacpp.devices_child")
"""The command that starts the process, whose result is the list of devices."""

FRESH_S: Final = 10.0
"""Seconds for which an answer is valid: the free memory of a card changes."""

FAILED_S: Final = 300.0
"""Seconds to wait after a failure before asking again: a driver that hangs takes long."""

_LIMIT_S: Final = 30.0


class Devices:
    """Lists the devices. Any thread can use it, and two can ask at once."""

    def __init__(
        self, command: Sequence[str] = COMMAND, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._command = tuple(command)
        self._clock = clock
        self._listed: tuple[float, tuple[NativeDevice, ...]] | None = None
        self._failed: tuple[float, EngineUnavailable] | None = None

    def list_devices(self) -> tuple[NativeDevice, ...]:
        """Return the devices, including the processor. Raises EngineUnavailable."""
        native = loaded_native()
        if native is not None and native.complete:
            return native.devices()
        now = self._clock()
        if self._failed is not None and now - self._failed[0] <= FAILED_S:
            raise self._failed[1]
        if self._listed is None or now - self._listed[0] > FRESH_S:
            try:
                self._listed = now, self._ask()
            except EngineUnavailable as error:
                self._failed = self._clock(), error
                raise
        return self._listed[1]

    def _ask(self) -> tuple[NativeDevice, ...]:
        try:
            found = ask_helper(self._command[:-1], self._command[-1], _LIMIT_S, CancelToken())
            return tuple(NativeDevice(**device) for device in found)
        except OSError as error:
            raise unavailable(
                N_(
                    "The system could not start a process: {strerror}.",
                    strerror=error.strerror or error,
                )
            ) from error
        except (NoResult, TypeError) as error:
            odd = N_("The process gave an unexpected answer.")
            why = error.why if isinstance(error, NoResult) else odd
            raise unavailable(
                N_("The process that checks the devices failed. {why}", why=why)
            ) from error
