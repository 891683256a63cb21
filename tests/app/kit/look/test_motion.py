"""Reduced motion, which switches off animations."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QProgressBar
from pytestqt.qtbot import QtBot

from app.kit.look.motion import Motion, show_busy


@pytest.fixture
def motion(qapp: QApplication) -> Iterator[Motion]:
    qapp.setCursorFlashTime(1000)  # another test may have left a different value
    motion = Motion()
    yield motion
    motion.apply("full", system_reduces=True)


def test_nothing_fades_blinks_or_runs(motion: Motion, qapp: QApplication, qtbot: QtBot) -> None:
    blinks = qapp.cursorFlashTime()
    bar = QProgressBar()
    qtbot.addWidget(bar)
    motion.apply("reduced", system_reduces=False)
    show_busy(bar)
    assert qapp.cursorFlashTime() == 0
    assert not QApplication.isEffectEnabled(Qt.UIEffect.UI_FadeMenu)
    assert not QApplication.isEffectEnabled(Qt.UIEffect.UI_AnimateCombo)
    assert (bar.minimum(), bar.maximum(), bar.value()) == (0, 2, 1)
    motion.apply("full", system_reduces=True)
    show_busy(bar)
    assert qapp.cursorFlashTime() == blinks > 0
    assert bar.maximum() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there Qt itself is asked")
def test_the_system_decides_if_it_may(motion: Motion, qapp: QApplication) -> None:
    motion.apply("system", system_reduces=True)
    assert qapp.cursorFlashTime() == 0
    motion.apply("system", system_reduces=False)
    assert qapp.cursorFlashTime() > 0
