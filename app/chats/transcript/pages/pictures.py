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
    from app.kit.text.drawing import PictureRequest
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
        self._cache: OrderedDict[PictureRequest, QImage | None] = OrderedDict()
        self._bytes = 0
        self._waiting_views: dict[PictureRequest, list[MarkdownView]] = {}
        transcript.wanted.connect(self._provide)

    def _provide(self, view: MarkdownView) -> None:
        from app.kit.text.drawing import draw

        for request in view.missing():
            if request in self._cache:
                self._cache.move_to_end(request)
                view.put(request, self._cache[request])
            elif request in self._waiting_views:
                self._waiting_views[request].append(view)
            elif self._is_allowed(request):
                self._waiting_views[request] = [view]
                done = partial(self._drawn, request)
                self._tasks.run(
                    partial(draw, request), done, partial(self._failed, request), PICTURES
                )

    def _is_allowed(self, request: PictureRequest) -> bool:
        from app.markdown.local_files import is_named

        questions = (
            message.text for message in self._transcript.messages if message.role == "user"
        )
        return request.kind != "file" or is_named(request.source, questions)

    def _drawn(self, request: PictureRequest, image: QImage | None) -> None:
        self._cache[request] = image
        self._bytes += image.sizeInBytes() if image else 0
        while self._bytes > _MOST_BYTES and len(self._cache) > 1:
            _, old = self._cache.popitem(last=False)
            self._bytes -= old.sizeInBytes() if old else 0
        for view in self._waiting_views.pop(request):
            if shiboken6.isValid(view):
                view.put(request, image)

    def _failed(self, request: PictureRequest, error: Exception) -> None:
        del self._waiting_views[request]
        raise error
