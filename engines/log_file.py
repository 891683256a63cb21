"""A log of limited size that fails silently where it cannot be written."""

from __future__ import annotations

from contextlib import suppress
from io import TextIOWrapper
from logging import LogRecord
from logging.handlers import RotatingFileHandler

from engines.private import private


class LogFile(RotatingFileHandler):
    """A rotating log that ignores lines it cannot write, for example on a full disk.

    At a terminal, each of them would print a traceback in the middle of an answer.
    """

    def _open(self) -> TextIOWrapper:
        binary = open(self.baseFilename, f"{self.mode}b", opener=private)  # noqa: SIM115 - kept open
        return TextIOWrapper(binary, encoding=self.encoding)

    def handleError(self, record: LogRecord) -> None:
        """Drop the line; the next one is tried again."""

    def close(self) -> None:
        """Close the file, even if the remaining lines cannot be written."""
        with suppress(OSError):
            super().close()
