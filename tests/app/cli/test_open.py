"""`hearth open` and `--quick-ask`: passing files and links to the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.folder import DataFolder
from app.cli import main as cli_main
from app.cli.main import main
from app.window.pages.single_instance import SingleInstance
from app.window.values.launch_request import LaunchRequest


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
    with qtbot.waitSignal(window.requested) as asked:
        assert main(["open", "a.txt", "/b.gguf"]) == 0
    assert asked.args == [LaunchRequest(files=(tmp_path / "a.txt", Path("/b.gguf")))]
    with qtbot.waitSignal(window.requested) as asked:
        assert main(["--quick-ask"]) == 0
    assert asked.args == [LaunchRequest(quick_ask=True)]
    window.close()


def test_what_is_clicked_goes_there_too(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, data_dir: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(cli_main, "has_display", lambda: True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").touch()
    folder = DataFolder.default()
    folder.prepare()
    window = SingleInstance(folder.root)
    window.listen()
    link = "hearth://model/ada/Tiny-GGUF"
    for words, request in (
        (["gone.gguf"], LaunchRequest(files=(tmp_path / "gone.gguf",))),
        (["--offline", "a.txt"], LaunchRequest(files=(tmp_path / "a.txt",))),
        (["open", f"file://{tmp_path}/a.txt"], LaunchRequest(files=(tmp_path / "a.txt",))),
        ([link], LaunchRequest(link=link)),
        (["open", link], LaunchRequest(link=link)),
        (["HEARTH:"], LaunchRequest(link="HEARTH:")),
    ):
        with qtbot.waitSignal(window.requested) as asked:
            assert main(words) == 0
        assert asked.args == [request]
    window.close()


def test_one_link_is_opened_at_a_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli_main, "has_display", lambda: True)
    assert main(["open", "hearth:", "hearth:"]) == 2
    assert "There is more than one." in capsys.readouterr().err


@pytest.mark.parametrize("word", ["modles", "gone.txt", "-m"])
def test_a_word_that_is_nothing_is_wrong_usage(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word]) == 2
    assert "did not understand" in capsys.readouterr().err
