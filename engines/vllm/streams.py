"""Reads a process's two output streams line by line, to its end."""

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
"""Bytes after which a line is cut, however long it goes on."""

BEAT_S: Final = 5.0
BEAT: Final = b"\n"
"""An empty line."""


class Lines:
    """Cuts output into lines; a progress bar's end in a carriage return."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear
        self._rest = b""

    def take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._pass_on(line)
        if len(self._rest) > _LONGEST:
            self.end()

    def end(self) -> None:
        self._pass_on(self._rest)
        self._rest = b""

    def _pass_on(self, line: bytes) -> None:
        # wsl.exe may write UTF-16 among what else comes.
        if text := line.decode(errors="replace").replace("\0", "").rstrip():
            self._hear(text)


def follow(process: subprocess.Popen[bytes], out: Lines, err: Lines) -> None:
    """Pass on all that a process of this Linux writes, until it has ended.

    Orphans of it hold its streams open: the end is the process's, not the streams'.
    """
    said, errors = _streams(process)
    with selectors.DefaultSelector() as selector, said, errors:
        selector.register(said, selectors.EVENT_READ, out)
        selector.register(errors, selectors.EVENT_READ, err)
        while process.poll() is None:
            for key, _ in selector.select(0.2):
                _take(key, selector)
            if not selector.get_map():
                process.wait()  # it has said all, and there is nothing else to wait for
        while ready := selector.select(0):
            for key, _ in ready:
                _take(key, selector)


def follow_with_beats(process: subprocess.Popen[bytes], out: Lines, err: Lines) -> None:
    """Pass on all that a wsl.exe writes, and send it beats, until its streams end.

    That a program on Windows is gone does not always come through to what it runs in WSL2.
    """
    said, errors = _streams(process)
    with said, errors:
        readers = [
            threading.Thread(target=_drain, args=it, daemon=True)
            for it in ((said, out), (errors, err))
        ]
        for reader in readers:
            reader.start()
        while not _ended(process):
            # It may be ending just now.
            with suppress(OSError, ValueError):
                tell(process, BEAT)
        for reader in readers:
            reader.join()


def tell(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write to a process's input, a pipe without a buffer that may take less at once.

    Raises OSError where the process has ended, ValueError where its input is closed.
    """
    assert process.stdin is not None  # noqa: S101  asked for
    rest = memoryview(data)
    while rest:
        rest = rest[process.stdin.write(rest) :]


def _streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdout is not None  # noqa: S101  asked for
    assert process.stderr is not None  # noqa: S101
    return process.stdout, process.stderr


def _take(key: selectors.SelectorKey, selector: selectors.BaseSelector) -> None:
    data = os.read(key.fd, _CHUNK)
    if data:
        key.data.take(data)
    else:
        key.data.end()
        selector.unregister(key.fileobj)


def _drain(stream: IO[bytes], lines: Lines) -> None:
    while data := os.read(stream.fileno(), _CHUNK):
        lines.take(data)
    lines.end()


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it ends before the next beat."""
    try:
        process.wait(BEAT_S)
    except subprocess.TimeoutExpired:
        return False
    return True
