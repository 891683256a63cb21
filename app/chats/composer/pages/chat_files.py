"""The files of the open chat's next message, between the composer and the presenter."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, Qt, Signal
from PySide6.QtGui import QImage, QPainter

from app.chats.files.pages.thumbnails import Thumbnails
from app.kit.widgets.picking import FILES, pick

if TYPE_CHECKING:
    from app.chats.composer.pages.composer import Composer
    from app.chats.composer.presenters.draft_files import DraftFiles
    from app.chats.context.values.budget import ContextUse
    from app.chats.presenters.open_chat import OpenChat
    from app.documents.values.documents import Attachment
    from app.kit.notify import Notifier

_MOST_PIXELS: Final = 4_000_000
"""The same limit as for pictures from files: no model uses more pixels."""


class ChatFiles(QObject):
    """The files that the user chooses, drops or pastes for the message of the open chat.

    Signals:
        changed(): The message has other files.
        file_opened(sha256): The user wants to see a file.
    """

    changed = Signal()
    file_opened = Signal(str)

    def __init__(
        self,
        files: DraftFiles,
        composer: Composer,
        chat: OpenChat,
        notifier: Notifier,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._files = files
        self._composer = composer
        self._chat = chat
        self._attachments: tuple[Attachment, ...] = ()
        self._folder = Path.home()
        self.thumbnails = Thumbnails(files, self)
        strip = composer.attached
        strip.opened.connect(self.file_opened)
        strip.removed.connect(lambda file_id: files.remove(self._chat.id, file_id))
        strip.chip_added.connect(self.thumbnails.put)
        composer.enable_attaching()
        composer.attach.connect(self.choose)
        composer.edit.picture.connect(self.add_picture)
        composer.edit.large.connect(self.add_text)
        chat.opened.connect(self._show)
        chat.stored.connect(lambda: files.adopt(str(chat.id)))
        files.changed.connect(self._changed)
        files.failed.connect(notifier.error)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files of the next message that have been read."""
        return self._attachments

    def show_use(self, use: ContextUse | None) -> None:
        """Show the share of the context that each file takes."""
        self._composer.attached.show_use(use)

    def add(self, paths: Sequence[Path]) -> None:
        """Attach files to the message."""
        self._files.add(self._chat.id, paths)
        self._composer.focus()

    def add_dropped(self, paths: Sequence[Path], chat_id: str | None) -> None:
        """Attach files to the message of the chat that was open when they were dropped."""
        if chat_id == self._chat.id:
            self.add(paths)
        else:
            self._files.add(chat_id, paths)

    def add_picture(self, picture: QImage) -> None:
        """Attach a pasted picture to the message."""
        self.add_made(self.tr("Pasted picture"), partial(picture_bytes, picture))

    def add_text(self, text: str) -> None:
        """Attach a pasted text as a file."""
        self._files.add_text(self._chat.id, self.tr("Pasted text.txt"), text)

    def add_made(self, name: str, make: Callable[[], bytes]) -> None:
        """Attach data that is not in a file; see `DraftFiles.add_made`."""
        self._files.add_made(self._chat.id, name, make)

    def choose(self) -> None:
        """Let the user choose files."""
        pick(
            self._composer,
            "attachDialog",
            self.tr("Attach files"),
            FILES,
            self._attach_chosen,
            filters=[self.tr("All files (*)"), *self._filters()],
            start=self._folder,
        )

    def take(self) -> tuple[Attachment, ...]:
        """Take the files for a message that is being sent; see `DraftFiles.take`."""
        return self._files.take(self._chat.id)

    def put_back(self, files: Sequence[Attachment]) -> None:
        """Put files back, as their message could not be sent."""
        if files:
            self._files.put_back(self._chat.id, files)

    def sent(self, chat_id: str | None) -> None:
        """Save the files of a chat after those that were taken have been sent."""
        self._files.save(chat_id)

    def _filters(self) -> list[str]:
        return [
            self.tr("Documents")
            + " (*.pdf *.docx *.xlsx *.pptx *.rtf *.epub *.html *.htm *.eml *.mbox)",
            self.tr("Text and code")
            + " (*.txt *.md *.csv *.tsv *.json *.xml *.yaml *.toml *.py *.js *.ts *.c *.cpp *.h"
            " *.rs *.go *.java *.sql *.sh *.log)",
            self.tr("Pictures") + " (*.png *.jpg *.jpeg *.webp *.gif *.bmp *.tif *.tiff)",
            self.tr("Sounds") + " (*.wav *.mp3 *.flac)",
        ]

    def _attach_chosen(self, paths: Sequence[Path]) -> None:
        self._folder = paths[0].parent
        self.add(paths)
        self._composer.focus()

    def _changed(self, chat_id: str | None) -> None:
        if chat_id == self._chat.id:
            self._show()

    def _show(self) -> None:
        self._composer.attached.show_files(self._files.of(self._chat.id))
        attachments = self._files.attachments(self._chat.id)
        if attachments != self._attachments:
            self._attachments = attachments
            self.changed.emit()


def picture_bytes(image: QImage) -> bytes:
    """Return a picture as PNG, with a white background, and scaled down if it is large."""
    pixels = image.width() * image.height()
    if pixels > _MOST_PIXELS:
        width = int(image.width() * math.sqrt(_MOST_PIXELS / pixels))
        image = image.scaledToWidth(max(1, width), Qt.TransformationMode.SmoothTransformation)
    flat = QImage(image.size(), QImage.Format.Format_RGB888)
    flat.fill(Qt.GlobalColor.white)
    painter = QPainter(flat)
    painter.drawImage(0, 0, image)
    painter.end()
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    flat.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(content.data())
