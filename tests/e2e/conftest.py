"""The `hearth` command as a process of its own, on the real starter model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

Hearth = Callable[..., subprocess.CompletedProcess[str]]


def environment(data_dir: Path) -> dict[str, str]:
    """No display, and the data folder of the test."""
    hidden = {"DISPLAY", "WAYLAND_DISPLAY"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return kept | {"HEARTH_DATA_DIR": str(data_dir), "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def hearth(data_dir: Path) -> Hearth:
    """Runs `hearth` with these words and this text on its standard input."""

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
    """The one JSON value on standard output."""
    return json.loads(result.stdout)
