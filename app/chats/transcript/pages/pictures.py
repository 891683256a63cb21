"""The pictures of a transcript's texts: drawn on another thread, and cached."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtGui import QImage

if TYPE_CHECKING:
    from app.chats.transcript.pages.transcript import Transcript
    from app.kit.tasks.tasks import Tasks
    from app.kit.text.drawing import Order
    from app.kit.text.markdown_view import MarkdownView

PICTURES = "pictures"
_MOST_BYTES = 64_000_000


class Pictures(QObject):
    """The pictures of a transcript.

    An image file is shown only if the user has named it in the same chat; see `local_files`.
    """

    def __init__(self, tasks: Tasks, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._tasks = tasks
        self._transcript = transcript
        self._kept: OrderedDict[Order, QImage | None] = OrderedDict()
        self._bytes = 0
        self._awaited: dict[Order, list[MarkdownView]] = {}
        transcript.wanted.connect(self._bring)

    def _bring(self, view: MarkdownView) -> None:
        from app.kit.text.drawing import draw

        for order in view.missing():
            if order in self._kept:
                self._kept.move_to_end(order)
                view.put(order, self._kept[order])
            elif order in self._awaited:
                self._awaited[order].append(view)
            elif self._is_allowed(order):
                self._awaited[order] = [view]
                done = partial(self._drawn, order)
                self._tasks.run(partial(draw, order), done, partial(self._failed, order), PICTURES)

    def _is_allowed(self, order: Order) -> bool:
        from app.markdown.local_files import is_named

        asked = (message.text for message in self._transcript.messages if message.role == "user")
        return order.kind != "file" or is_named(order.source, asked)

    def _drawn(self, order: Order, image: QImage | None) -> None:
        self._kept[order] = image
        self._bytes += image.sizeInBytes() if image else 0
        while self._bytes > _MOST_BYTES and len(self._kept) > 1:
            _, old = self._kept.popitem(last=False)
            self._bytes -= old.sizeInBytes() if old else 0
        for view in self._awaited.pop(order):
            if shiboken6.isValid(view):
                view.put(order, image)

    def _failed(self, order: Order, error: Exception) -> None:
        del self._awaited[order]
        raise error
