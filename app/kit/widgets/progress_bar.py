"""A thin bar for the progress of something."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar


class ProgressBar(QProgressBar):
    """A bar without a text, in percent unless another range is set.

    Args:
        name: The object name.
        title: The accessible name.
    """

    def __init__(self, name: str, title: str = "") -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setTextVisible(False)
