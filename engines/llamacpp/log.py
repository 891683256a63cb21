"""The log of llama.cpp: passed on to `logging`, and collected for error messages."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

logger = logging.getLogger("engines.llamacpp")

DEBUG, INFO, WARN, ERROR, CONTINUED = 1, 2, 3, 4, 5
"""Levels of `enum ggml_log_level` in ggml.h."""

# llama.cpp's INFO is hundreds of lines for each load, which is debug detail for Hearth.
_LEVELS: Final = {DEBUG: 5, INFO: logging.DEBUG, WARN: logging.INFO, ERROR: logging.WARNING}


class NativeLog:
    """Passes whole lines on to `logging`, and collects the lines that a thread's calls cause."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[int, str]] = {}
        self._watched: dict[int, list[str]] = {}
        self._collected: dict[int, list[str]] = {}

    def write(self, level: int, text: str) -> None:
        """Take a piece of llama.cpp's log; a line break completes a line."""
        thread = threading.get_ident()
        open_level, begun = self._open.pop(thread, (INFO, ""))
        if level == CONTINUED:
            level = open_level
        begun += text
        if not begun.endswith("\n"):
            self._open[thread] = (level, begun)
            return
        line = begun.strip()
        if not line:
            return
        if level >= WARN and (complaints := self._watched.get(thread)) is not None:
            complaints.append(line)
        if (lines := self._collected.get(thread)) is not None:
            lines.append(line)
        logger.log(_LEVELS.get(level, logging.DEBUG), "%s", line)

    @contextmanager
    def watch(self) -> Iterator[list[str]]:
        """Collect the warnings and errors that this thread's calls cause within the context."""
        complaints: list[str] = []
        self._watched[threading.get_ident()] = complaints
        try:
            yield complaints
        finally:
            del self._watched[threading.get_ident()]

    @contextmanager
    def listen(self) -> Iterator[list[str]]:
        """Collect all lines that this thread's calls cause within the context."""
        lines: list[str] = []
        self._collected[threading.get_ident()] = lines
        try:
            yield lines
        finally:
            del self._collected[threading.get_ident()]
