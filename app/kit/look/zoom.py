"""Zoom: makes the pixel sizes given to widgets larger or smaller while they live.

The style sheet and the fonts are made anew for a zoom. What is left are the numbers that code
gives to widgets and layouts: margins, spacing, icons, fixed sizes. They are taken from each widget
when it is polished, which Qt does once, before it is first seen, and set again for each zoom. A
number that has changed in the meantime was worked out by the widget itself, and is left alone.
"""

from __future__ import annotations

from collections.abc import Callable

import shiboken6
from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QLayout, QMainWindow, QWidget

from app.kit.look.measures import measures_of
from app.kit.look.scale import set_zoom, zoom

_TAKEN = "zoomTaken"
"""The property with each measure of an object: as the design has it, and as it was set last."""

_POLISHED = Qt.WidgetAttribute.WA_WState_Polished
_DIRECT = Qt.FindChildOption.FindDirectChildrenOnly


class Zoom(QObject):
    """Keeps all widgets of the application at one zoom."""

    def __init__(self, app: QApplication, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self._watching = False

    def set(self, to: float) -> None:
        """1.0 is the usual size; the caller sets the fonts and the style sheet before."""
        before = zoom()
        set_zoom(self._app, to)
        if to != 1.0 and not self._watching:
            # Every event passes through a filter: only those who zoom pay for that.
            self._app.installEventFilter(self)
            self._watching = True
        if to == before:
            return
        seen = [
            widget
            for widget in self._app.allWidgets()
            if _is_ours(widget) and widget.testAttribute(_POLISHED)
        ]
        given = [_given(widget, to / before) for widget in seen]
        for widget in seen:
            _set(widget, to)
        # What the user gave is judged by the least sizes as they are now.
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        for give in given:
            give()
        for widget in self._app.allWidgets():
            # Whoever draws icons draws them anew for another theme.
            QApplication.sendEvent(widget, QEvent(QEvent.Type.PaletteChange))
        for widget in seen:
            # Whoever judges whether there is room judges it anew.
            QApplication.sendEvent(widget, QResizeEvent(widget.size(), widget.size()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Polish and isinstance(watched, QWidget):
            self._polish(watched)
        return False

    def _polish(self, widget: QWidget) -> None:
        """A widget is about to be seen first. Its parent may have grown by a layout with it."""
        if not _is_ours(widget):
            return
        _set(widget, zoom())
        parent = widget.parentWidget()
        if parent is not None and _is_ours(parent) and parent.testAttribute(_POLISHED):
            _set(parent, zoom())
        if widget.isWindow() and not isinstance(widget, QMainWindow):
            _resize(widget, zoom())


def _is_ours(widget: QWidget) -> bool:
    """Tell whether a widget is ours, not one that Qt made inside another and sizes itself.

    To ask such a one for its layout would also tie our own widgets in it to it, and end them for
    Python when it is let go of.
    """
    return bool(shiboken6.createdByPython(widget))


def _set(widget: QWidget, to: float) -> None:
    """A widget, its layout, and the layouts in that."""
    own = widget.layout()
    layouts = [own] if own is not None else []
    for layout in layouts:
        # Got from a layout's items, PySide ties what lies in it to these, which end at once.
        layouts += layout.findChildren(QLayout, options=_DIRECT)
    # The inner ones first: one without a spacing of its own has that of the layout around it.
    for layout in reversed(layouts):
        _set_one(layout, to)
    _set_one(widget, to)


def _set_one(thing: QWidget | QLayout, to: float) -> None:
    found = measures_of(thing)
    # A measure that the zoom has not touched is in the design's pixels.
    first = {name: [measure.read()] * 2 for name, measure in found.items()}
    taken: dict[str, list[int]] = first | (thing.property(_TAKEN) or {})
    # Known before the first is set: a widget may make another then, which has its parent set, too.
    thing.setProperty(_TAKEN, taken)
    for name, measure in found.items():
        design, last = taken[name]
        if measure.read() == last:
            measure.write(max(1, round(design * to)) if design else 0)
            taken[name] = [design, measure.read()]
    thing.setProperty(_TAKEN, taken)


def _given(widget: QWidget, ratio: float) -> Callable[[], object]:
    """Return what restores the size that the user gave to a dialog."""
    if widget.isWindow() and widget.isVisible() and not isinstance(widget, QMainWindow):
        return lambda: _resize(widget, ratio)
    return lambda: None


def _resize(window: QWidget, ratio: float) -> None:
    size: QSize = window.size() * ratio
    window.resize(size.boundedTo(window.screen().availableSize()))
