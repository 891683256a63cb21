"""Thumbnails of attached pictures, drawn on another thread."""

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
        self._kept: OrderedDict[tuple[str, int], QPixmap] = OrderedDict()

    def put(self, chip: FileChip, file: Attachment) -> None:
        """Show a picture on its chip, now or when it is drawn; other files keep their icon."""
        if file.kind.medium != "image":
            return
        side = scaled(THUMBNAIL)
        ratio = chip.devicePixelRatioF()
        key = (file.sha256, round(side * ratio))
        if key in self._kept:
            self._kept.move_to_end(key)
            chip.show_picture(self._kept[key])
            return

        def drawn(image: QImage | None) -> None:
            if image is None:
                return
            picture = QPixmap.fromImage(image)
            picture.setDevicePixelRatio(ratio)
            self._kept[key] = picture
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
            if shiboken6.isValid(chip):
                chip.show_picture(picture)

        draw: Callable[[bytes], QImage | None] = partial(small, side=round(side * ratio))
        self._files.draw_preview(file.sha256, draw, drawn)


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
