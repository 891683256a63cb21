"""The window's state survives, and losing it costs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.window_state import WindowState
from app.store.window_state import WindowStateFile


def test_it_comes_back(tmp_path: Path) -> None:
    file = WindowStateFile(tmp_path / "window.json")
    state = WindowState("01d9", sidebar=False, sidebar_width=300)
    file.write(state)
    assert file.read() == state


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"geometry": "", "sidebar": true}', "\0"])
def test_a_file_that_cannot_be_read_is_the_default(tmp_path: Path, text: str) -> None:
    path = tmp_path / "window.json"
    path.write_text(text)
    assert WindowStateFile(path).read() == WindowState()


def test_no_file_is_the_default(tmp_path: Path) -> None:
    assert WindowStateFile(tmp_path / "window.json").read() == WindowState()
