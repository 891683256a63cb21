"""The `hearth` command, in this process or in a separate one, on the real starter model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")

Hearth = Callable[..., subprocess.CompletedProcess[str]]


def environment(data_dir: Path) -> dict[str, str]:
    """Return variables without a display, and with the data folder of the test."""
    kept = {name: value for name, value in os.environ.items() if name not in DISPLAYS}
    return kept | {"HEARTH_DATA_DIR": str(data_dir), "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def hearth(
    data_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Hearth:
    """Return a function that runs `hearth` with words, and with a text on its standard input.

    It runs in this process, as starting one takes many times as long as most commands.
    """
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    stdin = tmp_path / "stdin"

    def run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        stdin.write_text(given, encoding="utf-8")
        capsys.readouterr()
        with stdin.open(encoding="utf-8") as opened:
            monkeypatch.setattr(sys, "stdin", opened)
            try:
                status = main(words)
            except SystemExit as end:
                status = int(end.code or 0)
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(words, status, out, err)

    return run


@pytest.fixture
def process(data_dir: Path) -> Hearth:
    """Return a function that runs `hearth` as a separate process."""

    def run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "app", *words],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=100,
            cwd=ROOT,
            env=environment(data_dir),
        )

    return run


def value(result: subprocess.CompletedProcess[str]) -> Any:
    """Return the only JSON value on standard output."""
    return json.loads(result.stdout)
