"""The files that are being viewed: their stored content, and their pages as pictures."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QObject

from app.documents.services.pages import Pages
from app.documents.values.documents import Location, TextSpan
from app.documents.values.pages import DrawnPage, OpenedFile
from app.kit.tasks.tasks import Failed, Tasks
from engines.cancel import CancelToken
from engines.errors import Cancelled

VIEWING: Final = "viewing"
_REMEMBERED: Final = 3
"""Drawn pages that are kept; each takes at most 24 MB."""

_Page = tuple[str, int, int, tuple[TextSpan, ...]]


class Viewing(QObject):
    """Draws one page at a time; a new request cancels the one before."""

    def __init__(self, pages: Pages, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pages = pages
        self._tasks = tasks
        self._token = CancelToken()
        self._drawn: OrderedDict[_Page, DrawnPage] = OrderedDict()
        tasks.closing.connect(self.stop)

    def open(
        self, sha256: str, name: str, done: Callable[[OpenedFile], object], failed: Failed
    ) -> None:
        """Open the stored content of a file."""
        self.stop()
        self._tasks.run(lambda: self._pages.open(sha256, name), done, failed, on=VIEWING)

    def draw(
        self,
        file: OpenedFile,
        place: Location,
        width: int,
        spans: Sequence[TextSpan],
        done: Callable[[DrawnPage], object],
        failed: Failed,
    ) -> None:
        """Draw a page `width` pixels wide; only the latest request is answered."""
        self.stop()
        key = file.document.sha256, place.number, width, tuple(spans)
        known = self._drawn.get(key)
        if known is not None:
            self._drawn.move_to_end(key)
            done(known)
            return
        token = self._token = CancelToken()

        def store(page: DrawnPage) -> None:
            self._drawn[key] = page
            while len(self._drawn) > _REMEMBERED:
                self._drawn.popitem(last=False)
            if not token.cancelled:
                done(page)

        def fail(error: Exception) -> None:
            if not isinstance(error, Cancelled) and not token.cancelled:
                failed(error)

        self._tasks.run(
            lambda: self._pages.draw(file, place, width, spans, token), store, fail, on=VIEWING
        )

    def stop(self) -> None:
        """Cancel the current drawing."""
        self._token.cancel()

    def forget(self) -> None:
        """Cancel the current drawing, and drop all drawn pages."""
        self.stop()
        self._drawn.clear()
