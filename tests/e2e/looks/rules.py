"""Faults in the look of a window, in sentences that name the widget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStyle,
    QStyleOptionComboBox,
    QTextBrowser,
    QWidget,
)

from app.kit.look.scale import scaled
from app.kit.look.theme import COLUMN
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.page_head import BackLink, PageHead
from tests.e2e.looks import ink

READABLE, LARGE_READABLE = 4.5, 3.0
"""WCAG 2.1, 1.4.3; disabled text has to reach the lower one, though it need not."""
LARGE_PIXELS = 24
FLOATING = frozenset(
    {"toast", "jumpToNewest", "rowActions", "messageRing", "promptPopup", "contextCard"}
)
"""Widgets that lie over others on purpose."""
MOST_ROWS = 60
"""The most rows of a list that are checked; more than a window shows."""
_SLACK = 1


@dataclass(frozen=True)
class Shown:
    """The visible parts of a window."""

    window: QWidget
    parts: list[QWidget]

    @classmethod
    def of(cls, window: QWidget) -> Shown:
        """Return the visible parts of a window: not scrolled away, not in another window."""
        parts = [
            widget
            for widget in window.findChildren(QWidget)
            if widget.isVisible()
            and widget.window() is window
            and not widget.visibleRegion().isEmpty()
        ]
        return cls(window, parts)


def faults(window: QWidget) -> list[str]:
    """Return all faults in the visible parts of a window."""
    shown = Shown.of(window)
    return [*misplaced(shown), *unreadable(shown), *deviating(shown)]


def misplaced(shown: Shown) -> Iterator[str]:
    """Yield parts that are cut, covered, outside or too wide, in any colours."""
    yield from clipped(shown)
    yield from outside(shown)
    yield from overlapping(shown)
    yield from scrolling_across(shown)


def clipped(shown: Shown) -> Iterator[str]:
    """Yield text that has too little room, and does not end in “…” on purpose."""
    for widget in (shown.window, *shown.parts):
        needs = _room_needed(widget)
        if needs is None:
            continue
        across, down = needs.width() - widget.width(), needs.height() - widget.height()
        if across > _SLACK or down > _SLACK:
            yield f"{name_of(widget)} is clipped by {max(across, 0)} x {max(down, 0)} pixels"


def outside(shown: Shown) -> Iterator[str]:
    """Yield parts that lie outside their parent, or are squeezed below their minimum size."""
    for widget in shown.parts:
        parent = widget.parentWidget()
        if parent is None or widget.isWindow() or _floats(widget):
            continue
        area = parent.parentWidget()
        if isinstance(area, QAbstractScrollArea) or isinstance(parent, QAbstractItemView):
            continue
        elif (
            not parent.rect().adjusted(-_SLACK, -_SLACK, _SLACK, _SLACK).contains(widget.geometry())
        ):
            yield f"{name_of(widget)} at {_spot(widget.geometry())} is outside {name_of(parent)}"


def overlapping(shown: Shown) -> Iterator[str]:
    """Yield neighbours that overlap."""
    for parent in (shown.window, *shown.parts):
        parts = [it for it in parent.children() if isinstance(it, QWidget)]
        seen = [it for it in parts if it.isVisible() and not it.isWindow() and not _floats(it)]
        if isinstance(parent, QAbstractScrollArea | QLineEdit | QComboBox | QSplitter):
            continue
        for one, other in combinations(seen, 2):
            shared = one.geometry().intersected(other.geometry())
            if shared.width() > _SLACK and shared.height() > _SLACK:
                yield f"{name_of(one)} and {name_of(other)} overlap at {_spot(shared)}"


def scrolling_across(shown: Shown) -> Iterator[str]:
    """Yield pages that are wider than their window; tables and lines of code may be."""
    for area in shown.parts:
        if isinstance(area, QScrollArea) and area.horizontalScrollBar().maximum() > 0:
            yield f"{name_of(area)} has to be scrolled to the side"


def deviating(shown: Shown) -> Iterator[str]:
    """Yield what a page does otherwise than the others: its width, bright buttons, ways back."""
    heads = [it for it in shown.parts if isinstance(it, PageHead)]
    for head in heads:
        left = head.mapTo(shown.window, QPoint()).x()
        for page in shown.parts:
            # A welcome or a panel beside the page has no head.
            if isinstance(page, PartPage):
                beside = page.middle.mapTo(shown.window, QPoint()).x() - left
                if beside or page.middle.width() not in (head.width(), scaled(COLUMN)):
                    yield f"{name_of(page)} is {page.middle.width()} wide, its head {head.width()}"
    primary = [it for it in shown.parts if it.property("look") == "primary"]
    if len(primary) > 1:
        yield f"{', '.join(map(name_of, primary))}: only one button may be bright"
    links = [it for it in shown.parts if isinstance(it, BackLink)]
    backs = [*(head.back for head in heads if head.back.isVisible()), *links]
    if heads and len(backs) != 1:
        yield f"{', '.join(map(name_of, backs)) or 'no button'}: there is one way back"


def unreadable(shown: Shown) -> Iterator[str]:
    """Yield text whose colour is too near to its background, as it is drawn."""
    window = shown.window
    picture = ink.looked_at(window)
    scale = window.devicePixelRatioF()
    above = [it for it in shown.parts if _floats(it)]
    for widget in shown.parts:
        for part in _texts(widget):
            place = QRect(widget.mapTo(window, part.topLeft()), part.size())
            place &= _seen(widget, window)
            least = LARGE_READABLE if _is_large(widget) else READABLE
            if place.width() < 4 or place.height() < 8 or _is_behind(widget, place, above):
                continue
            scaled = QRect(place.topLeft() * scale, place.size() * scale)
            rough = ink.crop(picture, scaled)
            if _is_readable(rough.tobytes(), rough.shape, least):
                continue
            close = ink.looked_at_closely(window, place)
            for line in ink.lines(close):
                ratio = ink.contrast(line)
                if ratio is not None and ratio < least and len(line) > 4 * ink.FINE:
                    yield f"{name_of(widget)} has a contrast of {ratio:.1f}, less than {least}"
                    break


def deaf_to_enter(shown: Shown) -> Iterator[str]:
    """Buttons that have the focus and are not pressed by Enter; nothing is carried out."""
    for button in shown.parts:
        if not isinstance(button, QAbstractButton) or not button.isEnabled():
            continue
        is_choice = button.group() is not None or button.autoExclusive()
        has_tab = bool(button.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if has_tab and not is_choice and not _is_pressed_by_enter(button):
            yield f"{name_of(button)} is not pressed by Enter"


def _is_pressed_by_enter(button: QAbstractButton) -> bool:
    was_checkable, was_checked = button.isCheckable(), button.isChecked()
    button.blockSignals(True)
    button.setCheckable(True)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Return)
    pressed = button.isChecked() != was_checked
    button.setChecked(was_checked)
    button.setCheckable(was_checkable)
    button.blockSignals(False)
    return pressed


@lru_cache(maxsize=2_000)
def _is_readable(picture: bytes, shape: tuple[int, ...], least: float) -> bool:
    """Return whether every line of text has enough contrast; most pages look largely alike."""
    found = ink.lines(np.frombuffer(picture, np.uint8).reshape(shape))
    return all((ink.contrast(line) or least) >= least for line in found)


def without_next_step(page: QWidget) -> Iterator[str]:
    """Yield an empty page's missing sentence, and its missing button for the next step."""
    sentences = [
        label
        for label in page.findChildren(QLabel)
        if label.isVisible() and label.text().rstrip().endswith((".", "…", "!", "?"))
    ]
    if not sentences:
        yield f"{name_of(page)} is empty and says nothing"
    steps = [
        button
        for button in page.findChildren(QPushButton)
        if button.isVisible() and button.isEnabled() and button.text() and not button.isCheckable()
    ]
    if not steps:
        yield f"{name_of(page)} is empty and offers nothing to do"


def _room_needed(widget: QWidget) -> QSize | None:
    """Return the size at which all of a widget's text is visible; None if it need not be."""
    if isinstance(widget, ElidedLabel):
        return None
    if isinstance(widget, QMenu):
        return widget.sizeHint()
    if isinstance(widget, QLabel) and widget.text():
        if widget.wordWrap():
            return QSize(_longest_word(widget), widget.heightForWidth(widget.width()))
        return widget.sizeHint()
    if isinstance(widget, QAbstractButton) and widget.text():
        return widget.sizeHint() if not widget.toolTip() else widget.minimumSize()
    if isinstance(widget, QComboBox):
        option = QStyleOptionComboBox()
        option.initFrom(widget)
        field = widget.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox,
            option,
            QStyle.SubControl.SC_ComboBoxEditField,
            widget,
        )
        missing = _width(widget, widget.currentText()) - field.width()
        return QSize(widget.width() + missing, widget.height())
    if isinstance(widget, QLineEdit) and not widget.text() and widget.placeholderText():
        free = widget.contentsRect().width() - _SLACK * 4
        return QSize(
            widget.width() + _width(widget, widget.placeholderText()) - free, widget.height()
        )
    return None


def _longest_word(label: QLabel) -> int:
    margins = label.width() - label.contentsRect().width()
    words = label.text().split() if label.text().isascii() else []
    return margins + max((_width(label, word) for word in words), default=0)


def _texts(widget: QWidget) -> Iterator[QRect]:
    """Yield the places in a widget where text is drawn by itself."""
    if isinstance(widget, QLabel | QAbstractButton) and widget.text():
        inner = widget.contentsRect()
        if isinstance(widget, QAbstractButton) and not widget.icon().isNull():
            yield _behind_icon(widget)
        else:
            yield inner.adjusted(3, 2, -3, -2) if isinstance(widget, QAbstractButton) else inner
    elif isinstance(widget, QTextBrowser):
        yield from _lines_of(widget)
    elif isinstance(widget, QLineEdit | QPlainTextEdit | QComboBox):
        yield widget.contentsRect().adjusted(3, 3, -3, -3)
    elif isinstance(widget, QAbstractItemView):
        model = widget.model()
        top = widget.viewport().pos()
        for row in range(min(model.rowCount(widget.rootIndex()), MOST_ROWS)):
            index = model.index(row, 0, widget.rootIndex())
            place = widget.visualRect(index).translated(top)
            if place.height() > 0:
                yield place.adjusted(6, 4, -6, -4)


def _lines_of(browser: QTextBrowser) -> Iterator[QRect]:
    """Yield each line of a document, without the frames, bars and rules around it."""
    document = browser.document()
    shift = -QPoint(browser.horizontalScrollBar().value(), browser.verticalScrollBar().value())
    block = document.begin()
    while block.isValid():
        layout = block.layout()
        corner = document.documentLayout().blockBoundingRect(block).topLeft()
        for at in range(layout.lineCount()):
            line = layout.lineAt(at).naturalTextRect().translated(corner).toAlignedRect()
            yield line.translated(shift + browser.viewport().pos())
        block = block.next()


def _behind_icon(button: QAbstractButton) -> QRect:
    """Return the place of the text of a button with an icon before it."""
    inner = button.contentsRect()
    text = _width(button, button.text())
    left = button.property("look") in {"quiet", "place", "thoughts"}
    start = 12 if left else max(0, (inner.width() - text - button.iconSize().width() - 4) // 2)
    first = inner.left() + start + button.iconSize().width() + 4
    return QRect(first, inner.top() + 3, min(text, inner.right() - first - 3), inner.height() - 6)


def _seen(widget: QWidget, window: QWidget) -> QRect:
    """Return the part of the window in which a widget is not cut off by its parents."""
    seen = widget.visibleRegion().boundingRect()
    return QRect(widget.mapTo(window, seen.topLeft()), seen.size())


def _is_behind(widget: QWidget, place: QRect, above: list[QWidget]) -> bool:
    """Return whether something floats over a part of the window."""
    return any(
        place.intersects(QRect(it.mapTo(it.window(), QPoint()), it.size()))
        for it in above
        if it is not widget and not it.isAncestorOf(widget)
    )


def _is_large(widget: QWidget) -> bool:
    return not widget.isEnabled() or widget.fontInfo().pixelSize() >= LARGE_PIXELS


def _width(widget: QWidget, text: str) -> int:
    lines = text.replace("&", "").splitlines() or [""]
    return max(widget.fontMetrics().horizontalAdvance(line) for line in lines)


def _floats(widget: QWidget) -> bool:
    return widget.objectName() in FLOATING


def _spot(place: QRect) -> str:
    corner: QPoint = place.topLeft()
    return f"{corner.x()},{corner.y()} {place.width()}x{place.height()}"


def name_of(widget: QWidget) -> str:
    """Return a name by which a person finds the widget."""
    text = widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""
    around = widget.parentWidget()
    inside = "" if widget.isWindow() or around is None else f" in {around.objectName() or '?'}"
    named = widget.objectName() or type(widget).__name__
    return f"{named}{f' “{text[:40]}”' if text else ''}{inside}"
