"""After an hour of use the window shows the database's contents, and everything is in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.e2e.looks.hour import play


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_an_hour_of_use_leaves_nothing_wrong(
    qtbot: QtBot, qapp: QApplication, data_dir: Path
) -> None:
    found = play(qapp, data_dir)
    assert not found, "\n" + "\n".join(found)
