"""Reads the two output streams of a process line by line until they end."""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final

_CHUNK: Final = 1 << 16
_LONGEST: Final = 1 << 15
"""Longest line in bytes; anything longer is cut into several lines."""

BEAT_S: Final = 5.0
BEAT: Final = b"\n"
"""An empty line, sent as a sign of life."""


class Lines:
    """Cuts output into lines; a carriage return ends a line too, because progress bars use it."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Add a piece of output, and pass on the lines that it completes."""
        *lines, self._rest = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._pass_on(line)
        if len(self._rest) > _LONGEST:
            self.end()

    def end(self) -> None:
        """Pass on the rest as the last line."""
        self._pass_on(self._rest)
        self._rest = b""

    def _pass_on(self, line: bytes) -> None:
        # wsl.exe can write UTF-16 between the other output.
        if text := line.decode(errors="replace").replace("\0", "").rstrip():
            self._on_line(text)


def follow(process: subprocess.Popen[bytes], out: Lines, err: Lines) -> None:
    """Pass on the output of a process on this Linux until the process has ended.

    Orphans of the process can hold its streams open, so this waits for the process and not for the
    streams.
    """
    output, errors = _streams(process)
    with selectors.DefaultSelector() as selector, output, errors:
        selector.register(output, selectors.EVENT_READ, out)
        selector.register(errors, selectors.EVENT_READ, err)
        while process.poll() is None:
            for key, _ in selector.select(0.2):
                _read_stream(key, selector)
            if not selector.get_map():
                process.wait()  # both streams have ended, so only the exit is left to wait for
        while ready := selector.select(0):
            for key, _ in ready:
                _read_stream(key, selector)


def follow_with_beats(process: subprocess.Popen[bytes], out: Lines, err: Lines) -> None:
    """Pass on the output of a wsl.exe process, and send it beats, until its streams end.

    Without the beats, a program inside WSL2 does not always notice that the Windows program that
    started it has ended.
    """
    output, errors = _streams(process)
    with output, errors:
        readers = [
            threading.Thread(target=_drain, args=pair, daemon=True)
            for pair in ((output, out), (errors, err))
        ]
        for reader in readers:
            reader.start()
        while not _ended(process):
            # The process can be ending at this moment.
            with suppress(OSError, ValueError):
                write_all(process, BEAT)
        for reader in readers:
            reader.join()


def write_all(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write data to the input of a process.

    The input is an unbuffered pipe, and one write to it can take less than all of the data.

    Raises:
        OSError: The process has ended.
        ValueError: The input is closed.
    """
    assert process.stdin is not None  # noqa: S101  opened as a pipe
    rest = memoryview(data)
    while rest:
        rest = rest[process.stdin.write(rest) :]


def _streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdout is not None  # noqa: S101  opened as a pipe
    assert process.stderr is not None  # noqa: S101
    return process.stdout, process.stderr


def _read_stream(key: selectors.SelectorKey, selector: selectors.BaseSelector) -> None:
    data = os.read(key.fd, _CHUNK)
    if data:
        key.data.feed(data)
    else:
        key.data.end()
        selector.unregister(key.fileobj)


def _drain(stream: IO[bytes], lines: Lines) -> None:
    while data := os.read(stream.fileno(), _CHUNK):
        lines.feed(data)
    lines.end()


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the process ends before the next beat is due."""
    try:
        process.wait(BEAT_S)
    except subprocess.TimeoutExpired:
        return False
    return True
