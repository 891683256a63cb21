"""A log of limited size, which disturbs nobody where it cannot be written."""

from __future__ import annotations

from contextlib import suppress
from io import TextIOWrapper
from logging import LogRecord
from logging.handlers import RotatingFileHandler

from engines.private import private


class LogFile(RotatingFileHandler):
    """Of what a full disk has no room for, nothing is told: at a terminal each line that is lost
    would come as a traceback, in the middle of an answer."""

    def _open(self) -> TextIOWrapper:
        binary = open(self.baseFilename, f"{self.mode}b", opener=private)  # noqa: SIM115 - kept open
        return TextIOWrapper(binary, encoding=self.encoding)

    def handleError(self, record: LogRecord) -> None:
        """The line is lost, and the next one is tried again."""

    def close(self) -> None:
        """What is still to be written may be lost, too."""
        with suppress(OSError):
            super().close()
