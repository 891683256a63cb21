"""Tells screen readers of something that happens without the focus moving there."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, words: str, *, urgent: bool = False) -> None:
    """Say words to a screen reader, if one listens.

    urgent: it may interrupt what is being read; other words wait until that is over.
    """
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

    if not words or not QAccessible.isActive():
        return
    event = QAccessibleAnnouncementEvent(widget, words)
    if urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)


def say_fold(button: QWidget, *, unfolded: bool) -> None:
    """Describe a button that folds something, and tell of it if that was just done."""
    words = (
        QCoreApplication.translate("announcing", "expanded")
        if unfolded
        else QCoreApplication.translate("announcing", "collapsed")
    )
    button.setAccessibleDescription(words)
    if button.hasFocus():
        announce(button, words)
