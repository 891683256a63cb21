"""The window's stored state, which may be lost or damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.window.store import WindowStateFile
from app.window.values.window_state import WindowState


def test_it_comes_back(tmp_path: Path) -> None:
    file = WindowStateFile(tmp_path / "window.json")
    state = WindowState("01d9", sidebar=False, sidebar_width=300)
    file.write(state)
    assert file.read() == state


WIDTH = '{"geometry": "", "sidebar": true, "sidebar_width": %s}'


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "{}", '{"geometry": "", "sidebar": true}', "\0", "[" * 100_000,
        WIDTH % "1e999", WIDTH % "NaN", WIDTH % "[]", WIDTH % ("9" * 5000),
    ],
    ids=lambda it: it[:40],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_the_default(tmp_path: Path, text: str) -> None:
    path = tmp_path / "window.json"
    path.write_text(text)
    assert WindowStateFile(path).read() == WindowState()


def test_a_width_that_no_window_has_is_one_that_fits(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_text(WIDTH % "1e300")
    assert 0 < WindowStateFile(path).read().sidebar_width < 100_000
    path.write_text(WIDTH % "-1e12")
    assert WindowStateFile(path).read().sidebar_width == 0


def test_no_file_is_the_default(tmp_path: Path) -> None:
    assert WindowStateFile(tmp_path / "window.json").read() == WindowState()
