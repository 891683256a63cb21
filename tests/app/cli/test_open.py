"""`hearth open` and `--quick-ask`: what the window is opened for."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.cli import main as cli_main
from app.cli.main import main
from app.core.launch_request import LaunchRequest
from app.store.folder import DataFolder
from app.ui.window.single_instance import SingleInstance


def test_without_a_display_it_says_what_else_there_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli_main, "has_display", lambda: False)
    assert main(["open", "a.txt"]) == 1
    said = capsys.readouterr().err
    assert "The files were not opened." in said
    assert "hearth models import" in said


def test_files_go_to_the_window_that_is_open(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, data_dir: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(cli_main, "has_display", lambda: True)
    monkeypatch.chdir(tmp_path)
    folder = DataFolder.default()
    folder.prepare()
    window = SingleInstance(folder.root)
    window.listen()
    with qtbot.waitSignal(window.asked) as asked:
        assert main(["open", "a.txt", "/b.gguf"]) == 0
    assert asked.args == [LaunchRequest(files=(tmp_path / "a.txt", Path("/b.gguf")))]
    with qtbot.waitSignal(window.asked) as asked:
        assert main(["--quick-ask"]) == 0
    assert asked.args == [LaunchRequest(quick_ask=True)]
    window.close()
