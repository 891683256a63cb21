"""Reference counts of None in the Qt binding.

PySide6 6.12.0 loses some on Python 3.11, where None is counted: a window dies within minutes.
"""

from __future__ import annotations

import sys

from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication


def test_calls_that_return_nothing_keep_the_count_of_none(qapp: QApplication) -> None:
    font = QFont()
    before = sys.getrefcount(None)
    for _ in range(1000):
        font.setPixelSize(12)
    assert abs(sys.getrefcount(None) - before) < 500
