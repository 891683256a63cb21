"""Which engines can run."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from engines.registry import statuses


def test_this_computer() -> None:
    found = {status.name: status for status in statuses()}
    assert found["llamacpp"].available
    assert found["llamacpp"].why_not is None
    for name in ("vllm", "remote"):
        assert not found[name].available
        assert found[name].why_not == "This version of Hearth does not have it yet."


def test_looking_loads_no_library() -> None:
    code = "import sys, engines.registry as r; r.statuses(); print('llama_cpp' in sys.modules)"
    child = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert child.stdout.strip() == "False", child.stderr


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    status = statuses()[0]
    assert not status.available
    assert "run.py" in (status.why_not or "")
