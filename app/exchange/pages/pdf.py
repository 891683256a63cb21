"""Writes chats as a PDF with Qt's own means, with selectable text and page numbers.

It can be called on any thread, but needs a QGuiApplication.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import (
    QByteArray,
    QEventLoop,
    QMarginsF,
    QPointF,
    QRectF,
    QSize,
    QSizeF,
    Qt,
    QUrl,
)
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFontDatabase,
    QImage,
    QPageLayout,
    QPageSize,
    QPainter,
    QPalette,
    QPdfWriter,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtSvg import QSvgRenderer

from app.exchange.values.chat_page import paper
from app.exchange.values.export import ExportedChat, ExportOptions
from app.markdown.typeset import typeset

_DPI = 96
"""The resolution of the layout: a pixel of the page is one of a screen."""
_MARGIN_MM = 20.0
_FOOT = 36.0
"""Pixels below the text, for the page number."""
_FORMULA_SIZE = 14.0
_SHARPER = 4
"""Pixels of a formula's picture for each pixel of the page."""
_TINY = 0.1
"""Pixels by which the end of a line can miss the edge of a page, as lengths are rounded."""
_GREY = QColor("#62676e")
_INK = QColor("#1f2328")


def print_chats(chats: Sequence[ExportedChat], options: ExportOptions, path: Path) -> None:
    """Print chats, each from a new page.

    Raises:
        OSError: The file cannot be written.
    """
    # Qt does not report why it cannot write, but opening the file does.
    with path.open("wb"):
        pass
    writer = QPdfWriter(str(path))
    writer.setResolution(_DPI)
    writer.setPageLayout(
        QPageLayout(
            QPageSize(QPageSize.PageSizeId.A4),
            QPageLayout.Orientation.Portrait,
            QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM / 2),
            QPageLayout.Unit.Millimeter,
        )
    )
    writer.setTitle(chats[0].chat.title if len(chats) == 1 else "Chats")
    writer.setCreator("Hearth")
    # Laying out text starts a timer, which a thread not started by Qt supports only with an event
    # loop.
    timers = QEventLoop()
    painter = QPainter()
    if not painter.begin(writer):
        raise OSError(errno.EIO, "the PDF could not be begun")
    number = 0
    for exported in chats:
        number = _print(painter, writer, exported, options, number)
    if not painter.end():
        raise OSError(errno.ENOSPC, "the PDF could not be written to its end")
    del timers


def _print(
    painter: QPainter,
    writer: QPdfWriter,
    exported: ExportedChat,
    options: ExportOptions,
    number: int,
) -> int:
    """Print one chat.

    Args:
        number: The number of the last page so far.

    Returns:
        The number of the last page.
    """
    width, height = float(writer.width()), float(writer.height()) - _FOOT
    document = QTextDocument()
    document.documentLayout().setPaintDevice(writer)
    # The window's font draws some hyphens and colons as glyphs that no PDF reader can copy.
    document.setDefaultFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont))
    document.setDocumentMargin(0)
    document.setPageSize(QSizeF(width, height))
    formulas = _Formulas(document)
    document.setHtml(paper(exported, options, formulas.draw))
    keep_lines_whole(document)
    context = QAbstractTextDocumentLayout.PaintContext()
    # Without a palette of its own, the text would have the colours of the window's theme.
    context.palette = QPalette(_INK, Qt.GlobalColor.white)
    for page in range(document.pageCount()):
        if number:
            writer.newPage()
        number += 1
        painter.save()
        painter.translate(QPointF(0, -page * height))
        context.clip = QRectF(0, page * height, width, height)
        painter.setClipRect(context.clip)
        document.documentLayout().draw(painter, context)
        painter.restore()
        painter.setPen(_GREY)
        foot = QRectF(0, height, width, _FOOT)
        painter.drawText(
            foot, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, str(number)
        )
    return number


def keep_lines_whole(document: QTextDocument) -> None:
    """Let each block that begins across the edge of two pages begin on the second one.

    Qt itself does so, but not after a table that ends less than a line above the edge.
    """
    height = document.pageSize().height()
    page_break = QTextBlockFormat()
    page_break.setPageBreakPolicy(QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)
    block = document.begin()
    while block.isValid():
        document.pageCount()  # lays out all pages, again after a change
        layout, cursor = block.layout(), QTextCursor(block)
        if block.text() and layout.lineCount() and cursor.currentTable() is None:
            line = layout.lineAt(0)
            top = layout.position().y() + line.y()
            bottom = top + line.height()
            if line.height() < height and top // height < (bottom - _TINY) // height:
                cursor.mergeBlockFormat(page_break)
        block = block.next()


class _Formulas:
    """Pictures of formulas, as resources of a document."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self._count = 0

    def draw(self, latex: str, inline: bool) -> str:
        drawn = typeset(latex, _FORMULA_SIZE, "#1f2328", inline=inline)
        if drawn is None:
            return ""
        size = QSize(round(drawn.width * _SHARPER), round(drawn.height * _SHARPER))
        image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        QSvgRenderer(QByteArray(drawn.svg)).render(painter)
        painter.end()
        name = f"formula:{self._count}"
        self._count += 1
        self._document.addResource(
            QTextDocument.ResourceType.ImageResource.value, QUrl(name), image
        )
        return (
            f'<img src="{name}" width="{drawn.width:.0f}" height="{drawn.height:.0f}"'
            ' style="vertical-align: middle">'
        )
