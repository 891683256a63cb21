"""Saving code from an answer as a file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from tests.support.window import Ui

CODE = ("```python title=sum.py\nprint(1 + 1)\n```",)


def test_a_block_of_code_is_saved_where_the_user_wants_it(ui: Ui, tmp_path: Path) -> None:
    ui.engine.pieces = CODE
    ui.ask("Write it")
    ui.click("saveCode1")
    dialog = ui.window.findChild(QFileDialog, "saveCode")
    assert dialog is not None
    assert [Path(it).name for it in dialog.selectedFiles()] == ["sum.py"]
    dialog.fileSelected.emit(str(tmp_path / "sum.py"))
    dialog.close()
    ui.qtbot.waitUntil((tmp_path / "sum.py").exists)
    ui.qtbot.waitUntil(lambda: ui.has("toastAction"))
    assert (tmp_path / "sum.py").read_text() == "print(1 + 1)\n"


def test_a_place_that_cannot_be_written_is_said(ui: Ui, tmp_path: Path) -> None:
    ui.engine.pieces = CODE
    ui.ask("Write it")
    ui.click("saveCode1")
    dialog = ui.window.findChild(QFileDialog, "saveCode")
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "none" / "sum.py"))
    dialog.close()
    ui.qtbot.waitUntil(lambda: ui.has("toastLine1"))


def test_the_setting_reaches_the_answers(ui: Ui) -> None:
    ui.engine.pieces = ("```\n" + "word " * 300 + "\n```",)
    ui.ask("Write it")
    bar = ui.last.view.horizontalScrollBar()
    assert bar.maximum() == 0
    ui.presenters.settings.set("code_lines", "scroll")
    ui.qtbot.waitUntil(lambda: bar.maximum() > 0)
