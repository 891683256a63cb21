"""Zoom: changes the pixel sizes of existing widgets.

The style sheet and the fonts are made again for each zoom. This module handles the sizes that
code gives to widgets and layouts: margins, spacing, icons, fixed sizes. It reads them from each
widget when Qt polishes it, which happens once, before the widget is first shown, and sets them
again for each zoom. If a size has changed in the meantime, the widget has computed it itself, and
it is left alone.
"""

from __future__ import annotations

from collections.abc import Callable

import shiboken6
from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QLayout, QMainWindow, QWidget

from app.kit.look.measures import measures_of
from app.kit.look.scale import set_zoom, zoom

_SIZES = "zoomTaken"
"""The property with each size of an object: its value in the design and the value set last."""

_POLISHED = Qt.WidgetAttribute.WA_WState_Polished
_DIRECT = Qt.FindChildOption.FindDirectChildrenOnly


class Zoom(QObject):
    """The zoom of all widgets of the application."""

    def __init__(self, app: QApplication, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app

    def pause(self) -> None:
        """Stop watching until another zoom is set.

        A new style sheet sends thousands of events. A widget that is polished meanwhile is scaled
        by `set`, like all others.
        """
        self._app.removeEventFilter(self)

    def set(self, to: float) -> None:
        """Set the zoom of all widgets; call it after setting the fonts and the style sheet.

        Args:
            to: The zoom; 1.0 is the usual size.
        """
        old_zoom = zoom()
        set_zoom(self._app, to)
        if to != 1.0:
            # Every event passes through the filter: only users who zoom pay for that.
            self._app.installEventFilter(self)
        if to == old_zoom:
            return
        shown = [
            widget
            for widget in self._app.allWidgets()
            if _is_of_hearth(widget) and widget.testAttribute(_POLISHED)
        ]
        restorers = [_size_restorer(widget, to / old_zoom) for widget in shown]
        for widget in shown:
            _scale(widget, to)
        # The windows' sizes have to be checked against the new minimum sizes.
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        for restore in restorers:
            restore()
        for widget in self._app.allWidgets():
            # Widgets with icons redraw them when the theme changes.
            QApplication.sendEvent(widget, QEvent(QEvent.Type.PaletteChange))
        for widget in shown:
            # Widgets that adapt to their width check it again.
            QApplication.sendEvent(widget, QResizeEvent(widget.size(), widget.size()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Scale each widget before it is first shown."""
        if event.type() is QEvent.Type.Polish and isinstance(watched, QWidget):
            self._polish(watched)
        return False

    def _polish(self, widget: QWidget) -> None:
        """Scale a widget before it is first shown, and its parent, which can have a new layout."""
        if not _is_of_hearth(widget):
            return
        _scale(widget, zoom())
        parent = widget.parentWidget()
        if parent is not None and _is_of_hearth(parent) and parent.testAttribute(_POLISHED):
            _scale(parent, zoom())
        if widget.isWindow() and not isinstance(widget, QMainWindow):
            _resize(widget, zoom())


def _is_of_hearth(widget: QWidget) -> bool:
    """Return whether Hearth created a widget; Qt sizes the widgets that it creates inside others.

    Asking one of Qt's widgets for its layout would also make PySide tie our widgets in it to it,
    and invalidate them for Python once it is released.
    """
    return bool(shiboken6.createdByPython(widget))


def _scale(widget: QWidget, to: float) -> None:
    """Scale a widget, its layout, and the layouts inside that layout."""
    own = widget.layout()
    layouts = [own] if own is not None else []
    for layout in layouts:
        # If layouts are read from a layout's items, PySide ties their widgets to these items,
        # which are freed at once.
        layouts += layout.findChildren(QLayout, options=_DIRECT)
    # Inner layouts first: a layout without its own spacing takes it from the layout around it.
    for layout in reversed(layouts):
        _scale_one(layout, to)
    _scale_one(widget, to)


def _scale_one(target: QWidget | QLayout, to: float) -> None:
    measures = measures_of(target)
    # A size that the zoom has not changed yet is in the design's pixels.
    initial = {name: [measure.read()] * 2 for name, measure in measures.items()}
    sizes: dict[str, list[int]] = initial | (target.property(_SIZES) or {})
    # Stored before the first size is set: that can make the widget create a child, whose polish
    # event scales this widget, too.
    target.setProperty(_SIZES, sizes)
    for name, measure in measures.items():
        design, last = sizes[name]
        if measure.read() == last:
            measure.write(max(1, round(design * to)) if design else 0)
            sizes[name] = [design, measure.read()]
    target.setProperty(_SIZES, sizes)


def _size_restorer(widget: QWidget, ratio: float) -> Callable[[], object]:
    """Return a function that restores the user's size of a dialog, scaled by `ratio`."""
    if widget.isWindow() and widget.isVisible() and not isinstance(widget, QMainWindow):
        return lambda: _resize(widget, ratio)
    return lambda: None


def _resize(window: QWidget, ratio: float) -> None:
    size: QSize = window.size() * ratio
    window.resize(size.boundedTo(window.screen().availableSize()))
