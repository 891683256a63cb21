"""The window that shows a file, with the place of a quote marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, QSizeF, Qt
from PySide6.QtGui import QCloseEvent, QImage, QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.base.language import in_full
from app.documents.pages.words import place_words
from app.documents.values.documents import DocumentKind, LocationKind, TextSpan
from app.documents.values.pages import DrawnPage, OpenedFile, TextPart, text_parts
from app.documents.viewer.pages.canvas import STEP, PictureCanvas
from app.documents.viewer.pages.text_page import TextPage
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.timer import timer
from app.kit.widgets.dialog import EnterDialog
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from engines.errors import UserError

if TYPE_CHECKING:
    from app.documents.viewer.presenters import Viewing
    from app.kit.notify import Notifier

_WIDTH, _HEIGHT = 900, 760
_POINT = 96 / 72
"""Pixels per point of a page in its own size."""
_PAGE = QSizeF(612, 792)
"""The page size in points that is assumed until the real one is known."""
_CALM_MS = 150
"""Milliseconds without zooming before a page is drawn again."""
_STEP_PX = 200
"""Pages are drawn in multiples of this width, in pixels, so that drawn ones can be reused."""
_TEXT_STEPS = 5
"""Maximum number of steps to zoom a text in or out."""


class FileViewer(EnterDialog):
    """Shows the pages of a file as pictures, or its text; keeps nothing after it is closed.

    Page Up and Page Down turn pages, Home and End go to the first and the last; plus, minus and 0
    zoom, and F fits the page to the window.
    """

    def __init__(self, viewing: Viewing, notifier: Notifier, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("fileViewer")
        self._viewing = viewing
        self._notifier = notifier
        self._file: OpenedFile | None = None
        self._parts: list[TextPart] = []
        self._at = 0
        self._spans: tuple[TextSpan, ...] = ()
        self._asked_width = 0
        self._size = _PAGE * _POINT
        self._goes_to_mark = False
        self._text_steps = 0
        self.canvas = PictureCanvas()
        self.text = TextPage()
        self._problem = Label(name="viewerProblem", wrap=True, selectable=True)
        self._problem.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        for page in (self.canvas, self.text, self._problem):
            self._stack.addWidget(page)
        self._note = Label("", "caution", name="viewerNote", wrap=True)
        self._note.setContentsMargins(2 * GRID, 0, 2 * GRID, GRID)
        self._calm = timer(self, _CALM_MS, self._draw)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self._tools())
        column.addWidget(self._note)
        column.addWidget(self._stack, 1)
        self.canvas.scaled.connect(self._scaled)
        room = self.screen().availableSize()
        self.resize(QSize(scaled(_WIDTH), scaled(_HEIGHT)).boundedTo(room))

    def show_file(self, sha256: str, name: str, spans: Sequence[TextSpan] = ()) -> None:
        """Open a file at the first of these places, if there are any."""
        self._file = None
        self._parts = []
        self._spans = tuple(spans)
        self.setWindowTitle(name)
        self._say("")
        self._stack.setCurrentWidget(self.canvas)
        self.canvas.show_size(QSizeF())
        self._show_tools()
        self._viewing.open(sha256, name, self._opened, self._failed)
        self.show()
        self.raise_()
        self.activateWindow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Turn pages with Page Up and Page Down, and zoom with +, - and 0."""
        key = event.key()
        if key == Qt.Key.Key_PageDown:
            self._turn(self._at + 1)
        elif key == Qt.Key.Key_PageUp:
            self._turn(self._at - 1)
        elif key == Qt.Key.Key_Home:
            self._turn(0)
        elif key == Qt.Key.Key_End:
            self._turn(len(self._parts) - 1)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self._zoom(1)
        elif key == Qt.Key.Key_Minus:
            self._zoom(-1)
        elif key == Qt.Key.Key_0:
            self._own_size()
        elif key == Qt.Key.Key_F:
            self._fit_window()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Release the file when the window closes."""
        super().closeEvent(event)
        self._let_go()

    def reject(self) -> None:
        """Close the viewer and release the file."""
        super().reject()
        self._let_go()

    def _let_go(self) -> None:
        """Release all pictures and text."""
        self._calm.stop()
        self._viewing.forget()
        self.canvas.show_size(QSizeF())
        self.text.clear()
        self._file = None

    def _tools(self) -> FlowRow:
        self._before = IconButton("left", self.tr("Previous page"), "pageBefore")
        self._before.clicked.connect(lambda: self._turn(self._at - 1))
        self._after = IconButton("forward", self.tr("Next page"), "pageAfter")
        self._after.clicked.connect(lambda: self._turn(self._at + 1))
        self._place = ElidedLabel("", "strong", "viewerPlace")
        self._smaller = IconButton("minus", self.tr("Smaller"), "zoomOut")
        self._smaller.clicked.connect(lambda: self._zoom(-1))
        self._share = Label("", "muted", name="zoomShare")
        self._larger = IconButton("plus", self.tr("Larger"), "zoomIn")
        self._larger.clicked.connect(lambda: self._zoom(1))
        self._fit = IconButton("fit", self.tr("Fit to the window"), "zoomFit")
        self._fit.clicked.connect(self._fit_window)
        self._own = LabelledButton("screen", self.tr("100 %"), "zoomOwn", look="quiet")
        self._own.setAccessibleName(self.tr("Show at original size"))
        self._own.clicked.connect(self._own_size)
        self._as_text = LabelledButton("log", self.tr("Text"), "viewerText", look="quiet")
        self._as_text.setAccessibleName(self.tr("Show the page's text"))
        self._as_text.setCheckable(True)
        self._as_text.toggled.connect(lambda _: self._show_part())
        row = FlowRow(
            self._before,
            self._after,
            self._place,
            self._smaller,
            self._share,
            self._larger,
            self._fit,
            self._own,
            self._as_text,
        )
        row.setContentsMargins(GRID, 0, GRID, 0)
        return row

    def _opened(self, file: OpenedFile) -> None:
        if not self.isVisible():
            return
        self._file = file
        document = file.document
        self._parts = list(text_parts(document))
        if document.kind is DocumentKind.IMAGE:
            self._show_picture(document.media)
            return
        if not self._parts:
            self._show_problem(self.tr("This file has nothing to show."))
            return
        first = self._spans[0] if self._spans else None
        at = 0
        if first is not None:
            for number, part in enumerate(self._parts):
                if part.place.number == first.place.number and part.start <= first.start:
                    at = number
        self._at = at
        self._goes_to_mark = bool(self._spans)
        self.canvas.set_fit("width")
        self._show_part()
        self._focus()

    def _show_picture(self, data: bytes) -> None:
        image = QImage.fromData(data)
        if image.isNull():
            self._show_problem(self.tr("The picture cannot be shown."))
            return
        ratio = self.devicePixelRatioF()
        self._stack.setCurrentWidget(self.canvas)
        self.canvas.show_size(QSizeF(image.size()) / ratio)
        self.canvas.set_fit("whole")
        self.canvas.show_picture(image)
        self._name(self.windowTitle())
        self._show_tools()
        self._focus()

    def _turn(self, to: int) -> None:
        if self._file is not None and 0 <= to < len(self._parts) and to != self._at:
            self._at = to
            self._goes_to_mark = bool(self._marked())
            if not self._goes_to_mark:
                self.canvas.verticalScrollBar().setValue(0)
            self._show_part()

    def _show_part(self) -> None:
        """Show the current page, as a picture if there is one and it is wanted."""
        if self._file is None or not self._parts:
            return
        part = self._parts[self._at]
        self._name(place_words(part.place))
        if self._file.has_pages and not self._as_text.isChecked():
            self._say("")
            self._stack.setCurrentWidget(self.canvas)
            self.canvas.show_size(self._size)
            self._draw()
        else:
            self._show_text(part)
        self._show_tools()

    def _show_text(self, part: TextPart) -> None:
        file = self._file
        if file is None:
            return
        self._viewing.stop()
        text = file.document.sections[part.place.number - 1].text[part.start : part.end]
        length = len(text)
        places = [
            (max(0, span.start - part.start), min(length, span.end - part.start))
            for span in self._marked()
        ]
        self.text.show_text(text, [place for place in places if place[0] < place[1]])
        self._stack.setCurrentWidget(self.text)
        words = ""
        if file.document.kind is DocumentKind.PDF and not file.has_pages:
            words = self.tr("No copy of the file is stored, so this is its text.")
            if file.copy == "changed":
                words = self.tr(
                    "The file has changed since it was read. This is the text as it was then."
                )
        self._say(words)
        if not text.strip():
            self._say(self.tr("There is no text here."))

    def _draw(self) -> None:
        """Draw the page for its displayed size."""
        file = self._file
        if file is None or not file.has_pages or self._stack.currentWidget() is not self.canvas:
            return
        width = max(_STEP_PX, math.ceil(self.canvas.shown_width / _STEP_PX) * _STEP_PX)
        self._asked_width = width
        self._viewing.draw(
            file, self._parts[self._at].place, width, self._marked(), self._drawn, self._failed
        )

    def _drawn(self, page: DrawnPage) -> None:
        image = QImage(
            page.pixels, page.width, page.height, page.stride, QImage.Format.Format_BGR888
        ).copy()
        size = QSizeF(*page.points) * _POINT
        if size != self._size:
            self._size = size
            self.canvas.show_size(size)
        self.canvas.show_picture(image, page.marks or ())
        if page.marks is None:
            self._say(self.tr("The words are on this page, but their exact place is uncertain."))
        if self._goes_to_mark:
            self._goes_to_mark = False
            self.canvas.show_mark()
        if self.canvas.shown_width > self._asked_width:
            self._calm.start()  # the page was drawn for the size of the previous one

    def _marked(self) -> tuple[TextSpan, ...]:
        """Return the places to mark on the current page."""
        if not self._parts:
            return ()
        number = self._parts[self._at].place.number
        return tuple(span for span in self._spans if span.place.number == number)

    def _scaled(self, _scale: float) -> None:
        self._show_tools()
        if self.canvas.shown_width > self._asked_width and self._asked_width:
            self._calm.start()

    def _zoom(self, by: int) -> None:
        if self._stack.currentWidget() is self.text:
            self._text_steps = min(_TEXT_STEPS, max(-_TEXT_STEPS, self._text_steps + by))
            self.text.set_scale(STEP**self._text_steps)
            self._show_tools()
        else:
            self.canvas.step(by)

    def _own_size(self) -> None:
        if self._stack.currentWidget() is self.text:
            self._zoom(-self._text_steps)
        else:
            self.canvas.set_scale(1.0)

    def _fit_window(self) -> None:
        """Fit the page to the window's width; on the next call, the whole page."""
        self.canvas.set_fit("whole" if self.canvas.fit == "width" else "width")

    def _show_tools(self) -> None:
        several, is_text = len(self._parts) > 1, self._stack.currentWidget() is self.text
        for button in (self._before, self._after):
            button.setVisible(several)
        self._before.setEnabled(self._at > 0)
        self._after.setEnabled(self._at < len(self._parts) - 1)
        self._fit.setVisible(not is_text)
        self._as_text.setVisible(self._file is not None and self._file.has_pages)
        scale = STEP**self._text_steps if is_text else self.canvas.scale
        self._share.setText(self.tr("{value} %").format(value=round(100 * scale)))
        words = ""
        if self._parts:
            words = self._place_words()
        self._place.setText(words)

    def _place_words(self) -> str:
        place, count = self._parts[self._at].place, len(self._parts)
        if place.kind is LocationKind.PAGE and place.number == self._at + 1:
            return self.tr("Page {number} of {count}").format(number=place.number, count=count)
        words = place_words(place)
        words = words[:1].upper() + words[1:]
        if count == 1:
            return words
        return self.tr("{words} · {at} of {count}").format(
            words=words, at=self._at + 1, count=count
        )

    def _name(self, words: str) -> None:
        """Set the accessible name for screen readers."""
        name = self.windowTitle()
        for part in (self.canvas, self.text):
            part.setAccessibleName(words if words == name else f"{name}, {words}")

    def _say(self, words: str) -> None:
        self._note.setText(words)
        self._note.setVisible(bool(words))

    def _failed(self, error: Exception) -> None:
        if not self.isVisible():
            return
        if isinstance(error, UserError):
            self._show_problem(in_full(error))
        else:
            self._notifier.error(error)

    def _show_problem(self, words: str) -> None:
        """Show why a page cannot be shown, with its text if there is one."""
        part = self._parts[self._at] if self._parts else None
        if part is not None and self._file is not None:
            self._show_text(part)
            self._say(words)
        else:
            self._problem.setText(words)
            self._stack.setCurrentWidget(self._problem)
        self._show_tools()

    def _focus(self) -> None:
        widget = self._stack.currentWidget()
        if widget is not None:
            widget.setFocus()
