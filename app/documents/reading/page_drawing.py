"""Draws pages of PDFs in another process, so that no file can harm the app; see `page_child`."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from app.base.errors import DocumentNotRead
from app.documents.reading.faults import Fault
from app.documents.reading.limits import Limits
from app.documents.reading.reader import refused
from app.documents.values.documents import Section, TextSpan
from app.documents.values.pages import DrawnPage, Rectangle
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.helper.command import module_command
from engines.helper.parent import run_helper
from engines.sentences import N_

COMMAND: Final = module_command("app.documents.reading.page_child")
_LIMITS: Final = Limits(seconds=30.0)
"""The limits for drawing; nobody looks at an empty window for two minutes."""

_BYTES: Final = 4
"""Maximum bytes of a pixel."""

_LARGEST: Final = 1e6
"""Maximum points of a side; the format ends at 14,400, but readers accept more."""


class PageDrawer:
    """Draws pages. Safe from any thread, several at once."""

    def __init__(self, limits: Limits = _LIMITS, command: Sequence[str] = COMMAND) -> None:
        self._limits = limits
        self._command = tuple(command)

    def draw(
        self,
        path: Path,
        name: str,
        section: Section,
        width: int,
        spans: Sequence[TextSpan],
        cancel: CancelToken,
    ) -> DrawnPage:
        """Draw the page of a section.

        Args:
            name: The file name, for errors.
            width: The width in pixels, if the limits allow it.
            spans: Parts of the section's text to mark.

        Raises:
            DocumentNotRead: The page cannot be drawn.
            Cancelled: `cancel` was called.
        """
        request = {
            "path": str(path),
            "number": section.place.number,
            "width": max(1, width),
            "spans": [(span.start, span.end) for span in spans],
            "text": sha256(section.text.encode()).hexdigest(),
            "limits": asdict(self._limits),
        }
        most = self._limits.view_pixels * _BYTES * 2
        try:
            ended = run_helper(
                self._command,
                json.dumps(request),
                self._limits.seconds,
                cancel,
                self._limits.memory_bytes,
                most,
            )
        except OSError as error:
            raise _not_shown(name, Fault.MISSING) from error
        if cancel.cancelled:
            raise Cancelled
        if not ended.in_time or ended.too_much:
            raise _not_shown(name, Fault.NO_MEMORY if ended.in_time else Fault.NO_TIME)
        try:
            reply = json.loads(ended.last_line)
            if fault := reply.get("fault"):
                raise _not_shown(name, Fault(fault))
            return _page_of(reply, self._limits)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error):
            raise _not_shown(name, Fault.CRASHED) from None


def _page_of(reply: Mapping[str, Any], limits: Limits) -> DrawnPage:
    """Parse the child's answer, which is untrusted. Raises ValueError, KeyError and TypeError."""
    width, height, stride = (int(reply[field]) for field in ("width", "height", "stride"))
    fits = min(width, height) > 0 and width * height <= limits.view_pixels * 1.1
    if not fits or not 3 * width <= stride <= 3 * width + 64:
        raise ValueError("this is no page")
    unpacked = zlib.decompressobj()
    pixels = unpacked.decompress(base64.b64decode(reply["pixels"]), stride * height)
    if len(pixels) != stride * height:
        raise ValueError("there are too few pixels")
    across, down = map(float, reply["points"])
    if not (1 <= across <= _LARGEST and 1 <= down <= _LARGEST):
        raise ValueError("no page is so large")
    marks = None if reply["marks"] is None else tuple(map(_rectangle, reply["marks"]))
    return DrawnPage(width, height, stride, pixels, (across, down), marks)


def _rectangle(values: Sequence[float]) -> Rectangle:
    left, top, right, bottom = map(float, values)
    if not (0 <= left <= right <= 1 and 0 <= top <= bottom <= 1):
        raise ValueError("a mark lies outside the page")
    return left, top, right, bottom


def _not_shown(name: str, fault: Fault) -> DocumentNotRead:
    error = refused(name, fault)
    return DocumentNotRead(N_("A page of {name} cannot be shown.", name=name), error.why, error.do)
