"""`hearth engines` on Windows, with WSL2 and without it.

The composition root gets a WSL2 with a stand-in for wsl.exe, as on Windows.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from app.wiring import app, vllm
from app.wiring.vllm import linux_inside
from engines.vllm.wsl.program import Wsl
from tests.support.terminal import Hearth
from tests.support.wsl.windows import Windows

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-in is for Linux")


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Windows:
    windows = Windows(tmp_path / "windows")
    monkeypatch.setattr(app, "linux_inside", lambda: windows.wsl)
    return windows


@pytest.mark.parametrize(
    ("system", "found"),
    [("windows", Wsl("D:/Windows/System32/wsl.exe")), ("linux", None), ("macos", None)],
)
def test_only_a_windows_goes_through_wsl(
    monkeypatch: pytest.MonkeyPatch, system: str, found: Wsl | None
) -> None:
    monkeypatch.setattr(vllm, "system", lambda: system)
    monkeypatch.setenv("SYSTEMROOT", "D:/Windows")
    assert linux_inside() == found


def test_without_wsl2_it_says_what_to_do(
    hearth: Hearth, windows: Windows, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("engines", "install", "vllm", "--yes", "--json") == 1
    said = capsys.readouterr()
    error = json.loads(said.out)["error"]
    assert error["code"] == "engine_hindered"
    assert "not installed" in error["what"]
    assert "wsl --install" in error["do"]
    assert "administrator" in error["do"]
    assert "This downloads" not in said.err
    assert hearth("engines", "list") == 0
    assert "wsl --install" in capsys.readouterr().out


def test_with_wsl2_the_price_names_what_is_touched(
    hearth: Hearth, windows: Windows, capsys: pytest.CaptureFixture[str]
) -> None:
    windows.add()
    windows.add_card()
    assert hearth("engines", "install", "vllm") == 1, "nobody could be asked, or it is hindered"
    said = capsys.readouterr().err
    assert "Linux inside WSL2, Ubuntu" in said
    assert "RTX 4090" in said
    assert "This downloads" in said
    assert "It is installed in Ubuntu" in said
    assert "~/.local/share/hearth" in said
