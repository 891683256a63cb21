"""The list of engines that can run."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.registry import availability
from engines.vllm.provision.home import FACTS


def test_this_computer() -> None:
    found = {status.name: status for status in availability()}
    assert found["llamacpp"].available
    assert found["llamacpp"].why_not is None
    assert not found["vllm"].available
    assert "vLLM" in (found["vllm"].why_not or "") or "install" in (found["vllm"].why_not or "")
    assert not found["remote"].available
    assert "No server" in (found["remote"].why_not or "")


def test_what_is_here_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "versions" / "0.33.0-cpu-12345678"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    facts = {"version": "0.33.0", "profile": "cpu"}
    (folder / FACTS).write_text(json.dumps(facts), encoding="utf-8")
    (tmp_path / "current").write_text(f"{folder.name}\n", encoding="utf-8")
    found = {status.name: status for status in availability(tmp_path, 2)}
    assert (found["vllm"].available, found["vllm"].about) == (True, "vLLM 0.33.0, for processors")
    assert (found["remote"].available, found["remote"].about) == (True, "2 servers")


def test_looking_loads_no_library() -> None:
    code = "import sys, engines.registry as r; r.availability(); print('llama_cpp' in sys.modules)"
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
    status = availability()[0]
    assert not status.available
    assert "run.py" in (status.why_not or "")
