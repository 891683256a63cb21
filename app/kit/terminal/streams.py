"""The standard streams, even if they are closed, full, or have no reader."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TextIO

from app.base.errors import FileNotText
from engines.errors import UserError
from engines.sentences import N_
from engines.text import harmless

MOST_CHARACTERS: Final = 10_000_000
"""The longest text that is read at once, as for attached files: some 2.5 million tokens."""


class NoInput(UserError):
    """The error of a standard input that cannot be read."""

    code = "no_input"


class InputTooLong(UserError):
    """The error of a standard input or a named file with more text than any model can take."""

    code = "input_too_long"


class NoOutput(UserError):
    """The error of a standard output that cannot be written to."""

    code = "no_output"


def prepare() -> None:
    """Make the standard streams usable in any state; called once, before any file is opened.

    The streams use UTF-8, as answers can contain any character. A closed stream gets its number
    back; otherwise the next file to be opened would get that number, and prints would go into it.
    """
    if sys.platform != "win32":
        # The system gives the lowest free number. A closed stdout is opened for reading only, so
        # that a write to it fails and is reported.
        for number in (0, 1, 2):
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
    windows = sys.platform == "win32"
    _enable_control_sequences()
    sys.stdin = sys.stdin or _open_stream(os.devnull if windows else 0, "r")
    sys.stdout = sys.stdout or _open_stream(os.devnull if windows else 1, "w")
    sys.stderr = sys.stderr or _open_stream(os.devnull if windows else 2, "w")
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if type(sys.stderr) is io.TextIOWrapper:
        sys.stderr = SafeStderr(sys.stderr)


def _enable_control_sequences() -> None:
    """Make the Windows console obey control sequences; other terminals do so anyway.

    Source: Microsoft's documentation of SetConsoleMode and of virtual terminal sequences.
    """
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.WinDLL("kernel32")
        kernel.GetStdHandle.restype = ctypes.c_void_p
        kernel.GetConsoleMode.argtypes = (ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint32))
        kernel.SetConsoleMode.argtypes = (ctypes.c_void_p, ctypes.c_uint32)
        for number in (-11, -12):  # standard output and error
            handle, mode = kernel.GetStdHandle(number), ctypes.c_uint32()
            # A file, a pipe or a missing stream has no such mode.
            if kernel.GetConsoleMode(handle, ctypes.byref(mode)):
                kernel.SetConsoleMode(handle, mode.value | 0x0004)


def _open_stream(place: int | str, mode: Literal["r", "w"]) -> TextIO:
    """Open a stream; a file descriptor given by number is never closed."""
    return open(place, mode, encoding="utf-8", closefd=isinstance(place, str))


class SafeStderr(io.TextIOWrapper):
    """Standard error, for all messages of Hearth, Python and its libraries.

    It removes control sequences, as the names and reasons in the messages come from files and
    servers. If it cannot be written to, the messages are dropped and the work goes on.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(stream.buffer, "utf-8", "backslashreplace", line_buffering=True)
        self._replaced = stream  # kept alive: once freed, it closes the buffer that both share

    def write(self, text: str) -> int:
        """Write a text without its control sequences; drop it if that fails."""
        try:
            return super().write(harmless(text))
        except OSError:
            discard(self)
            return len(text)

    def flush(self) -> None:
        """Flush the stream; discard its text if that fails."""
        try:
            super().flush()
        except OSError:
            discard(self)

    def rewrite(self, line: str) -> None:
        """Replace the line that the cursor is in."""
        self.flush()
        try:
            self.buffer.write(b"\r\033[K")
        except OSError:
            discard(self)
        print(line, end="", file=self, flush=True)


def discard(stream: TextIO) -> None:
    """Discard the buffered text of a stream, and all text written to it later."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, stream.fileno())
    os.close(null_device)


def say(text: str, end: str = "\n") -> None:
    """Write to standard output.

    Raises:
        NoOutput: The text cannot be written.
        BrokenPipeError: The process that reads the output has ended.
    """
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise NoOutput(
            N_("The output could not be written."),
            N_("The system says: {strerror}.", strerror=error.strerror or error),
            N_("Send it to a terminal, or to a file on a disk that has room."),
        ) from error


def read() -> str:
    """Read all of standard input.

    Raises:
        NoInput: Standard input cannot be read.
        InputTooLong: It has more than `MOST_CHARACTERS`.
    """
    with _os_errors_as_user_errors():
        return _bounded(sys.stdin.read(MOST_CHARACTERS + 1), N_("Standard input"))


def lines() -> Iterator[str]:
    """Yield the lines of standard input as they arrive, without line ends.

    Raises:
        NoInput: Standard input cannot be read.
        InputTooLong: A line has more than `MOST_CHARACTERS`.
    """
    while line := _line():
        yield line.rstrip("\r\n")


def read_line() -> str:
    """Read the next line of standard input, without its line end; "" at the end of the input.

    Raises:
        NoInput: Standard input cannot be read.
        InputTooLong: The line has more than `MOST_CHARACTERS`.
    """
    return _line().rstrip("\r\n")


def _line() -> str:
    with _os_errors_as_user_errors():
        return _bounded(sys.stdin.readline(MOST_CHARACTERS + 1), N_("A line of standard input"))


def _bounded(text: str, source: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    raise InputTooLong(
        N_("{source} is too long.", source=source),
        N_(
            "It has more than {most_characters} characters, and no model can see that much at "
            "once.",
            most_characters=f"{MOST_CHARACTERS:,}",
        ),
        N_("Send a part of it, or add large files to a collection with `hearth docs add`."),
    )


@contextmanager
def _os_errors_as_user_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NoInput(
            N_("Standard input cannot be read."),
            N_("The system says: {strerror}.", strerror=error.strerror or error),
            N_("Start Hearth at a terminal, or give it a file or a pipe to read from."),
        ) from error


def read_file(path: Path) -> str:
    """Read a text file that the user has named.

    Raises:
        FileNotText: The file cannot be read, or is not UTF-8.
        InputTooLong: It has more than `MOST_CHARACTERS`.
    """
    try:
        with path.open(encoding="utf-8") as file:
            return _bounded(file.read(MOST_CHARACTERS + 1), str(path))
    except (OSError, UnicodeDecodeError) as error:
        why = N_("It is not UTF-8 text.")
        if isinstance(error, OSError):
            why = N_("The system says: {strerror}.", strerror=error.strerror)
        raise FileNotText(
            N_("{path} cannot be read as text.", path=path),
            why,
            N_("Choose a plain text file that exists."),
        ) from error
