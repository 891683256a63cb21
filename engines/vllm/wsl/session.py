"""A process inside WSL2 that carries out orders one after the other."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineUnavailable
from engines.sentences import N_
from engines.vllm.provision.child import CommandFailed
from engines.vllm.provision.windows import Wsl2, wsl_trouble
from engines.vllm.streams import BEAT, BEAT_S, write_all
from engines.vllm.wsl.listing import CommandResult, decoded
from engines.vllm.wsl.paths import drives_at
from engines.vllm.wsl.scripts import NO_DRIVES, NO_PYTHON

_KEPT: Final = 1 << 16
_START_S: Final = 90.0
"""Seconds that the process gets to start, including the start of the distribution."""

_END_S: Final = 20.0
"""Seconds that the process gets to end its children once it knows that Hearth is gone."""


class WslSession:
    """A session in a distribution, used as a context manager; its process ends with it.

    Args:
        name: Name of the distribution.
        start: Starts a process there that carries out orders; can raise OSError.
        pack: File of the helper program, as Windows names it.
        cancel: Ends the session.

    Attributes:
        drives: Folder of Windows' drives in that Linux; see `drives_at`.

    Raises:
        EngineUnavailable: The session cannot be opened.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], subprocess.Popen[bytes]],
        pack: Path,
        cancel: CancelToken,
    ) -> None:
        self._name = name
        self._start = start
        self._cancel = cancel
        self._pack = pack
        self._output = bytearray()
        self._writing = threading.Lock()
        self._stopped = threading.Event()
        self.drives = ""

    def __enter__(self) -> Self:
        try:
            self._process = self._start()
        except OSError as error:
            raise _silent(self._name, str(error)) from error
        self._forget = self._cancel.on_cancel(self._hang_up)
        late = threading.Timer(_START_S, self._process.kill)
        late.start()
        self._beats = threading.Thread(target=self._beat, daemon=True)
        self._beats.start()
        try:
            self.drives = drives_at(self._pack, str(self._answer(lambda _: None)))
        except ValueError as error:
            self.__exit__(None, None, None)
            raise no_drives(self._name) from error
        except BaseException:
            self.__exit__(None, None, None)
            raise
        finally:
            late.cancel()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._forget()
        self._stopped.set()
        self._beats.join()
        self._close()
        _end(self._process)
        assert self._process.stdout is not None  # noqa: S101  opened as a pipe
        self._process.stdout.close()

    def ask(
        self, order_name: str, on_line: Callable[[str], None] = lambda _: None, **order: Any
    ) -> Any:  # a JSON value
        """Carry out an order, and return its result.

        Args:
            order_name: Name of the order.
            on_line: Called with each line that a command prints.
            order: Arguments of the order.

        Raises:
            CommandFailed: The command failed inside WSL2.
            Cancelled: The session was cancelled.
            EngineUnavailable: The process has ended.
        """
        # If the process has ended, its last output explains why, so errors are ignored here.
        self._write(json.dumps({"do": order_name, **order}).encode() + b"\n")
        return self._answer(on_line)

    def _beat(self) -> None:
        """Send beats on a thread, because WSL2 does not always notice that Hearth has ended."""
        while not self._stopped.wait(BEAT_S):
            self._write(BEAT)

    def _write(self, line: bytes) -> None:
        with self._writing, suppress(OSError, ValueError):
            write_all(self._process, line)

    def _answer(self, on_line: Callable[[str], None]) -> Any:
        assert self._process.stdout is not None  # noqa: S101  opened as a pipe
        for line in self._process.stdout:
            message = _read(line)
            if message is None:
                self._output += line[: _KEPT - len(self._output)]
            elif "line" in message:
                on_line(message["line"])
            elif "failed" in message:
                failed = message["failed"]
                raise CommandFailed(["wsl.exe"], failed["status"], failed["lines"])
            else:
                return message["done"]
        status = self._process.wait()
        if self._cancel.cancelled:
            raise Cancelled
        raise self._ended(status)

    def _hang_up(self) -> None:
        """Close the session on the thread that cancels; a waiting `ask` then raises Cancelled."""
        self._close()
        threading.Thread(target=_end, args=(self._process,), daemon=True).start()

    def _close(self) -> None:
        assert self._process.stdin is not None  # noqa: S101  opened as a pipe
        with suppress(OSError):
            self._process.stdin.close()

    def _ended(self, status: int) -> EngineUnavailable:
        name = self._name
        if status == NO_PYTHON:
            return EngineUnavailable(
                N_("There is no Python in {name} that can run Hearth’s helper program.", name=name),
                N_("It needs Python 3.11 or newer."),
                N_(
                    "Open {name} and run “sudo apt install python3”, or take a newer Linux: “wsl "
                    "--install -d Ubuntu-24.04”.",
                    name=name,
                ),
            )
        if status == NO_DRIVES:
            return no_drives(name)
        last_line = CommandResult(status, decoded(bytes(self._output))).last
        return _silent(name, last_line or N_("it ended with {status}", status=status))


def no_drives(name: str) -> EngineUnavailable:
    """Return the error for a distribution that cannot see a folder of Hearth's."""
    headline, why, advice = wsl_trouble(Wsl2("apart", name))
    return EngineUnavailable(headline, why, advice)


def _silent(name: str, last_line: str) -> EngineUnavailable:
    return EngineUnavailable(
        N_("Hearth could not use {name}, the Linux inside Windows.", name=name),
        N_("The last message was: {words}", words=last_line),
        N_("Run “wsl -d {name}” to see whether it starts, then try again.", name=name),
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of the process, whose input is closed; kill wsl.exe if it does not come."""
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _read(line: bytes) -> dict[str, Any] | None:
    """Parse a message; return None for any other output."""
    # wsl.exe's own warnings are UTF-16, and the last byte of one can precede the first message.
    line = line.lstrip(b"\0")
    if not line.startswith(b"{"):
        return None
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None
