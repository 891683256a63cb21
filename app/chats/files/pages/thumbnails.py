"""Thumbnails of attached pictures, show_drawn on another thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, Qt
from PySide6.QtGui import QImage, QImageReader, QPixmap

from app.chats.files.pages.chip import THUMBNAIL, FileChip
from app.kit.look.scale import scaled

if TYPE_CHECKING:
    from app.chats.composer.presenters.draft_files import DraftFiles
    from app.documents.values.documents import Attachment

_MOST = 64


class Thumbnails(QObject):
    """The thumbnails on chips, with a cache of the last ones."""

    def __init__(self, files: DraftFiles, parent: QObject) -> None:
        super().__init__(parent)
        self._files = files
        self._cache: OrderedDict[tuple[str, int], QPixmap] = OrderedDict()

    def put(self, chip: FileChip, file: Attachment) -> None:
        """Show a picture on its chip, now or when it is show_drawn; other files keep their icon."""
        if file.kind.medium != "image":
            return
        side = scaled(THUMBNAIL)
        ratio = chip.devicePixelRatioF()
        key = (file.sha256, round(side * ratio))
        if key in self._cache:
            self._cache.move_to_end(key)
            chip.show_picture(self._cache[key])
            return

        def show_drawn(image: QImage | None) -> None:
            if image is None:
                return
            picture = QPixmap.fromImage(image)
            picture.setDevicePixelRatio(ratio)
            self._cache[key] = picture
            while len(self._cache) > _MOST:
                self._cache.popitem(last=False)
            if shiboken6.isValid(chip):
                chip.show_picture(picture)

        draw: Callable[[bytes], QImage | None] = partial(small, side=round(side * ratio))
        self._files.draw_preview(file.sha256, draw, show_drawn)


def small(data: bytes, side: int) -> QImage | None:
    """Draw a picture with `side` pixels on its longer side; return None if it cannot be read."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    image = QImageReader(buffer).read()
    if image.isNull():
        return None
    keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    return image.scaled(side, side, keep, smooth)
