"""Rows and columns of widgets."""

from __future__ import annotations

from typing import TypeAlias

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from app.kit.look.theme import GRID

Part: TypeAlias = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
"""A widget, a layout, or either with the share of the free room that it takes; a number is free
room itself, with this share."""


def column(*parts: Part, spacing: int = GRID) -> QVBoxLayout:
    """Return a layout of parts below each other, without margins.

    Args:
        parts: The parts, from the top.
        spacing: The gap between them in pixels.
    """
    layout = QVBoxLayout()
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    fill(layout, *parts)
    return layout


def row(*parts: Part, spacing: int = GRID) -> QHBoxLayout:
    """Return a layout of parts beside each other, without margins.

    Args:
        parts: The parts, in reading order.
        spacing: The gap between them in pixels.
    """
    layout = QHBoxLayout()
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    fill(layout, *parts)
    return layout


def fill(layout: QBoxLayout, *parts: Part) -> None:
    """Add parts at the end of a layout."""
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
            continue
        item, share = part if isinstance(part, tuple) else (part, 0)
        if isinstance(item, QWidget):
            layout.addWidget(item, share)
        else:
            layout.addLayout(item, share)


def boxed(layout: QLayout, name: str = "") -> QWidget:
    """Return a widget with this layout, so that it can be hidden as a whole."""
    widget = QWidget()
    widget.setObjectName(name)
    widget.setLayout(layout)
    return widget


def keep_room(widget: QWidget) -> None:
    """Keep the room of a widget while it is hidden, so that nothing else moves."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


def at_top(widget: QWidget) -> QVBoxLayout:
    """Return a layout that keeps a widget at the upper edge of a row."""
    return column(widget, 1)


def at_start(widget: QWidget) -> QHBoxLayout:
    """Return a layout that keeps a widget at the side of a column where a line of text begins."""
    return row(widget, 1)
