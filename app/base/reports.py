"""The log and the crash reports, which stay on this computer and are never sent."""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from app import __version__
from app.base.errors import NotADataFolder
from app.base.folder import DataFolder
from engines.errors import UserError, is_out_of_memory, out_of_memory
from engines.private import private
from engines.redaction import redact_certain
from engines.sentences import N_
from engines.text import harmless

if TYPE_CHECKING:
    from engines.log_file import LogFile

_LOG_BYTES = 1_000_000
_KEPT_REPORTS = 5


@contextmanager
def keep_log(folder: DataFolder) -> Iterator[None]:
    """Log to the data folder within the block, and write the stack there if native code crashes."""
    handler = _LazyLogHandler(log_file(folder))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        with ExitStack() as stack:
            # If nothing can be written, Hearth runs without a log.
            with suppress(OSError):
                path = folder.logs / "native-crash.txt"
                crash = stack.enter_context(open(path, "w", encoding="utf-8", opener=private))
                faulthandler.enable(crash)
                stack.callback(faulthandler.disable)
            yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()


class _LazyLogHandler(logging.Handler):
    """A handler that creates the log file with the first line; most runs log nothing."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def emit(self, record: logging.LogRecord) -> None:
        self._file.emit(record)

    def close(self) -> None:
        if "_file" in vars(self):
            self._file.close()
        super().close()

    @cached_property
    def _file(self) -> LogFile:
        from engines.log_file import LogFile

        file = LogFile(self._path, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
        file.setFormatter(_RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        return file


class _RedactingFormatter(logging.Formatter):
    """A formatter that removes keys and terminal control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return harmless(redact_certain(super().format(record)))


def log_file(folder: DataFolder) -> Path:
    """Return the path of the log."""
    return folder.logs / "hearth.log"


def describe(error: BaseException) -> str:
    """Return a report for a person to send: versions and the traceback, nothing about the chats."""
    import platform

    lines = [
        f"Hearth {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"{time.strftime('%Y-%m-%d %H:%M:%S')}, {' '.join(sys.orig_argv[:1])}",
        "",
        *traceback.format_exception(error),
    ]
    return harmless(redact_certain("\n".join(lines)))


def save_report(error: BaseException, folder: DataFolder) -> Path:
    """Write a report to the logs, which keep the newest five, or else to the temporary folder.

    Only the owner can read it, and its name cannot be predicted. Raises OSError.
    """
    text = describe(error)
    try:
        folder.require_own()
        folder.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = _write_report(text, folder.logs)
        for old in sorted(folder.logs.glob("report-*.txt"))[:-_KEPT_REPORTS]:
            old.unlink()
    except (OSError, NotADataFolder):
        path = _write_report(text, None)
    return path


def _write_report(text: str, folder: Path | None) -> Path:
    start = f"{'' if folder else 'hearth-'}report-{time.strftime('%Y%m%d-%H%M%S')}-"
    handle, name = tempfile.mkstemp(".txt", start, folder)
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return Path(name)


def as_user_error(error: Exception, folder: DataFolder) -> UserError:
    """Turn the error that ended Hearth into a UserError: lack of memory, or a bug of ours.

    A report of a bug is saved.
    """
    if is_out_of_memory(error):
        return out_of_memory()
    try:
        advice = N_(
            "The report is in {file}; please send it to the project.",
            file=save_report(error, folder),
        )
    except OSError as save_error:
        advice = N_(
            "Please tell the project; no report could be saved: {reason}.",
            reason=save_error.strerror or save_error,
        )
    reason = N_("This is a bug of ours; your chats are safe.")
    return UserError(N_("Hearth has made a mistake and stopped."), reason, advice)
