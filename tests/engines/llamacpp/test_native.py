"""The loaded library: its environment, its version, its devices, its log."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from engines.errors import EngineUnavailable
from engines.llamacpp import native
from engines.llamacpp.log import CONTINUED, INFO, NativeLog
from tests.engines.contract import answer, ask
from tests.engines.llamacpp.conftest import Load

ROOT = Path(__file__).parents[3]


def test_it_is_loaded_once() -> None:
    assert native.load_native() is native.load_native()


def test_the_processor_is_a_device() -> None:
    loaded = native.load_native()
    kinds = [device.kind for device in loaded.devices()]
    assert kinds.count("cpu") == 1
    for device in loaded.devices():
        assert device.name
        assert device.backend
        assert 0 <= device.free_bytes <= device.total_bytes
    assert "CPU" in loaded.system_info()


def test_the_environment_is_set_before_the_library_is() -> None:
    program = (
        "import os, engines.llamacpp.native as native\n"
        "native.load_native()\n"
        "print(os.environ['OMP_WAIT_POLICY'], os.environ['GGML_NO_BACKTRACE'],"
        " 'GGML_BACKEND_PATH' in os.environ)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"GGML_BACKEND_PATH": "/nowhere/evil.so"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == ["passive", "1", "False"]
    assert result.stderr == ""


@pytest.mark.parametrize("name", ["BINDINGS_VERSION", "LIBRARY_VERSION"])
def test_another_version_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = b"0.0.1" if name == "LIBRARY_VERSION" else "0.0.1"
    monkeypatch.setattr(native, name, wrong)
    with pytest.raises(EngineUnavailable, match=r"0\.0\.1"):
        native.Native()


def test_a_library_that_does_not_load_is_a_plain_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> None:
        raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(EngineUnavailable, match=r"libgomp"):
        native.Native()


def test_the_log_is_kept_and_not_printed(load: Load, capfd: pytest.CaptureFixture[str]) -> None:
    answer(load(), ask("Hello"))
    assert capfd.readouterr() == ("", "")
    assert any("starter.gguf" in line for line in native.load_native().log.tail())


def test_a_line_of_the_log_may_come_in_pieces() -> None:
    log = NativeLog(size=2)
    for level, text in [(INFO, "one "), (CONTINUED, "line\n"), (INFO, "\n"), (INFO, "two\n")]:
        log.write(level, text)
    assert log.tail() == ("one line", "two")
    log.write(INFO, "three\n")
    assert log.tail() == ("two", "three")
