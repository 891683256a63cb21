"""Which engines can run, on this computer and on described ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engines.registry import llamacpp_status, statuses

MODERN = ("avx", "f16c", "fma", "bmi2", "avx2")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libggml-cpu.so").touch()
    return tmp_path


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
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert child.stdout.strip() == "False", child.stderr


def test_not_installed() -> None:
    status = llamacpp_status(None, "x86_64", MODERN)
    assert not status.available
    assert "run.py" in (status.why_not or "")


def test_modern_processor(package: Path) -> None:
    assert llamacpp_status(package, "x86_64", MODERN).available


def test_old_processor(package: Path) -> None:
    status = llamacpp_status(package, "AMD64", ("avx",))
    assert not status.available
    assert "too old" in (status.why_not or "")
    assert "fma, f16c" in (status.why_not or "")


def test_old_processor_with_a_build_for_all(package: Path) -> None:
    (package / "lib" / "libggml-cpu-sse42.so").touch()
    assert llamacpp_status(package, "x86_64", ("avx",)).available


def test_processors_that_are_not_x86_or_tell_nothing(package: Path) -> None:
    assert llamacpp_status(package, "aarch64", ("neon",)).available
    assert llamacpp_status(package, "x86_64", ()).available
