"""The sizes in pixels of widgets and layouts, to read and to set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QMargins, QSize
from PySide6.QtWidgets import (
    QAbstractButton,
    QFormLayout,
    QFrame,
    QGridLayout,
    QLayout,
    QListView,
    QWidget,
)

from app.kit.look.scale import FITS_ITSELF

_LEAST_OF_LAYOUT = QLayout.SizeConstraint.SetMinimumSize
_NO_LIMIT = 16_777_215
_LIMITS = {
    "minimumWidth": ("setMinimumWidth", "_q_stylesheet_minw"),
    "minimumHeight": ("setMinimumHeight", "_q_stylesheet_minh"),
    "maximumWidth": ("setMaximumWidth", "_q_stylesheet_maxw"),
    "maximumHeight": ("setMaximumHeight", "_q_stylesheet_maxh"),
}
"""The setter of each limit, and the property that Qt sets if a style sheet has set the limit."""


@dataclass(frozen=True)
class Measure:
    """The getter and the setter of one size, in pixels."""

    read: Callable[[], int]
    write: Callable[[int], object]


def measures_of(target: QWidget | QLayout) -> dict[str, Measure]:
    """Return the sizes by name, without the size of a window, which has to fit the screen."""
    if isinstance(target, QLayout):
        return _of_layout(target)
    measures = {} if target.isWindow() or target.property(FITS_ITSELF) else _limits(target)
    if isinstance(target, QAbstractButton):
        measures["icon width"] = Measure(
            lambda: target.iconSize().width(),
            lambda wide: target.setIconSize(QSize(wide, target.iconSize().height())),
        )
        measures["icon height"] = Measure(
            lambda: target.iconSize().height(),
            lambda high: target.setIconSize(QSize(target.iconSize().width(), high)),
        )
    if isinstance(target, QListView):
        measures["spacing"] = Measure(target.spacing, target.setSpacing)
    # If a frame has a width, the style sheet has set it, and the style sheet follows the zoom.
    styled = isinstance(target, QFrame) and target.frameWidth() > 0
    if target.layout() is None and not styled and not target.contentsMargins().isNull():
        measures |= _margins(target.contentsMargins, target.setContentsMargins)
    return measures


def _limits(widget: QWidget) -> dict[str, Measure]:
    layout = widget.layout()
    grows = layout is not None and layout.sizeConstraint() is _LEAST_OF_LAYOUT
    return {
        name: Measure(getattr(widget, name), getattr(widget, setter))
        for name, (setter, styled) in _LIMITS.items()
        if not (grows and name.startswith("minimum"))
        if 0 < getattr(widget, name)() < _NO_LIMIT and widget.property(styled) is None
    }


def _of_layout(layout: QLayout) -> dict[str, Measure]:
    measures = _margins(layout.contentsMargins, layout.setContentsMargins)
    if isinstance(layout, QGridLayout | QFormLayout):
        measures["across"] = Measure(layout.horizontalSpacing, layout.setHorizontalSpacing)
        measures["down"] = Measure(layout.verticalSpacing, layout.setVerticalSpacing)
    else:
        measures["spacing"] = Measure(layout.spacing, layout.setSpacing)
    return measures


def _margins(
    read: Callable[[], QMargins], write: Callable[[QMargins], object]
) -> dict[str, Measure]:
    def margin(side: str) -> Measure:
        def set_side(size: int) -> None:
            margins = read()
            getattr(margins, f"set{side}")(size)
            write(margins)

        return Measure(lambda: int(getattr(read(), side.lower())()), set_side)

    return {side: margin(side) for side in ("Left", "Top", "Right", "Bottom")}
