"""Announcements to screen readers of changes that do not move the focus."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, words: str, *, urgent: bool = False) -> None:
    """Announce a text to the screen reader, if one is active.

    Args:
        widget: The widget that the text is about.
        words: The text; if empty, nothing is announced.
        urgent: Whether the text may interrupt the one being read. Other texts wait until the
            screen reader has finished.
    """
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

    if not words or not QAccessible.isActive():
        return
    event = QAccessibleAnnouncementEvent(widget, words)
    if urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)


def describe_fold(button: QWidget, *, unfolded: bool) -> None:
    """Describe a fold button as expanded or collapsed; announce it if the button has the focus."""
    words = (
        QCoreApplication.translate("announcing", "expanded")
        if unfolded
        else QCoreApplication.translate("announcing", "collapsed")
    )
    button.setAccessibleDescription(words)
    if button.hasFocus():
        announce(button, words)
